// The pictures of a model on held-out rows. With several targets each has a control that chooses one.
#pragma once

#include <string>
#include <vector>

#include "dissent/report/held_out.hpp"
#include "dissent/report/page.hpp"

namespace dissent::report {

// Predicted against actual values, with the intervals that should hold 90% of them.
Chart parity_chart(const HeldOut& held_out, const std::vector<std::string>& targets);

// Share of values inside central intervals by the share that should be, with the range that chance allows.
Chart calibration_chart(const HeldOut& held_out, const std::vector<std::string>& targets);

// Errors over predictions, in units of the target or of the predicted stddev.
Chart residual_chart(const HeldOut& held_out, const std::vector<std::string>& targets);

// What more rows could teach against what they could not; the rows with the largest errors are marked.
Chart uncertainty_chart(const HeldOut& held_out);

}  // namespace dissent::report
