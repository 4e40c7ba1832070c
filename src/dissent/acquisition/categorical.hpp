// Which rows to label next, from a classifier's probabilities: acquisition.hpp for classes instead of Gaussians.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/mixture/categorical.hpp"

namespace dissent {

struct ClassTask {
  const CategoricalView& classes;  // normalised
  std::size_t batch = 1;
  Stream stream;
  Executor* executor = nullptr;
  Ranking ranking = Ranking::kDeficit;
  std::vector<double>* utilities = nullptr;  // as in AcquisitionTask
};

// "exact" (BALD), a divergence by the name of its method ("kl", "chernoff:0.3"), its joint form ("kl-joint": the labels
// of a batch are independent given the component, so divergences add), or "random". Scores are as for Gaussians; those
// of a joint form are what each pick adds. InputError for any other method, for a batch that is empty or larger than
// the number of rows, and if fewer than two components have weight, unless the choice is random.
Choice choose_classes(std::string_view acquisition, const ClassTask& task);

}  // namespace dissent
