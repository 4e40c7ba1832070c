#include "dissent/table/level_places.hpp"

#include "dissent/table/csv.hpp"

namespace dissent {

LevelPlaces::LevelPlaces(const std::vector<std::string>& levels) {
  for (std::size_t k = 0; k < levels.size(); ++k) {
    by_spelling_.emplace(levels[k], k);
    double number = 0;
    if (parse_cell(levels[k], number) == NumberText::kNumber) {
      const auto [known, is_new] = by_number_.emplace(number, k);
      known->second = is_new ? known->second : std::nullopt;
    }
  }
}

std::optional<std::size_t> LevelPlaces::find(const std::string& text, bool as_number) const {
  if (const auto found = by_spelling_.find(text); found != by_spelling_.end()) {
    return found->second;
  }
  double number = 0;
  if (!as_number || parse_cell(text, number) != NumberText::kNumber) {
    return std::nullopt;
  }
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? std::nullopt : found->second;
}

}  // namespace dissent
