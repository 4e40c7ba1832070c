// Names: those typed by people are checked against a list, with a suggestion; those of columns are numbered.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

// The number of edits from one to the other: insert, delete or change a character, or swap two neighbours.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The nearest of `known`, the first on ties; empty when none is within a third of its length (at least one edit). Three
// or more letters that begin a name count as one edit from it; a difference only in case counts as none.
std::string nearest_name(std::string_view typed, const std::vector<std::string>& known);

// "; did you mean 'score'?", or nothing when no name is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known);

// InputError unless `name` is one of `known`, e.g.
//   environment 'hoper' is not known; did you mean 'hopper'? (known: pendulum, hopper, ant, humanoid)
void check_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

// "1 row", "2 rows"
std::string counted(std::size_t count, std::string_view noun);

// {"action_0", "action_1", ...}
std::vector<std::string> numbered_names(std::string_view stem, std::size_t count);

}  // namespace dissent
