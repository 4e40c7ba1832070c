#include "dissent/acquisition/scorers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dissent/acquisition/sampled.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/estimator/estimator.hpp"

namespace dissent {
namespace {

class RandomScorer : public RowScorer {
 public:
  explicit RandomScorer(const AcquisitionTask& task) : stream_(task.stream) {}

  void score(std::span<const double>, std::span<Ranked> rows, std::size_t) override {
    for (Ranked& row : rows) {
      row.score = stream_.substream(row.row).uniform();
    }
  }

 private:
  Stream stream_;
};

std::vector<double> variance_of_means(const Ensemble& model, std::span<const double> inputs) {
  const std::size_t D = model.num_outputs();
  const std::size_t M = model.num_components();
  const Mixture<double> mixture = model.predict(inputs);
  std::vector<double> mean = mixture.mean;  // without a flow: in base space, where scales are those of base values
  if (!model.output_map().is_separable()) {
    model.carry(inputs, M, mixture.mean, mean, {});
  }
  std::vector<double> variance(mixture.num_inputs);
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    for (std::size_t d = 0; d < D; ++d) {
      const double* at = mean.data() + n * M * D + d;
      double center = 0;
      for (std::size_t m = 0; m < M; ++m) {
        center += model.weights().value[m] * at[m * D];
      }
      for (std::size_t m = 0; m < M; ++m) {
        const double gap = (at[m * D] - center) / model.columns().target_scaling.scale[d];
        variance[n] += model.weights().value[m] * gap * gap;
      }
    }
  }
  return variance;
}

class VarianceScorer : public RowScorer {
 public:
  explicit VarianceScorer(const AcquisitionTask& task) : model_(task.model) {}

  void score(std::span<const double> inputs, std::span<Ranked> rows, std::size_t) override {
    const std::vector<double> variance = variance_of_means(model_, inputs);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      rows[k].score = variance[k];
    }
  }

 private:
  const Ensemble& model_;
};

void rank(Ranked& row, const Ranked& by) {
  row.score = by.score;
  row.second = by.second;
}

class PairwiseScorer : public RowScorer {
 public:
  PairwiseScorer(const Acquisition& acquisition, const AcquisitionTask& task)
      : model_(task.model),
        ranking_(task.ranking),
        estimator_(pairwise_estimator(acquisition.divergence())),
        base_(num_threads(task.executor)) {}

  void score(std::span<const double> inputs, std::span<Ranked> rows, std::size_t thread) override {
    model_.predict_base(inputs, base_[thread]);
    const Uncertainty uncertainty = estimate(estimator_, base_[thread].view());
    for (std::size_t k = 0; k < rows.size(); ++k) {
      rank(rows[k], ranked_by(ranking_, uncertainty.epistemic[k], uncertainty.log_deficit[k]));
    }
  }

 private:
  const Ensemble& model_;
  Ranking ranking_;
  Estimator estimator_;
  std::vector<Mixture<float>> base_;  // of each thread
};

// Scores by the lower end of `bounds`: the largest Chernoff estimate over alpha.
class BestChernoffScorer : public RowScorer {
 public:
  explicit BestChernoffScorer(const AcquisitionTask& task)
      : model_(task.model), ranking_(task.ranking), estimator_(parse_estimator("bounds")) {}

  void score(std::span<const double> inputs, std::span<Ranked> rows, std::size_t) override {
    Mixture<float> base;
    model_.predict_base(inputs, base);
    const Uncertainty uncertainty = estimate(estimator_, base.view());
    const std::vector<double>& lower = uncertainty.extra("lower");
    const std::vector<double>& log_deficit = uncertainty.extra("lower_log_deficit");
    for (std::size_t k = 0; k < rows.size(); ++k) {
      rank(rows[k], ranked_by(ranking_, lower[k], log_deficit[k]));
    }
  }

 private:
  const Ensemble& model_;
  Ranking ranking_;
  Estimator estimator_;
};

class MonteCarloScorer : public RowScorer {
 public:
  MonteCarloScorer(const Acquisition& acquisition, const AcquisitionTask& task)
      : model_(task.model),
        ranking_(task.ranking),
        noise_(model_.weights(), acquisition.num_samples(), model_.num_outputs(), task.stream, kNoiseDraw),
        no_ratios_(no_ratios(noise_)) {}

  std::size_t block_rows() const override { return 20; }  // each takes long

  void score(std::span<const double> inputs, std::span<Ranked> rows, std::size_t) override {
    std::vector<double> log_deficit(rows.size());
    sampled_log_deficit(noise_, model_.predict(inputs).view(), no_ratios_, log_deficit);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double epistemic = std::max(0.0, model_.weights().entropy - std::exp(log_deficit[k]));
      rank(rows[k], ranked_by(ranking_, epistemic, log_deficit[k]));
    }
  }

 private:
  const Ensemble& model_;
  Ranking ranking_;
  SampleNoise noise_;
  ChosenRatios no_ratios_;
};

}  // namespace

std::unique_ptr<RowScorer> random_scorer(const Acquisition&, const AcquisitionTask& task) {
  return std::make_unique<RandomScorer>(task);
}

std::unique_ptr<RowScorer> variance_scorer(const Acquisition&, const AcquisitionTask& task) {
  return std::make_unique<VarianceScorer>(task);
}

std::unique_ptr<RowScorer> pairwise_scorer(const Acquisition& acquisition, const AcquisitionTask& task) {
  return std::make_unique<PairwiseScorer>(acquisition, task);
}

std::unique_ptr<RowScorer> best_chernoff_scorer(const Acquisition&, const AcquisitionTask& task) {
  return std::make_unique<BestChernoffScorer>(task);
}

std::unique_ptr<RowScorer> monte_carlo_scorer(const Acquisition& acquisition, const AcquisitionTask& task) {
  return std::make_unique<MonteCarloScorer>(acquisition, task);
}

}  // namespace dissent
