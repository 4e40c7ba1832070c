#include "dissent/device/score_launch.cuh"

namespace dissent::score {
DISSENT_SCORE_FORM(ChernoffForm)
}  // namespace dissent::score
