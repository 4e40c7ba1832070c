// What the side studies share. Internal.
#pragma once

#include <string_view>

namespace dissent {

// The paper's estimators.
inline constexpr std::string_view kPairwiseEstimators[] = {"kl", "bhattacharyya"};

}  // namespace dissent
