#include "dissent/device/score_launch.cuh"

namespace dissent::score {
DISSENT_SCORE_FORM(BhattacharyyaForm)
}  // namespace dissent::score
