#include "dissent/base/names.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

bool equal_but_case(std::string_view one, std::string_view other) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(one, other, {}, lower, lower);
}

}  // namespace

// Row by row over the table of distances between prefixes; three rows, since a swap looks back two.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t k = 1; k <= to.size(); ++k) {
      const std::size_t change = last[k - 1] + (from[i - 1] == to[k - 1] ? 0 : 1);
      row[k] = std::min({change, last[k] + 1, row[k - 1] + 1});
      if (i > 1 && k > 1 && from[i - 1] == to[k - 2] && from[i - 2] == to[k - 1]) {
        row[k] = std::min(row[k], before[k - 2] + 1);
      }
    }
  }
  return row[to.size()];
}

std::string nearest_name(std::string_view typed, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& name : known) {
    const bool begins = typed.size() >= 3 && name.starts_with(typed);  // "bhatt" means bhattacharyya
    const std::size_t distance = equal_but_case(typed, name) ? 0 : begins ? 1 : edit_distance(typed, name);
    const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
    if (distance <= limit && (best.empty() || distance < best_distance)) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known) {
  const std::string name = nearest_name(typed, known);
  return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

void check_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  check(std::ranges::find(known, name) != known.end(), "{} '{}' is not known{} (known: {})", what, name,
        did_you_mean(name, known), fmt::join(known, ", "));
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::vector<std::string> numbered_names(std::string_view stem, std::size_t count) {
  std::vector<std::string> names(count);
  for (std::size_t k = 0; k < count; ++k) {
    names[k] = fmt::format("{}_{}", stem, k);
  }
  return names;
}

}  // namespace dissent
