// sum over samples of log1p(sum_i exp(r_i)), vectorised.
#pragma once

#include <cstddef>

#include "dissent/matrix/panel.hpp"

namespace dissent {

// ratios: [others][count]; `chosen` is added to them in place. All values are finite.
double sum_log1p_exp(Panel<double> ratios, Panel<const double> chosen, std::size_t count);

}  // namespace dissent
