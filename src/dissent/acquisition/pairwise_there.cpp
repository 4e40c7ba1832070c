// kl, bhattacharyya, ... of rows on a device: it scores them, and the host ranks them, so that ties are broken as they
// are among a model's rows.
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/top_rows.hpp"
#include "dissent/estimator/score_device.hpp"

namespace dissent {

Choice choose_pairwise_there(const Divergence& divergence, const PoolTask& task) {
  const PoolOnDevice::Scores scores = task.pool.score(divergence);
  TopRows<Ranked, GoesBefore> best(task.batch, GoesBefore{task.stream});
  for (std::size_t n = 0; n < scores.epistemic.size(); ++n) {
    Ranked row = ranked_by(task.ranking, scores.epistemic[n], scores.log_deficit[n]);
    row.row = n;
    best.offer(row);
  }
  Choice choice;
  for (const auto& entry : best.sorted()) {
    choice.rows.push_back(entry.row.row);
    choice.scores.push_back(entry.row.score);
    choice.epistemic.push_back(entry.row.second);
  }
  return choice;
}

}  // namespace dissent
