#include "dissent/base/error.hpp"

namespace dissent {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
}

// Spells the names between backquotes and leaves the rest as it is.
std::string spelled(std::string_view rule, const Fault::Spell& spell) {
  std::string text;
  while (!rule.empty()) {
    const std::size_t open = rule.find('`');
    const std::size_t close = open == std::string_view::npos ? open : rule.find('`', open + 1);
    text += rule.substr(0, open);
    if (close == std::string_view::npos) {
      text += open == std::string_view::npos ? "" : rule.substr(open);
      break;
    }
    const std::string_view name = rule.substr(open + 1, close - open - 1);
    if (is_name(name)) {
      text += spell ? spell(name) : std::string(name);
      rule.remove_prefix(close + 1);
    } else {
      text += '`';
      rule.remove_prefix(open + 1);
    }
  }
  return text;
}

}  // namespace

std::string Fault::text(const Spell& spell) const {
  std::string text = source.empty() ? "" : source + ": ";
  if (!column.empty() || row) {
    text += column.empty() ? "" : fmt::format("column '{}'", column);
    text += row ? fmt::format("{}row {}", column.empty() ? "" : " ", *row + 1) : "";
    text += ": ";
  }
  if (!argument.empty()) {
    text += spell ? spell(argument) : argument;
    text += value.empty() ? ": " : fmt::format(" = {}; ", value);
  } else if (!value.empty()) {
    text += fmt::format("'{}' ", value);
  }
  return text + spelled(rule, spell);
}

}  // namespace dissent
