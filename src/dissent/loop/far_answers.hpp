// Answers that look like mistakes: outside of every label there is, and far from what the model expects.
//
// With a model, an answer is far when it is beyond 6 standard deviations of its prediction; without one, when it is
// farther from the labels than they are from each other.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/loop/answers.hpp"

namespace dissent {

struct FarAnswer {
  std::optional<std::size_t> row;  // of the pool; none for an extra one
  std::string target;
  double value = 0;
  double least = 0;  // of the labels before
  double most = 0;
  double stddevs = 0;  // from the predicted mean; 0 without a model

  std::string text() const;  // "row 12: y 9512 is far outside of the labels so far, 0.2 to 11.4, ..."
};

// To be asked before they are taken. `model` is the campaign's present one, or null.
std::vector<FarAnswer> far_answers(const Campaign& campaign, const Problem& data, const Answers& answers,
                                   const Ensemble* model, Executor* executor = nullptr);

}  // namespace dissent
