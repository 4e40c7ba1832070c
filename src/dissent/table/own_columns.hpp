// Names of columns that we add to those of a user's table. The user's come first: if one already has our name, ours
// gets underscores at its end, "score_", until it is unique.
#pragma once

#include <string>
#include <vector>

namespace dissent {

std::string own_column(std::string name, const std::vector<std::string>& theirs);
std::vector<std::string> own_columns(std::vector<std::string> names, const std::vector<std::string>& theirs);

}  // namespace dissent
