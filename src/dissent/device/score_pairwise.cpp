#include "dissent/device/score_pairwise.hpp"

#include "dissent/device/score_tile_plan.hpp"

namespace dissent::score {

template <class T>
bool fits_card(int num_components, int num_outputs) {
  return num_components >= 2 && num_components <= kMostComponents &&
         TilePlan::of<double>(num_components, num_outputs).shared_bytes() <= kBytesOfOne;
}

template <class T>
void launch_pairwise(const PairwiseRule& rule, const Rows<T>& rows, const Results& results, const HostWeights& weights,
                     cudaStream_t stream) {
  visit_form(rule, [&](const auto& form) { launch_form(form, rule.finish, rows, results, weights, stream); });
}

template bool fits_card<float>(int, int);
template bool fits_card<double>(int, int);
template void launch_pairwise(const PairwiseRule&, const Rows<float>&, const Results&, const HostWeights&,
                              cudaStream_t);
template void launch_pairwise(const PairwiseRule&, const Rows<double>&, const Results&, const HostWeights&,
                              cudaStream_t);

}  // namespace dissent::score
