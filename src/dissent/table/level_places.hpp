// Which level of a category or an order a cell is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dissent {

class LevelPlaces {
 public:
  explicit LevelPlaces(const std::vector<std::string>& levels);

  // The level with this spelling. `as_number`: if there is none, the only level that is the same number, as 1 is for
  // 1.0; none if two are, like 1 and 01.
  std::optional<std::size_t> find(const std::string& text, bool as_number) const;

 private:
  std::unordered_map<std::string, std::size_t> by_spelling_;
  std::unordered_map<double, std::optional<std::size_t>> by_number_;  // none: several levels
};

}  // namespace dissent
