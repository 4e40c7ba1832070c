// The command line as the commands see it: they declare options, arguments, subcommands and what to run.
//
// An option is described like a field (FieldTraits): its help, the placeholder for its value, its range, the names it
// takes. Its default is what its target holds when it is declared, and the help shows it: "M=5". parse_value reads what
// people type, so a bad value gets the same message everywhere:
//
//     --epochs = 0; it must be a whole number >= 1
//
// Targets must live as long as the command. Only command_line.cpp uses the parsing library (CLI11).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "command_files.hpp"
#include "dissent/base/field.hpp"

namespace dissent::cli {

// How a field is typed: "--batch-size". For a switch, the flag that flips its default: "--no-bootstrap".
std::string option_name(const FieldInfo& info, const Value& usual);

// Whether an option must be given.
enum class Need { kOptional, kRequired };

class Command {
 public:
  virtual ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // A command below this one; its help ends in `examples`, one command line each.
  Command& add(const std::string& name, const std::string& description, const std::string& examples);

  // "-o,--output" with a value: a text (which may not be empty), a number, or several numbers separated by commas. T is
  // std::string, int, double, std::size_t, std::optional<std::size_t> or std::vector<double>.
  template <class T>
  void option(const std::string& names, T& target, FieldTraits traits, Need need = Need::kOptional);
  // An option whose value goes to a function, which may refuse it.
  void option(const std::string& names, const FieldTraits& traits, const std::function<void(const std::string&)>& set);
  // A text that may be empty, which means none.
  void text(const std::string& names, std::optional<std::string>& target, const FieldTraits& traits);
  // Several texts, separated by commas or given one by one.
  void texts(const std::string& names, std::vector<std::string>& target, const FieldTraits& traits,
             Need need = Need::kOptional);
  // The same for names of columns; a name that holds a comma or begins with a quote goes in double quotes.
  void names(const std::string& names, std::vector<std::string>& target, const FieldTraits& traits,
             Need need = Need::kOptional);
  // The same, with one list each time the option is given.
  void name_lists(const std::string& names, std::vector<std::vector<std::string>>& target, const FieldTraits& traits);
  // On when it is given.
  void flag(const std::string& names, bool& target, std::string_view help);
  // On when it is given, off with "--no-NAME", which lifts what a campaign keeps; not both.
  void either_flag(const std::string& name, std::optional<bool>& target, std::string_view help);
  // Positional: one argument, or all there are, of which at least one is required.
  void argument(const std::string& name, std::string& target, std::string_view help, Need need = Need::kRequired);
  void arguments(const std::string& name, std::vector<std::string>& target, std::string_view help);
  // Accepts and ignores whatever else is typed: for a command that can only say why it does not work.
  void accept_anything();

  // An option for every field of S, under a heading of their own. `given` receives the typed ones; they are set in
  // `target` before the command runs.
  template <class S>
  void fields(S& target, Values& given, const std::string& heading);

  // The files that it reads and writes, asked for after parsing. An output that is also an input is refused before the
  // command runs.
  void files(const std::function<CommandFiles()>& files);

  // What the command does after parsing.
  void run(const std::function<void()>& work);

  // Whether the option of this name ("output") was typed.
  bool given(const std::string& name) const { return given_.contains(name); }

 private:
  friend class Program;
  struct Parser;  // of the parsing library
  explicit Command(std::unique_ptr<Parser> parser);

  struct Declaration {
    std::string names = {};
    std::string name = {};  // as in the library
    std::string help = {};
    std::string shown = {};  // "M=5"; " " or "..." for an argument
    std::string heading = {};
    bool required = false;
    bool several = false;
  };
  using Take = std::function<void(const std::vector<std::string>& typed)>;
  void declare(const Declaration& declaration, const Take& take);
  void declare_texts(const std::string& names, std::vector<std::string>& target, const FieldTraits& traits, Need need,
                     std::vector<std::string> (*split_text)(const std::string& text));
  void declare_flag(const Declaration& declaration, const std::function<void()>& take);
  // An option with one Value that obeys `info`; `usual` is its default.
  void declare_value(Declaration declaration, FieldInfo info, const Value& usual,
                     const std::function<void(const Value&)>& take);
  void declare_field(const FieldInfo& info, const Value& usual, const std::string& heading, Values& given);

  std::unique_ptr<Parser> parser_;
  std::vector<std::unique_ptr<Command>> below_;
  std::map<std::string, std::string, std::less<>> spelled_;  // name -> how it is typed: "top" -> "--top"
  std::set<std::string> given_;
  std::vector<std::function<void()>> before_;  // called before the command runs
};

// The program: the command above all others.
class Program : public Command {
 public:
  Program(const std::string& name, const std::string& description, const std::string& version,
          const std::string& footer);

  // Parses and runs the typed command, or prints help or version. InputError for bad usage.
  void run(int argc, char** argv);

  // The command that was typed: "dissent score".
  std::string typed() const;
  // How an argument of that command is typed: "batch_size" -> "--batch-size". Any other name stays as it is.
  std::string spell(std::string_view argument) const;

 private:
  const Command& innermost() const;
};

template <class S>
void Command::fields(S& target, Values& given, const std::string& heading) {
  for (const Field<S>& field : dissent::fields<S>()) {
    declare_field(field, field.get(target), heading, given);
  }
  before_.emplace_back([&target, &given] { set_fields(target, given); });
}

}  // namespace dissent::cli
