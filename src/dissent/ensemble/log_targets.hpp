// Chooses the targets to fit by their logarithms. Prices, strengths and counts often call for it: all positive, and
// noisier where they are large.
#pragma once

#include <cstdint>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/model_parts.hpp"
#include "dissent/ensemble/options.hpp"

namespace dissent {

// [D], 1 for a logarithm; empty for none. With LogTargets::kAuto a Gaussian process predicts each target on a few
// hundred rows, with and without the logarithm; the density that it gives each row from the others decides. InputError
// for LogTargets::kAll if a target is not positive. A flow bends its outputs itself, so it gets no logarithms unless
// all are asked for.
std::vector<std::uint8_t> choose_logarithms(const EnsembleOptions& options, const TrainingRows& rows,
                                            Executor* executor = nullptr);

}  // namespace dissent
