// Rows that occur more than once in a table, inputs and targets alike: more often pasted twice than measured twice.
#pragma once

#include <cstdint>
#include <vector>

#include "dissent/ensemble/model_parts.hpp"

namespace dissent {

// For each row, the first row equal to it, which may be itself.
std::vector<std::uint32_t> first_copies(const TrainingRows& rows);

}  // namespace dissent
