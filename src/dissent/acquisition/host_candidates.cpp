#include "dissent/acquisition/host_candidates.hpp"

#include <algorithm>
#include <vector>

#include "dissent/acquisition/joint_kernel.hpp"
#include "dissent/divergence/pairwise.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlockRows =
    8 * PairwiseDivergences::kBlock;  // predicted at a time, so that a mixture stays in the cache

class HostCandidates final : public JointCandidates {
 public:
  HostCandidates(const Divergence& divergence, const Ensemble& model, std::span<const double> rows, Executor* executor)
      : executor_(executor),
        pairs_(model.weights()),
        num_rows_(rows.size() / model.num_input_columns()),
        divergence_(pairs_.pairs.size(), num_rows_),
        epistemic_(num_rows_),
        log_deficit_(num_rows_),
        information_(padded_batch(num_rows_)),
        of_row_(pairs_.pairs.size()) {
    score(divergence, model, rows);
  }

  std::span<const double> epistemic() const override { return epistemic_; }
  std::span<const double> log_deficit() const override { return log_deficit_; }

  std::span<const float> divergences(std::size_t row) override {
    for (std::size_t k = 0; k < of_row_.size(); ++k) {
      of_row_[k] = divergence_.panel()(k, row);
    }
    return of_row_;
  }

  std::span<const float> information(const RunningSums& sums) override {
    for_blocks(executor_, num_rows_, kBlockRows, [&](std::size_t begin, std::size_t end, std::size_t) {
      const Panel<const float> all = divergence_.panel();
      joint_information(pairs_, {all.data + begin, all.rows, all.stride}, sums, end - begin,
                        information_.data() + begin);
    });
    return std::span(information_).first(num_rows_);
  }

 private:
  void score(const Divergence& divergence, const Ensemble& model, std::span<const double> rows) {
    const std::size_t C = model.num_input_columns();
    const std::size_t M = model.num_components();
    struct Scratch {
      PairwiseDivergences divergences;
      Combiner combiner;
      Mixture<float> mixture;
    };
    const auto make = [&] {
      return Scratch{
          {divergence, M, model.num_outputs()}, Combiner({model.weights(), divergence.symmetric(), true}), {}};
    };
    for_blocks(executor_, num_rows_, kBlockRows, make, [&](std::size_t begin, std::size_t end, Scratch& own) {
      model.predict_base(rows.subspan(begin * C, (end - begin) * C), own.mixture);
      const std::size_t stride = own.divergences.stride();
      for (std::size_t first = begin; first < end; first += stride) {
        const std::size_t count = std::min(stride, end - first);
        own.divergences.compute(own.mixture.view(), first - begin, count, begin);
        own.combiner.run(
            {own.divergences.divergence(), stride, count, epistemic_.data() + first, log_deficit_.data() + first});
        copy_pairs(pairs_, own.divergences, count, divergence_.panel(), first);
      }
    });
  }

  Executor* executor_;
  JointPairs pairs_;
  std::size_t num_rows_;
  PanelBuffer<float> divergence_;  // [pairs][N]
  std::vector<double> epistemic_;
  std::vector<double> log_deficit_;
  AlignedVector<float> information_;
  std::vector<float> of_row_;
};

}  // namespace

std::unique_ptr<JointCandidates> host_candidates(const Divergence& divergence, const Ensemble& model,
                                                 std::span<const double> rows, Executor* executor) {
  return std::make_unique<HostCandidates>(divergence, model, rows, executor);
}

}  // namespace dissent
