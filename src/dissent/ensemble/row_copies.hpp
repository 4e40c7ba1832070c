// Rows that a table has more than once, inputs and targets alike: pasted twice, more often than measured twice.
#pragma once

#include <cstdint>
#include <vector>

#include "dissent/ensemble/model_parts.hpp"

namespace dissent {

// For each row the first that is equal to it, which may be itself.
std::vector<std::uint32_t> first_copies(const TrainingRows& rows);

}  // namespace dissent
