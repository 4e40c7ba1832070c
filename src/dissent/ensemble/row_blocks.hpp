// Rows in the user's units on their way into a network.
#pragma once

#include <span>

#include "dissent/matrix/panel.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

// panel[c][b] = rows[b][c], scaled, zero in the padding columns. `rows` are row-major; `scratch` has room for as many.
void pack_scaled(const Scaling& scaling, std::span<const double> rows, std::span<float> scratch, Panel<float> panel);

}  // namespace dissent
