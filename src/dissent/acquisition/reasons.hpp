// Why a row is worth a label, in words and in the user's units:
//   "depth 71, labelled rows end at 66; components say 2.1 to 4; noise 0.3"
//
// The parts, as far as known: the input farthest outside the labelled rows, or where the nearest labelled row differs
// most; what the components say (the range of their means) about the one or two targets they disagree about most,
// relative to the noise; the noise itself, a standard deviation; what the label adds to what is known about the aim and
// what it costs, according to the method that chose; and whether the row looks like an error. For a model with a flow
// or with logarithms, means and noise are those of its outputs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/table/outliers.hpp"

namespace dissent {

struct ReasonOptions {
  std::span<const double> labelled = {};    // [T][C], the rows that the model was fitted on
  std::span<const double> cost = {};        // [N]
  const AcquisitionInfo* method = nullptr;  // that chose the rows
  std::span<const double> scores = {};      // [N], by the method (Choice); NaN: not known. Without a method, none
  bool aim = false;                         // whether the method was given one
  std::span<const UsualRange> usual = {};   // [C], of the rows to choose from
  Executor* executor = nullptr;
};

inline constexpr std::string_view kReasonMark = "components say ";  // in every text below

// One text per row of `inputs` [N][C], at which the model can predict.
std::vector<std::string> reasons(const Ensemble& model, std::span<const double> inputs,
                                 const ReasonOptions& options = {});

// A number in few digits, without an exponent if that is short: 71, 0.3333, 53940. Two that differ get enough digits to
// tell them apart, up to nine.
std::string short_number(double value, int digits = 4);
std::pair<std::string, std::string> short_numbers(double one, double other, int digits = 4);

}  // namespace dissent
