// Names: those typed by people are checked against a list, with a suggestion; those of columns are numbered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dissent {

// The entry with the fewest single-character insertions, deletions and replacements (Levenshtein); the first on ties.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

// Throws InputError unless `name` is one of `known`, e.g.
//   environment "hoper" is unknown; did you mean "hopper"? (known: pendulum, hopper, ant, humanoid)
void check_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

// {"action_0", "action_1", ...}
std::vector<std::string> numbered_names(std::string_view stem, std::size_t count);

}  // namespace dissent
