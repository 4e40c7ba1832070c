// One rule for all commands: an output is never an input.
#include "command_files.hpp"

#include "dissent/base/error.hpp"
#include "dissent/base/file_identity.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/loop/campaign_directory.hpp"

namespace dissent::cli {
namespace {

bool is_file(const std::string& name) { return !name.empty() && name != "-"; }

void check_distinct(const std::string& output, const std::string& other, const std::string& why) {
  check(!is_file(output) || !is_file(other) || !same_file(output, other),
        "'{}' {} and would be overwritten; give the output another name", output, why);
}

void check_campaign(const CommandFiles& files) {
  for (const std::string& output : files.written) {
    for (const std::string& own : CampaignDirectory::files(files.campaign)) {
      check_distinct(output, own, "is a file of the campaign");
    }
  }
  for (const std::string& read : files.read) {
    for (const std::string& own : CampaignDirectory::written_files(files.campaign)) {
      check(!is_file(read) || !same_file(read, own),
            "'{}' is a file that the campaign writes for itself; give a copy under another name", read);
    }
  }
}

}  // namespace

void CommandFiles::add_read_parts(const std::string& names) {
  read.push_back(names);
  for (const std::string_view part : split(names)) {
    read.emplace_back(part);
  }
}

void check_files(const CommandFiles& files) {
  for (std::size_t k = 0; k < files.written.size(); ++k) {
    for (const std::string& read : files.read) {
      check_distinct(files.written[k], read, "is read as well");
    }
    for (std::size_t other = k + 1; other < files.written.size(); ++other) {
      check_distinct(files.written[k], files.written[other], "is written as well");
    }
  }
  if (!files.campaign.empty()) {
    check_campaign(files);
  }
}

}  // namespace dissent::cli
