// dissent export: a whole campaign, as a table of its labelled rows or as JSON with everything.
#include "dissent/loop/export.hpp"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/export_file.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "dissent/table/csv.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

struct ExportArguments {
  std::string directory;
  std::string output = "-";
  bool quiet = false;
};

std::string export_text(const ExportArguments& arguments, const KeptCampaign& kept) {
  if (!arguments.output.ends_with(".json")) {
    return format_csv(exported_rows(kept.campaign, kept.data, kept.pool));
  }
  Json whole{{"version", kVersion}, {"directory", arguments.directory}};
  whole.update(exported_json(kept.campaign, kept.data, kept.pool));
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void run_export(const ExportArguments& arguments) {
  const bool to_file = arguments.output != "-";
  check(!to_file || arguments.output.ends_with(".csv") || arguments.output.ends_with(".json"),
        "--output: '{}' must end in .csv or .json; - is standard output", arguments.output);
  if (to_file) {
    check_export_replaces(arguments.output);
  }
  const CampaignDirectory directory(arguments.directory);
  check_in(arguments.directory, directory.begun(), "no campaign was begun here");
  const KeptCampaign kept = read_kept(directory);
  const std::string text = export_text(arguments, kept);
  if (!to_file) {
    print(text);
    return;
  }
  AtomicFile file(arguments.output);
  file.write(text);
  file.commit();
  if (!arguments.quiet) {
    print_line("{}: {}, {}", arguments.output,
               counted(kept.data.train.num_rows + kept.campaign.num_told(), "labelled row"),
               counted(kept.campaign.rounds.size(), "round"));
  }
}

}  // namespace

void add_export(Command& app) {
  Command& command =
      app.add("export", "Write out a campaign of ask and tell: its labelled rows, their sources, its rounds",
              "  dissent export DIR -o rows.csv\n"
              "  dissent export DIR -o whole.json\n"
              "The table has every labelled row with its source; JSON has the rounds and settings as well.");
  const auto arguments = std::make_shared<ExportArguments>();
  command.argument("DIR", arguments->directory, "The campaign's directory");
  command.option("-o,--output", arguments->output,
                 {.help = "A table, or all there is as JSON; - is the table on standard output. Replaces exports only",
                  .shown = "FILE.csv|FILE.json"});
  add_quiet(command, arguments->quiet);
  command.files([arguments] { return CommandFiles{.written = {arguments->output}, .campaign = arguments->directory}; });
  command.run([arguments] { run_export(*arguments); });
}

}  // namespace dissent::cli
