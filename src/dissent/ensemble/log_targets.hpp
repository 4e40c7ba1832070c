// Which targets to fit by their logarithms. Prices, strengths, counts are often so: all positive, and noisier where
// they are large.
#pragma once

#include <cstdint>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/model_parts.hpp"
#include "dissent/ensemble/options.hpp"

namespace dissent {

// [D], 1 for a logarithm; empty for none. With LogTargets::kAuto each target is predicted by a Gaussian process on a
// few hundred rows, with and without: the density that it gives a row from the others decides. InputError for
// LogTargets::kAll where a target is not positive. A flow bends its outputs itself: none for it, unless all are asked
// for.
std::vector<std::uint8_t> choose_logarithms(const EnsembleOptions& options, const TrainingRows& rows,
                                            Executor* executor = nullptr);

}  // namespace dissent
