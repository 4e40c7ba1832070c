#include "dissent/acquisition/categorical.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/estimator/categorical.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlockRows = 64;

struct Method {
  ClassEstimator estimator = {};
  bool joint = false;
  bool random = false;
};

Method parse_method(std::string_view text) {
  if (text == "exact") {
    return {};
  }
  const Acquisition acquisition = Acquisition::parse(text);
  const AcquisitionInfo& info = acquisition.info();
  if (!info.uses_model) {
    return {.random = true};
  }
  const bool joint = info.name.ends_with("-joint");
  check(info.divergence != nullptr && (joint || info.name == info.divergence->name),
        "acquisition '{}' is not for probabilities of classes; choose exact, a divergence such as kl or kl-joint, or "
        "random",
        text);
  return {.estimator = {acquisition.divergence()}, .joint = joint};
}

// The same check as Acquisition::check_model(); `exact` is not in the registry.
void check_components(std::string_view acquisition, const Weights& weights) {
  const auto weighted = std::ranges::count_if(weights.value, [](double weight) { return weight > 0; });
  check(weighted >= 2,
        "acquisition '{}' needs at least two components of weight > 0, for it looks at where they differ; there is {}",
        acquisition, weighted);
}

// The score of picks that tell nothing: -ln H(w), or an estimate of 0.
double nothing_told(const ClassTask& task) {
  return task.ranking == Ranking::kValue ? 0 : -std::log(task.classes.weights->entropy);
}

// What a row adds. Picks that exclude all components but one have told everything: their score is infinite.
double gain(double before, double after) { return std::isinf(before) ? 0 : after - before; }

// Greedily the largest joint estimate: the divergences of the picks so far are added to those of each row.
class JointClasses {
 public:
  JointClasses(const Divergence& divergence, const ClassTask& task)
      : task_(task), num_pairs_(task.classes.num_components * task.classes.num_components) {
    const std::size_t num_rows = task.classes.num_inputs;
    pairs_.resize(num_rows * num_pairs_);
    picked_.resize(num_pairs_);
    joint_.resize(num_rows);
    for_rows([&](std::size_t n, std::vector<double>& own) {
      class_divergences(divergence, task.classes, n, own);
      std::ranges::transform(own, pairs_.begin() + static_cast<std::ptrdiff_t>(n * num_pairs_),
                             [](double value) { return static_cast<float>(value); });
    });
  }

  // The joint estimate of each row with the picks so far.
  const std::vector<Combined>& estimates() {
    for_rows([&](std::size_t n, std::vector<double>& own) {
      for (std::size_t k = 0; k < num_pairs_; ++k) {
        own[k] = picked_[k] + static_cast<double>(pairs_[n * num_pairs_ + k]);
      }
      joint_[n] = combine(*task_.classes.weights, own);
    });
    return joint_;
  }

  void pick(std::size_t row) {
    for (std::size_t k = 0; k < num_pairs_; ++k) {
      picked_[k] += static_cast<double>(pairs_[row * num_pairs_ + k]);
    }
  }

 private:
  template <class Body>
  void for_rows(const Body& body) {
    for_blocks(
        task_.executor, task_.classes.num_inputs, kBlockRows, [&] { return std::vector<double>(num_pairs_); },
        [&](std::size_t begin, std::size_t end, std::vector<double>& own) {
          for (std::size_t n = begin; n < end; ++n) {
            body(n, own);
          }
        });
  }

  const ClassTask& task_;
  std::size_t num_pairs_;
  std::vector<float> pairs_;    // [N][M][M]
  std::vector<double> picked_;  // [M][M], sums over the picks
  std::vector<Combined> joint_;
};

}  // namespace

Choice choose_classes(std::string_view acquisition, const ClassTask& task) {
  const Method method = parse_method(acquisition);
  const std::size_t num_rows = task.classes.num_inputs;
  check(task.batch > 0, "a batch of 0; at least one row must be chosen");
  check(task.batch <= num_rows, "a batch of {} from {} candidates; there must be as many candidates as picks",
        task.batch, num_rows);
  if (!method.random) {
    check_components(acquisition, *task.classes.weights);
  }
  if (task.utilities != nullptr) {
    task.utilities->clear();
  }
  const Uncertainty alone = estimate(method.estimator, task.classes, {.executor = task.executor});
  std::optional<JointClasses> joint;
  if (method.joint) {
    joint.emplace(*method.estimator.divergence, task);
  }
  GreedyPicks picks(task.stream, num_rows, task.utilities);
  Choice choice;
  double told = nothing_told(task);
  for (std::size_t pick = 0; pick < task.batch; ++pick) {
    const std::vector<Combined>* together = joint && pick > 0 ? &joint->estimates() : nullptr;
    const auto rank = [&](std::size_t n) {
      if (method.random) {
        return Ranked{.score = task.stream.substream(n).uniform()};
      }
      return together != nullptr ? ranked_by(task.ranking, (*together)[n].epistemic, (*together)[n].log_deficit)
                                 : ranked_by(task.ranking, alone.epistemic[n], alone.log_deficit[n]);
    };
    const auto worth = [&](const Ranked& row) { return joint ? gain(told, row.score) : row.score; };
    const Ranked best = picks.take_best(rank, worth);
    choice.rows.push_back(best.row);
    choice.scores.push_back(worth(best));
    choice.epistemic.push_back(alone.epistemic[best.row]);
    choice.aleatoric.push_back(alone.aleatoric[best.row]);
    if (joint) {
      joint->pick(best.row);
      told = best.score;
    }
  }
  return choice;
}

}  // namespace dissent
