// Spreads that hold for rows a component has not seen: of networks, after training.
//
// Trained to the end, a network is nearly exact on its own rows and believes that it is so everywhere. So each output's
// stddevs become max(f stddev, c), with the f and c that make rows outside of a component's bootstrap sample as likely
// as possible, each under the mixture of the components that have not seen it; if that makes a difference at all.
// Held-out rows serve all components. (Of a flow the components have not seen those rows, but the shared map has,
// through other components; f and c are still nearly as good as those from new rows, see docs/notes/ensembles.md.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

// Which components have not trained on which row.
struct UnseenRows {
  std::vector<std::uint32_t> rows;   // numbers of rows that at least one has not
  std::vector<std::uint8_t> unseen;  // [rows][M], 1 where that component has not
};

UnseenRows held_out_rows(std::span<const std::uint32_t> held_out, std::size_t num_components);
UnseenRows out_of_bag_rows(const EnsembleOptions& options, std::size_t num_rows);

// From the rows that were trained on or held out. Nothing happens with fewer than ten unseen rows. Of more than a
// thousand, some are taken.
void fit_spread(Ensemble& model, const TrainingRows& rows, const UnseenRows& unseen, Executor* executor);

}  // namespace dissent
