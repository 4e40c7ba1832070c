// dissent tell: labels for the rows that `dissent ask` asked for, some or all, in any order.
//
// All or nothing: what is wrong with one answer, or a kill before the end, leaves the campaign as it was.
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "ask_tell.hpp"
#include "command.hpp"
#include "console.hpp"
#include "dissent/base/version.hpp"
#include "dissent/table/read_table.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

struct Arguments {
  std::string directory;
  std::string answers;
  bool no_refit = false;
  LaboratoryOptions laboratory;
  FitOptions fit;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

// Rows of the table whose targets are all empty are not answered yet; one that is half filled in is a mistake.
std::vector<std::size_t> answered_rows(const Table& table, const std::vector<std::string>& targets) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const auto is_missing = [&](const std::string& name) {
      return std::ranges::binary_search(table.column(name).missing_rows, row);
    };
    const auto num_missing = static_cast<std::size_t>(std::ranges::count_if(targets, is_missing));
    check(num_missing == 0 || num_missing == targets.size(),
          "{}: row {} of the file has some of its targets and not all; fill in {}, or none of them", table.source,
          row + 1, fmt::join(targets, ", "));
    if (num_missing == 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

double number_at(const Table& table, const std::string& name, std::size_t row) {
  const Column& column = table.column(name);
  check(!column.is_text(), "{}: column '{}' row {} is text ('{}'); a number is required", table.source, name,
        column.first_text_row.value_or(0) + 1, column.is_text() ? column.text[*column.first_text_row] : "");
  return column.values[row];
}

std::size_t tell_answers(Campaign& campaign, const Problem& data, const Table& table) {
  std::map<std::size_t, std::size_t> position_of;
  for (std::size_t k = 0; k < campaign.chosen.size(); ++k) {
    position_of[campaign.chosen[k].row] = k;
  }
  check(table.has("row"), "{}: has no column 'row'; answers carry the row numbers of 'dissent ask'", table.source);
  const std::vector<std::size_t> answered = answered_rows(table, data.target_names);
  for (const std::size_t line : answered) {
    const double number = number_at(table, "row", line);
    const auto found = number >= 0 && number < 1e15 && number == std::floor(number)
                           ? position_of.find(static_cast<std::size_t>(number))
                           : position_of.end();
    check(found != position_of.end(), "{}: row {} was never asked for", table.source, number);
    std::vector<double> targets;
    for (const std::string& name : data.target_names) {
      targets.push_back(number_at(table, name, line));
    }
    try {
      tell(campaign, found->second, targets);
    } catch (const InputError& error) {
      fail("{}: {}", table.source, error.what());
    }
  }
  check(!answered.empty(), "{}: no row has its targets filled in ({})", table.source,
        fmt::join(data.target_names, ", "));
  return answered.size();
}

void print_report(const Arguments& arguments, const LaboratoryCampaign& laboratory, std::size_t num_told) {
  const Campaign& campaign = laboratory.campaign;
  const std::size_t num_pending = campaign.num_pending();
  const std::size_t labelled = laboratory.data.train.num_rows + campaign.chosen.size() - num_pending;
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  if (arguments.json) {
    nlohmann::ordered_json fitted;
    if (campaign.fitted) {
      fitted = {{"rmse", number(campaign.fitted->rmse)},
                {"rmse_paper", number(campaign.fitted->rmse_paper)},
                {"log_likelihood", number(campaign.fitted->log_likelihood)},
                {"seconds", campaign.fitted->seconds}};
    }
    print_json({{"version", kVersion},
                {"directory", arguments.directory},
                {"told", num_told},
                {"pending", num_pending},
                {"labelled", labelled},
                {"fitted", fitted}});
  } else if (!arguments.quiet) {
    print_line("{} answers; {} rows labelled, {} wait", num_told, labelled, num_pending);
    if (campaign.fitted && !std::isnan(campaign.fitted->rmse)) {
      print_line("fitted: rmse {:.4g}, log-likelihood {:.4g} on the test rows", campaign.fitted->rmse,
                 campaign.fitted->log_likelihood);
    }
  }
}

void run_tell(const Arguments& arguments) {
  LaboratoryCampaign laboratory = open_laboratory(arguments.directory, arguments.laboratory);
  const std::size_t num_told = tell_answers(laboratory.campaign, laboratory.data, read_table(arguments.answers));
  if (!arguments.no_refit) {
    ThreadPool pool(arguments.threads);
    refit(laboratory, pool, arguments.quiet || arguments.json);
  }
  laboratory.directory.save(laboratory.campaign);
  laboratory.directory.write_tables(laboratory.campaign, laboratory.data);
  print_report(arguments, laboratory, num_told);
}

}  // namespace

void add_tell(CLI::App& app) {
  CLI::App* command =
      add_command(app, "tell", "Tell the labels of rows that were asked for, some or all, and fit the model again",
                  "  dissent tell DIR done.csv\n"
                  "  dissent tell DIR half.csv --no-refit\n"
                  "The file is that of 'dissent ask' with its targets filled in; rows left empty go on waiting.");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("DIR", arguments->directory, "The campaign's directory")
      ->option_text(" ")
      ->required()
      ->check(not_empty);
  command->add_option("ANSWERS", arguments->answers, "Table with the columns 'row' and the targets")
      ->option_text(" ")
      ->required()
      ->check(not_empty);
  command->add_flag("--no-refit", arguments->no_refit, "Leave the fit to a later tell or ask");
  add_fit_options(*command, arguments->fit);
  add_threads(*command, arguments->threads);
  add_json(*command, arguments->json);
  add_quiet(*command, arguments->quiet);
  command->callback([arguments, command] {
    arguments->laboratory.given_fit = given_fit_options(*command);
    run_tell(*arguments);
  });
}

}  // namespace dissent::cli
