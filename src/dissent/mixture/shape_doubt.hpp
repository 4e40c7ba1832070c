// Doubts about arrays whose shape is allowed but unusual: axes in another order give numbers too, only wrong ones.
#pragma once

#include <cstddef>
#include <string>

namespace dissent {

// A sentence that says how N inputs and M components were understood, if there is a single component or there are many
// more components than inputs; empty for any other shape.
std::string shape_doubt(std::size_t num_inputs, std::size_t num_components);

}  // namespace dissent
