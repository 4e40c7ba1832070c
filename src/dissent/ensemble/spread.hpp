// Spreads of networks, set after training to hold for rows a component has not seen.
//
// A network trained to the end is nearly exact on its own rows and believes that it is so everywhere. So each output's
// stddevs become max(f stddev, c). f and c make rows outside a component's bootstrap sample as likely as possible, each
// under the mixture of the components that have not seen it. If that makes hardly any difference, spreads stay as they
// are. Held-out rows serve all components. (With a flow, the components have not seen those rows, but the shared map
// has, through other components; f and c are still nearly as good as those from new rows, see docs/notes/ensembles.md.)
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
  std::vector<std::uint32_t> rows;   // numbers of rows that at least one component has not seen
  std::vector<std::uint8_t> unseen;  // [rows][M], 1 if that component has not seen the row
};

UnseenRows held_out_rows(std::span<const std::uint32_t> held_out, std::size_t num_components);
UnseenRows out_of_bag_rows(const EnsembleOptions& options, std::size_t num_rows);

// `rows` are all rows of the fit, trained on or held out. With fewer than ten unseen rows nothing happens; of more than
// a thousand, only some are used.
void fit_spread(Ensemble& model, const TrainingRows& rows, const UnseenRows& unseen, Executor* executor);

}  // namespace dissent
