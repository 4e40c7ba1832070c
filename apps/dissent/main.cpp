// dissent: the command line. Exit codes: 0 done; 1 a failure of the machine (full disk, no memory) or of ours; 2 bad
// input or usage. An error is one line on standard error: which command, what was wrong, where, what to do.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "interrupt.hpp"

namespace dissent::cli {
namespace {

constexpr int kFailure = 1;
constexpr int kBadInput = 2;

// Input files are mapped: one that is cut short while it is read ends in this signal, not in an error.
void on_bus_error(int) {
  const std::string_view text =
      "dissent: an input file became shorter while it was read, or its disk failed; run it again on the whole file\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
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

// "keep_probability" -> "--keep-probability"
std::string option_of(std::string_view argument) {
  std::string option = fmt::format("--{}", argument);
  std::ranges::replace(option, '_', '-');
  return option;
}

int report(const std::string& command, const std::string& message, int exit_code) {
  fmt::print(stderr, "{}: {}\n", command, one_line(message));
  return exit_code;
}

// The innermost command that was typed; the program itself when there is none.
const CLI::App* last_command(const CLI::App& app) {
  const CLI::App* level = &app;
  while (!level->get_subcommands().empty()) {
    level = level->get_subcommands().front();
  }
  return level;
}

// "dissent score"
std::string typed_command(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* level = &app; !level->get_subcommands().empty();) {
    level = level->get_subcommands().front();
    name += ' ';
    name += level->get_name();
  }
  return name;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// What CLI11 calls an "extra": an option or argument that the command does not have.
std::string extras_message(const CLI::App& app) {
  const CLI::App* command = last_command(app);
  const std::vector<std::string> extras = command->remaining(true);
  const std::string typed = extras.empty() ? std::string() : extras.front();
  if (typed.starts_with("-")) {
    const std::string name = typed.substr(0, typed.find('='));
    return fmt::format("'{}' is not an option{}", name, did_you_mean(name, option_names(*command)));
  }
  return fmt::format("'{}' is one argument too many", typed);
}

// An option without its value, or given twice: CLI11 starts its message with the option's name.
std::string mismatch_message(const std::string& text) {
  const bool missing = text.find("missing") != std::string::npos;
  return fmt::format("{} {}", text.substr(0, text.find(':')), missing ? "needs a value" : "is given more than once");
}

// Ready for another clause.
std::string closed(const std::string& message) { return message.ends_with('?') ? message : message + ";"; }

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::string command = typed_command(app);
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool no_command = !command_names(*last_command(app)).empty() && !is_extra;
  const bool mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  const std::string message =
      is_extra     ? extras_message(app)
      : mismatch   ? mismatch_message(error.what())
      : no_command ? fmt::format("a command is needed: {}", fmt::join(command_names(*last_command(app)), ", "))
                   : std::string(error.what());
  return report(command, fmt::format("{} see '{} --help'", closed(message), command), kBadInput);
}

// Where a command must stand (`dissent`, `dissent policy`) and another word does, CLI11 would only say that a command
// is missing.
void check_commands(const CLI::App& app, std::span<char*> arguments) {
  std::string path = app.get_name();
  const CLI::App* level = &app;
  for (const std::string typed : arguments) {
    const std::vector<std::string> commands = command_names(*level);
    if (commands.empty()) {
      return;
    }
    const bool is_option = typed.starts_with("-");
    const std::vector<std::string> known = is_option ? option_names(*level) : commands;
    const bool is_known = std::ranges::find(known, typed) != known.end();
    check(is_known || typed == "-h", "{} there are: {}; see '{} --help'",
          closed(fmt::format("'{}' is not {}{}", typed, is_option ? "an option" : "a command",
                             did_you_mean(typed, known))),
          fmt::join(known, ", "), path);
    if (is_option) {
      return;
    }
    path += " " + typed;
    level = level->get_subcommand(typed);
  }
}

int run(CLI::App& app, int argc, char** argv) {
  check_commands(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(std::min(argc, 1)));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    std::ostringstream text;
    app.exit(help_or_version, text, text);
    print(text.str());
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  flush_output();
  return 0;
}

int run_and_report(int argc, char** argv) {
  CLI::App app("Dissent measures how much the members of an ensemble disagree, in nats.", "dissent");
  try {
    app.set_version_flag("--version", fmt::format("dissent {}", kVersion), "Print the version");
    app.set_help_flag("-h,--help", "Print this text");
    app.require_subcommand(1);
    app.get_formatter()->column_width(26);
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.get_formatter()->label("Positionals", "Arguments");
    app.footer(
        "Exit codes: 0 done, 1 failure (full disk, no memory), 2 bad input or usage.\n"
        "'dissent COMMAND --help' explains a command, with examples:\n"
        "  dissent score --help");
    for (const auto& add : kCommands) {
      add(app);
    }
    return run(app, argc, argv);
  } catch (const InputError& error) {
    return report(typed_command(app), error.fault().text(option_of), kBadInput);
  } catch (const std::bad_alloc&) {
    return report(typed_command(app), "out of memory", kFailure);
  } catch (const std::exception& error) {
    return report(typed_command(app), error.what(), kFailure);
  }
}

}  // namespace
}  // namespace dissent::cli

int main(int argc, char** argv) {
  dissent::cli::set_signals();
  return dissent::cli::run_and_report(argc, argv);
}
