// The kinds of option that a command can declare: how each is named, shown in help, read and checked.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "command_line.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/parse.hpp"

namespace dissent::cli {
namespace {

std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

// "-o,--step-size" -> "step_size"
std::string library_name(const std::string& names) {
  const std::size_t dashes = names.find("--");
  std::string name = dashes == std::string::npos ? names : names.substr(dashes + 2);
  std::ranges::replace(name, '-', '_');
  return name;
}

// A default that could not be typed means that there is none.
bool is_shown(const FieldInfo& info, const Value& usual) {
  const bool is_number = info.type == FieldType::kWhole || info.type == FieldType::kNumber;
  return !to_text(usual).empty() && !(is_number && as_number(usual) < info.traits.least);
}

std::string shown_text(const FieldInfo& info, const Value& usual) {
  return is_shown(info, usual) ? fmt::format("{}={}", info.traits.shown, to_text(usual))
                               : std::string(info.traits.shown);
}

// An empty value comes from an unset variable in someone's script.
void check_not_empty(const std::string& name, const std::string& text) {
  if (text.empty()) {
    throw InputError(Fault{.argument = name, .rule = "the value is empty"});
  }
}

std::vector<std::string> split_texts(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text)) {
    if (!part.empty() || text.empty()) {  // "a,b," is two
      parts.emplace_back(part);
    }
  }
  return parts;
}

// As in CSV: "a,b",c is two names, and "" inside quotes is one quote.
std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  std::size_t at = 0;
  do {
    std::string name;
    const bool quoted = at < text.size() && text[at] == '"';
    for (at += quoted ? 1 : 0; at < text.size() && (quoted || text[at] != ','); ++at) {
      if (quoted && text[at] == '"' && (at + 1 == text.size() || text[at + 1] != '"')) {
        ++at;
        break;
      }
      at += quoted && text[at] == '"' ? 1 : 0;
      name += text[at];
    }
    if (!name.empty() || text.empty()) {
      names.push_back(name);
    }
  } while (at < text.size() && text[at++] == ',');
  check(at >= text.size(), "'{}': a name in quotes ends before a comma, or the text ends", text);
  return names;
}

}  // namespace

std::string option_name(const FieldInfo& info, const Value& usual) {
  const bool is_on = info.type == FieldType::kSwitch && std::get<bool>(usual);
  return "--" +
         (!info.traits.flag.empty() ? std::string(info.traits.flag) : (is_on ? "no-" : "") + with_dashes(info.name));
}

void Command::declare_value(Declaration declaration, FieldInfo info, const Value& usual,
                            const std::function<void(const Value&)>& take) {
  const bool is_list = info.type == FieldType::kWholes || info.type == FieldType::kNumbers;
  if (declaration.name.empty()) {
    declaration.name = library_name(declaration.names);
  }
  declaration.shown = shown_text(info, usual);
  declaration.several = is_list;
  info.traits.help = info.traits.shown = {};  // they may not outlive this call
  declare(declaration, [info, take, name = declaration.name](const std::vector<std::string>& typed) mutable {
    info.name = name;
    const std::string text = fmt::format("{}", fmt::join(typed, ","));
    check_not_empty(name, text);
    take(parse_value(info, text));
  });
}

void Command::declare_field(const FieldInfo& info, const Value& usual, const std::string& heading, Values& given) {
  const std::string name(info.name);
  const std::string letter = info.traits.short_name.empty() ? "" : fmt::format("-{},", info.traits.short_name);
  Declaration declaration{.names = letter + option_name(info, usual),
                          .name = name,
                          .help = std::string(info.traits.help),
                          .heading = heading};
  if (info.type == FieldType::kSwitch) {
    declare_flag(declaration, [&given, name, on = !std::get<bool>(usual)] { given[name] = on; });
  } else {
    declare_value(declaration, info, usual, [&given, name](const Value& value) { given[name] = value; });
  }
}

template <class T>
void Command::option(const std::string& names, T& target, FieldTraits traits, Need need) {
  struct Single {
    T value;
  };
  const Field<Single> single = field("", &Single::value, traits);
  declare_value({.names = names, .help = std::string(traits.help), .required = need == Need::kRequired}, single,
                single.get({target}), [&target, set = single.set](const Value& value) {
                  Single taken{};
                  set(taken, value);
                  target = taken.value;
                });
}

