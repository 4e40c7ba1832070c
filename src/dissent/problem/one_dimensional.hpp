// The two one-dimensional problems of the paper's appendix. z is standard normal throughout.
//
// hetero:  x ~ equal mixture of N(-4, 2/5), N(0, 9/10), N(4, 2/5) (second number: stddev);
//          y = 7 sin x + 3 z |cos(x/2)|.
//          Test inputs lie in the gaps: x ~ equal mixture of N(-2, 0.6) and N(2, 0.6).
// bimodal: x ~ exponential with rate 2; a fair coin decides whether y is 10 sin x + z or 10 cos x + z + 20 - x.
//          Test inputs are spread evenly: x ~ U[0, 4].
// Row k draws from its own stream, so a longer sample begins with a shorter one.
#pragma once

#include <cstdint>
#include <string_view>

#include "dissent/base/random.hpp"

namespace dissent {

struct Point {
  double x = 0;
  double y = 0;
};

enum class InputDistribution { kTraining, kTest };

Point draw_hetero(InputDistribution inputs, Stream& stream);
Point draw_bimodal(InputDistribution inputs, Stream& stream);

}  // namespace dissent
