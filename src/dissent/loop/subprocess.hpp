// Runs a shell command: text in, text out, with an end even if the command has none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dissent {

struct SubprocessOptions {
  double timeout_seconds = 0;  // 0: none
  std::size_t max_output_bytes = std::size_t{1} << 30;
};

// What `command` (run by /bin/sh -c, in a process group of its own) writes to standard output when it reads `input`
// from standard input; its standard error is ours. InputError, naming the command, when it cannot be run, ends with
// another code than 0 or by a signal, takes longer than the timeout or writes too much; in the last two cases it
// is killed with everything it started in its group. When this process is killed, the shell is killed as well, but what
// the shell has started may go on.
std::string run_command(const std::string& command, std::string_view input, const SubprocessOptions& options = {});

}  // namespace dissent
