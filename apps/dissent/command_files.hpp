// The files of a command, and the rule that an output is never an input.
#pragma once

#include <string>
#include <vector>

namespace dissent::cli {

// Names as typed; empty names and "-" are not files. A file that is both read and written, such as a checkpoint,
// belongs to `written`.
struct CommandFiles {
  std::vector<std::string> read = {};
  std::vector<std::string> written = {};
  std::string campaign = {};  // the directory of the campaign that the command changes, if any

  // Adds two files that are read as one: "MEAN.npy,STDDEV.npy".
  void add_read_parts(const std::string& names);
};

// InputError if a written file is also read or written twice, under whatever name; if it is one of the campaign's
// files; or if the campaign itself writes a file that is read.
void check_files(const CommandFiles& files);

}  // namespace dissent::cli