template void Command::option(const std::string&, std::string&, FieldTraits, Need);
template void Command::option(const std::string&, int&, FieldTraits, Need);
template void Command::option(const std::string&, double&, FieldTraits, Need);
template void Command::option(const std::string&, std::size_t&, FieldTraits, Need);
template void Command::option(const std::string&, std::optional<std::size_t>&, FieldTraits, Need);
template void Command::option(const std::string&, std::vector<double>&, FieldTraits, Need);

void Command::option(const std::string& names, const FieldTraits& traits,
                     const std::function<void(const std::string&)>& set) {
  declare_value({.names = names, .help = std::string(traits.help)}, {"", FieldType::kText, false, traits}, Value(),
                [set](const Value& value) { set(std::get<std::string>(value)); });
}

void Command::text(const std::string& names, std::optional<std::string>& target, const FieldTraits& traits) {
  declare({.names = names,
           .name = library_name(names),
           .help = std::string(traits.help),
           .shown = std::string(traits.shown)},
          [&target](const std::vector<std::string>& typed) { target = typed.front(); });
}

void Command::texts(const std::string& names, std::vector<std::string>& target, const FieldTraits& traits, Need need) {
  declare_texts(names, target, traits, need, split_texts);
}

void Command::names(const std::string& names, std::vector<std::string>& target, const FieldTraits& traits, Need need) {
  declare_texts(names, target, traits, need, split_names);
}

void Command::name_lists(const std::string& names, std::vector<std::vector<std::string>>& target,
                         const FieldTraits& traits) {
  declare({.names = names,
           .name = library_name(names),
           .help = std::string(traits.help),
           .shown = std::string(traits.shown),
           .several = true},
          [&target](const std::vector<std::string>& typed) {
            target.clear();
            std::ranges::transform(typed, std::back_inserter(target), split_names);
          });
}

void Command::declare_texts(const std::string& names, std::vector<std::string>& target, const FieldTraits& traits,
                            Need need, std::vector<std::string> (*split_text)(const std::string& text)) {
  const std::string usual = fmt::format("{}", fmt::join(target, ","));
  declare({.names = names,
           .name = library_name(names),
           .help = std::string(traits.help),
           .shown = usual.empty() ? std::string(traits.shown) : fmt::format("{}={}", traits.shown, usual),
           .required = need == Need::kRequired,
           .several = true},
          [&target, split_text](const std::vector<std::string>& typed) {
            target.clear();
            for (const std::string& text : typed) {
              const std::vector<std::string> parts = split_text(text);
              target.insert(target.end(), parts.begin(), parts.end());
            }
          });
}

void Command::flag(const std::string& names, bool& target, std::string_view help) {
  declare_flag({.names = names, .name = library_name(names), .help = std::string(help)}, [&target] { target = true; });
}

void Command::either_flag(const std::string& name, std::optional<bool>& target, std::string_view help) {
  const auto take = [&target, name](bool on) {
    check(target.value_or(on) == on, "--{0} and --no-{0} are both given; leave one out", name);
    target = on;
  };
  declare_flag({.names = "--" + name, .name = library_name("--" + name), .help = std::string(help)},
               [take] { take(true); });
  const std::string off = "--no-" + name;
  declare_flag({.names = off, .name = library_name(off), .help = fmt::format("Lift --{} of a campaign", name)},
               [take] { take(false); });
}

void Command::argument(const std::string& name, std::string& target, std::string_view help, Need need) {
  declare({.names = name, .name = name, .help = std::string(help), .shown = " ", .required = need == Need::kRequired},
          [&target, name](const std::vector<std::string>& typed) {
            check_not_empty(name, typed.front());
            target = typed.front();
          });
}

void Command::arguments(const std::string& name, std::vector<std::string>& target, std::string_view help) {
  declare({.names = name, .name = name, .help = std::string(help), .shown = "...", .required = true, .several = true},
          [&target, name](const std::vector<std::string>& typed) {
            for (const std::string& text : typed) {
              check_not_empty(name, text);
            }
            target = typed;
          });
}

}  // namespace dissent::cli
