// Names of columns that we add to those of a user's table. The user's come first: where one is called as ours would be,
// ours gets underscores behind it, "score_", until it is alone.
#pragma once

#include <string>
#include <vector>

namespace dissent {

std::string own_column(std::string name, const std::vector<std::string>& theirs);
std::vector<std::string> own_columns(std::vector<std::string> names, const std::vector<std::string>& theirs);

}  // namespace dissent
