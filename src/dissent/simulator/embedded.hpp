// Data files that travel inside the library: robot models (data/models) and trained policies (data/policies).
// The definitions are generated at configure time (cmake/embed.cmake). Unknown names give an empty view.
#pragma once

#include <string_view>

namespace dissent {

std::string_view embedded_model(std::string_view environment);
std::string_view embedded_policy(std::string_view environment);

}  // namespace dissent
