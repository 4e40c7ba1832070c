// "Did you mean ...?": the known name nearest to one that is not known.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dissent::cli {

// Edits that lead from one to the other: insert, delete or change a character, or swap two neighbours.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The nearest of `known`; empty when none is within a third of its length (at least one edit).
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

// "; did you mean 'score'?", or nothing when no name is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known);

}  // namespace dissent::cli
