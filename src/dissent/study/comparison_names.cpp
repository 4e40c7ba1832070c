// Methods by the names that people type.
#include <algorithm>
#include <string_view>

#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/study/comparison_parts.hpp"

namespace dissent {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The pieces between commas, of all texts.
std::vector<std::string> pieces_of(std::span<const std::string> texts) {
  std::vector<std::string> pieces;
  for (const std::string& text : texts) {
    for (const std::string_view piece : split(text)) {
      if (!trimmed(piece).empty()) {
        pieces.emplace_back(trimmed(piece));
      }
    }
  }
  return pieces;
}

// An axis with its value belongs to the method before it.
bool is_axis(const std::string& piece) { return piece.find('=') != std::string::npos; }

using Pieces = std::span<const std::string>;

// The longest known name that the first pieces make, and how many pieces it takes; none if they make no name, or if the
// next piece is an axis that no known method has.
std::pair<std::string, std::size_t> first_name(Pieces pieces, const std::vector<std::string>& known) {
  std::pair<std::string, std::size_t> longest;
  for (const std::string& name : known) {
    const std::vector<std::string> parts = pieces_of(std::span(&name, 1));
    const bool begins =
        parts.size() <= pieces.size() && std::ranges::equal(parts, pieces.first(std::min(parts.size(), pieces.size())));
    if (begins && parts.size() > longest.second) {
      longest = {name, parts.size()};
    }
  }
  const std::size_t next = longest.second;
  return next < pieces.size() && is_axis(pieces[next]) ? std::pair<std::string, std::size_t>() : longest;
}

// The first piece with the axes that follow it.
std::string unknown_name(Pieces pieces) {
  std::string name = pieces.front();
  for (std::size_t k = 1; k < pieces.size() && is_axis(pieces[k]); ++k) {
    name += ", " + pieces[k];
  }
  return name;
}

}  // namespace

std::string acquisition_name(std::string_view acquisition) {
  return std::string(acquisition.substr(0, acquisition.find(':')));
}

std::vector<std::string> method_names(std::span<const StudyResults> studies) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const StudyResults& results : studies) {
    std::ranges::for_each(results.runs, [&](const StudyRun& run) { add(run.method); });
  }
  for (const StudyResults& results : studies) {
    std::ranges::for_each(results.runs, [&](const StudyRun& run) { add(acquisition_name(run.acquisition)); });
  }
  return names;
}

std::vector<std::string> find_methods(std::span<const std::string> typed, const std::vector<std::string>& known) {
  const std::vector<std::string> pieces = pieces_of(typed);
  std::vector<std::string> methods;
  for (std::size_t at = 0; at < pieces.size();) {
    const Pieces rest = Pieces(pieces).subspan(at);
    const auto [name, count] = first_name(rest, known);
    if (count == 0) {
      check_name("method", unknown_name(rest), known);
    }
    methods.push_back(name);
    at += std::max<std::size_t>(count, 1);
  }
  return methods;
}

}  // namespace dissent
