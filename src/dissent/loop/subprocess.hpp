// Runs a shell command: text in, text out, and it ends even if the command does not.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dissent {

struct SubprocessOptions {
  double timeout_seconds = 0;  // 0: none
  std::size_t max_output_bytes = std::size_t{1} << 30;
  std::function<bool()> stop = {};  // called ten times a second; true ends the command
};

// What `command` (run by /bin/sh -c, in a process group of its own) writes to standard output when it reads `input`
// from standard input; its standard error is ours. InputError, whose source is left to the caller, if it ends with a
// code other than 0 or by a signal, takes longer than the timeout or writes too much; nothing if it was stopped. A
// command that does not end by itself is killed with everything it started in its group. When this process is killed
// (SIGKILL), the shell is killed as well, but what the shell has started may go on.
std::optional<std::string> run_command(const std::string& command, std::string_view input,
                                       const SubprocessOptions& options = {});

// Kills all commands that run, each with its group, for a process about to end by a signal; may be called from a signal
// handler.
void kill_commands() noexcept;

}  // namespace dissent
