// The files of a command, and the rule that an output is never an input.
#pragma once

#include <string>
#include <vector>

namespace dissent::cli {

// Names as they are typed; empty ones and "-" are no files. A file that is read and written, as a checkpoint is, is
// among those written.
struct CommandFiles {
  std::vector<std::string> read = {};
  std::vector<std::string> written = {};
  std::string campaign = {};  // the directory of the campaign that the command changes, if any

  // Two files that are read as one: "MEAN.npy,STDDEV.npy".
  void add_read_parts(const std::string& names);
};

// InputError when a file that is written is one that is read, or another one that is written, under whatever name, and
// when it is one of the campaign's, or the campaign itself would write what is read.
void check_files(const CommandFiles& files);

}  // namespace dissent::cli
