// Commands with CLI11: the tree of commands, parsing, help, and messages on bad usage. CLI11's templates cost seconds
// of compiling, so values leave this file as text, and no other file includes CLI11.
#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"

namespace dissent::cli {

struct Command::Parser {
  CLI::App* app = nullptr;
  std::unique_ptr<CLI::App> owned = nullptr;  // only for the program, which owns those below it
};

namespace {

constexpr int kHelpColumn = 26;

// The long name of an option, or the name of an argument.
std::string typed_name(const std::string& names) {
  const std::size_t dashes = names.find("--");
  return dashes == std::string::npos ? names : names.substr(dashes);
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
std::string extras_message(const CLI::App& command) {
  const std::vector<std::string> extras = command.remaining(true);
  const std::string typed = extras.empty() ? std::string() : extras.front();
  if (typed.starts_with("-")) {
    const std::string name = typed.substr(0, typed.find('='));
    return fmt::format("'{}' is not an option{}", name, did_you_mean(name, option_names(command)));
  }
  return fmt::format("'{}' is one argument too many", typed);
}

// "dissent policy train"
std::string path_of(const CLI::App* command) {
  const CLI::App* above = command->get_parent();
  return above == nullptr ? command->get_name() : path_of(above) + " " + command->get_name();
}

// Ends a message so that another clause can follow.
std::string closed(const std::string& message) { return message.ends_with('?') ? message : message + ";"; }

// The first flag with a value, such as "--json=false", without the value; empty if there is none.
std::string flag_with_value(const CLI::App& command, std::span<const std::string> typed) {
  for (const std::string& word : typed) {
    const std::size_t sign = word.find('=');
    const std::string name = word.substr(0, sign);
    if (sign != std::string::npos && name.starts_with("--")) {
      const CLI::Option* option = command.get_option_no_throw(name);
      if (option != nullptr && option->get_expected_max() == 0) {
        return name;
      }
    }
  }
  return "";
}

std::string usage_message(const CLI::App& command, const CLI::ParseError& error, std::span<const std::string> typed) {
  // The missing option may be the misspelt one.
  const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
  const bool misspelt =
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && std::ranges::any_of(command.remaining(), is_option);
  if (misspelt || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    return extras_message(command);
  }
  if (const std::string flag = flag_with_value(command, typed); !flag.empty()) {
    return flag + " takes no value";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) !=
      nullptr) {  // an option takes what follows, if anything does
    const std::string last = typed.empty() ? std::string() : typed.back();
    return fmt::format("{} needs a value", last.substr(0, last.find('=')));
  }
  if (const std::vector<std::string> commands = command_names(command); !commands.empty()) {
    return fmt::format("a command is needed: {}", fmt::join(commands, ", "));
  }
  return error.what();
}

// If another word stands where a command must (after `dissent` or `dissent policy`), CLI11 would only say that a
// command is missing.
void check_commands(const CLI::App& app, std::span<const std::string> typed) {
  std::string path = app.get_name();
  const CLI::App* level = &app;
  for (const std::string& word : typed) {
    const std::vector<std::string> commands = command_names(*level);
    if (commands.empty()) {
      return;
    }
    const bool is_option = word.starts_with("-");
    const std::vector<std::string> known = is_option ? option_names(*level) : commands;
    const bool is_known = std::ranges::find(known, word) != known.end();
    check(
        is_known || word == "-h", "{} there are: {}; see '{} --help'",
        closed(fmt::format("'{}' is not {}{}", word, is_option ? "an option" : "a command", did_you_mean(word, known))),
        fmt::join(known, ", "), path);
    if (is_option) {
      return;
    }
    path += " " + word;
    level = level->get_subcommand(word);
  }
}

// "help study run" is "study run --help".
std::vector<std::string> with_help(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

}  // namespace

Command::Command(std::unique_ptr<Parser> parser) : parser_(std::move(parser)) {}
Command::~Command() = default;

Command& Command::add(const std::string& name, const std::string& description, const std::string& examples) {
  parser_->app->require_subcommand(1);
  CLI::App* app = parser_->app->add_subcommand(name, description);
  app->group("Commands");
  app->footer("Examples:\n" + examples);
  below_.push_back(std::unique_ptr<Command>(new Command(std::make_unique<Parser>(Parser{app}))));
  return *below_.back();
}

void Command::declare(const Declaration& declaration, const Take& take) {
  const std::string typed_as = typed_name(declaration.names);
  spelled_.emplace(declaration.name, typed_as);
  const auto receive = [this, take, typed_as, name = declaration.name,
                        several = declaration.several](const CLI::results_t& typed) {
    check(several || typed.size() == 1, "{} is given more than once; see '{} --help'", typed_as, path_of(parser_->app));
    given_.insert(name);
    take(typed);
    return true;
  };
  CLI::Option* option = parser_->app->add_option(declaration.names, receive, declaration.help);
  option->option_text(declaration.shown)->required(declaration.required);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (!declaration.heading.empty()) {
    option->group(declaration.heading);
  }
  if (declaration.several && option->get_positional()) {
    option->expected(CLI::detail::expected_max_vector_size);  // one or more
  }
}

void Command::declare_flag(const Declaration& declaration, const std::function<void()>& take) {
  spelled_.emplace(declaration.name, typed_name(declaration.names));
  const auto receive = [this, take, name = declaration.name] {
    given_.insert(name);
    take();
  };
  CLI::Option* option = parser_->app->add_flag_callback(declaration.names, receive, declaration.help);
  option->disable_flag_override();  // "--json=false" would be taken and do nothing
  if (!declaration.heading.empty()) {
    option->group(declaration.heading);
  }
}

void Command::files(const std::function<CommandFiles()>& files) {
  before_.emplace_back([files] { check_files(files()); });
}

void Command::accept_anything() { parser_->app->allow_extras(); }

void Command::run(const std::function<void()>& work) {
  parser_->app->callback([this, work] {
    for (const std::function<void()>& prepare : before_) {
      prepare();
    }
    work();
  });
}

Program::Program(const std::string& name, const std::string& description, const std::string& version,
                 const std::string& footer)
    : Command(std::make_unique<Parser>()) {
  parser_->owned = std::make_unique<CLI::App>(description, name);
  parser_->app = parser_->owned.get();
  CLI::App& app = *parser_->app;
  app.set_version_flag("--version", version, "Print the version");
  app.set_help_flag("-h,--help", "Print this text");
  app.get_formatter()->column_width(kHelpColumn);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Positionals", "Arguments");
  app.footer(footer);
}

void Program::run(int argc, char** argv) {
  const std::vector<std::string> words = with_help({argv + std::min(argc, 1), argv + argc});
  CLI::App& app = *parser_->app;
  check_commands(app, words);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::Success& help_or_version) {
    std::ostringstream text;
    app.exit(help_or_version, text, text);
    print(text.str());
  } catch (const CLI::ParseError& error) {
    fail("{} see '{} --help'", closed(usage_message(*innermost().parser_->app, error, words)), typed());
  }
  flush_output();
}

const Command& Program::innermost() const {
  const Command* level = this;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const std::unique_ptr<Command>& command : level->below_) {
      if (command->parser_->app->parsed()) {
        level = command.get();
        deeper = true;
        break;
      }
    }
  }
  return *level;
}

std::string Program::typed() const { return path_of(innermost().parser_->app); }

std::string Program::spell(std::string_view argument) const {
  const Command& command = innermost();
  const auto found = command.spelled_.find(argument);
  return found == command.spelled_.end() ? std::string(argument) : found->second;
}

}  // namespace dissent::cli
