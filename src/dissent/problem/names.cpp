#include "dissent/problem/names.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

void check_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  check(std::find(known.begin(), known.end(), name) != known.end(),
        "{} \"{}\" is unknown; did you mean \"{}\"? (known: {})", what, name, nearest_name(name, known),
        fmt::join(known, ", "));
}

std::vector<std::string> numbered_names(std::string_view stem, std::size_t count) {
  std::vector<std::string> names(count);
  for (std::size_t k = 0; k < count; ++k) {
    names[k] = fmt::format("{}_{}", stem, k);
  }
  return names;
}

}  // namespace dissent
