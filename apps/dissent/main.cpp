// dissent: the command line. Exit codes: 0 done; 1 a failure of the machine (full disk, no memory) or of ours; 2 bad
// input or usage. An error is one line on standard error: which command, what was wrong, where, what to do.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "command.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/version.hpp"
#include "dissent/loop/subprocess.hpp"
#include "interrupt.hpp"

namespace dissent::cli {
namespace {

constexpr int kFailure = 1;
constexpr int kBadInput = 2;

// Input files are mapped into memory: if one is cut short while it is read, this signal comes instead of an error.
void on_bus_error(int) {
  const std::string_view text =
      "dissent: an input file became shorter while it was read, or its disk failed; run it again on the whole file\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  kill_commands();
  remove_temporary_files();
  ::_exit(kFailure);
}

void set_signals() {
  ::signal(SIGPIPE, SIG_DFL);  // `dissent ... | head` ends quietly, whatever the caller had set
  ::signal(SIGXFSZ, SIG_IGN);  // a file size limit is reported as a failed write
  ::signal(SIGBUS, on_bus_error);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (::signal(signal, end_by_signal) == SIG_IGN) {
      ::signal(signal, SIG_IGN);  // as nohup and background jobs want it
    }
  }
}

// File names and the like may hold anything; the message stays one line.
std::string one_line(std::string text) {
  for (char& c : text) {
    c = static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  }
  return text;
}

int report(const std::string& command, const std::string& message, int exit_code) {
  fmt::print(stderr, "{}: {}\n", command, one_line(message));
  return exit_code;
}

int run_and_report(int argc, char** argv) {
  Program program("dissent", "Dissent measures how much the components of an ensemble disagree, in nats.",
                  fmt::format("dissent {}", kVersion),
                  "Exit codes: 0 done, 1 failure (full disk, no memory), 2 bad input or usage.\n"
                  "'dissent COMMAND --help' explains a command, with examples:\n"
                  "  dissent score --help");
  try {
    for (const auto& add : kCommands) {
      add(program);
    }
    program.run(argc, argv);
    return 0;
  } catch (const InputError& error) {
    const auto spell = [&program](std::string_view argument) { return program.spell(argument); };
    return report(program.typed(), error.fault().text(spell), kBadInput);
  } catch (const std::bad_alloc&) {
    return report(program.typed(), "out of memory", kFailure);
  } catch (const std::exception& error) {
    return report(program.typed(), error.what(), kFailure);
  }
}

}  // namespace
}  // namespace dissent::cli

int main(int argc, char** argv) {
  dissent::cli::set_signals();
  return dissent::cli::run_and_report(argc, argv);
}
