// Weights as typed: "0.5,0.3,0.2", or the name of a .npy or .csv file with one column.
#pragma once

#include <cstddef>
#include <string>

#include "dissent/mixture/mixture.hpp"

namespace dissent::cli {

// InputError names the option or the file, and the rule.
Weights read_weights(const std::string& text, std::size_t num_components);

}  // namespace dissent::cli
