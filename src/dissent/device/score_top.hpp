// The most uncertain inputs, chosen on the card. The order is more_uncertain()'s: smaller log deficit first, then
// larger epistemic uncertainty, then the smaller number; it is total, so the choice does not depend on how work is
// shared.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "dissent/device/score_math.hpp"

namespace dissent::score {

struct RankedInput {
  double log_deficit = HUGE_VAL;
  double epistemic = 0;
  long long input = -1;  // none; comes last

  DISSENT_BOTH bool before(const RankedInput& other) const {
    if (log_deficit != other.log_deficit) {
      return log_deficit < other.log_deficit;
    }
    if (epistemic != other.epistemic) {
      return epistemic > other.epistemic;
    }
    return static_cast<unsigned long long>(input) < static_cast<unsigned long long>(other.input);
  }
};

inline constexpr int kMostTop = 1024;

// How many RankedInput launch_top() needs as scratch.
std::size_t top_scratch_size(long long num_inputs, int count);

// Queues the choice of `count` <= kMostTop inputs. top[count] is sorted; entries from num_inputs on hold no input.
void launch_top(const double* epistemic, const double* log_deficit, long long num_inputs, int count,
                RankedInput* scratch, RankedInput* top, cudaStream_t stream);

}  // namespace dissent::score
