// With S the divergences between components, summed over a set of labels, the pairwise estimate of what the set tells
// about the component is J(S) = -sum_i w_i ln sum_j w_j exp(-S_ij). Labels are independent given the component, so
//   I(picks, x; a) = J(S_picks + S_x) + J(S_a) - J(S_picks + S_x + S_a).
// exp(-S) of a sum is a product: the last term takes a multiplication for each pair, x and a, and no exponential.
//
// Outputs form groups, whose information is added. If a group's components typically differ by more than a nat, its
// divergences are divided by a temperature and its information is multiplied by it: at ln(M) nats nothing would be left
// to tell rows apart. Once the picks tell the components apart in every group, a candidate is worth the disagreement
// that the picks leave there (residual.hpp).
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "dissent/acquisition/aim_information.hpp"
#include "dissent/acquisition/aim_kernel.hpp"
#include "dissent/acquisition/residual.hpp"
#include "dissent/divergence/pairwise.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlock = PairwiseDivergences::kBlock;
constexpr std::size_t kMostGroups = 4;
constexpr double kNatsApart = 1;              // on average between components, at most
constexpr std::size_t kMostComponents = 100;  // work and memory grow with their square

using Outputs = std::vector<std::size_t>;

std::vector<Outputs> grouped(std::span<const std::size_t> outputs) {
  std::vector<Outputs> groups(std::min(kMostGroups, outputs.size()));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    groups[k % groups.size()].push_back(outputs[k]);
  }
  return groups;
}

// Only these components and the outputs of a group.
Mixture<float> slice(const Mixture<float>& from, std::span<const std::size_t> components, const Outputs& outputs) {
  Mixture<float> to;
  to.num_inputs = from.num_inputs;
  to.num_components = components.size();
  to.num_outputs = outputs.size();
  to.mean.reserve(to.num_inputs * components.size() * outputs.size());
  to.stddev.reserve(to.mean.capacity());
  for (std::size_t n = 0; n < from.num_inputs; ++n) {
    for (const std::size_t m : components) {
      for (const std::size_t d : outputs) {
        const std::size_t at = (n * from.num_components + m) * from.num_outputs + d;
        to.mean.push_back(from.mean[at]);
        to.stddev.push_back(from.stddev[at]);
      }
    }
  }
  return to;
}

// Those that count. If there are very many, evenly spaced ones, which tell nearly as much.
std::vector<std::size_t> components_of(const Weights& weights) {
  std::vector<std::size_t> all;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    if (weights.value[m] >= kLeastJointWeight) {
      all.push_back(m);
    }
  }
  std::vector<std::size_t> some;
  for (std::size_t k = 0; k < std::min(all.size(), kMostComponents); ++k) {
    some.push_back(all[k * all.size() / std::min(all.size(), kMostComponents)]);
  }
  return some;
}

Weights weights_of(const Weights& weights, std::span<const std::size_t> components) {
  std::vector<double> value;
  double sum = 0;
  for (const std::size_t m : components) {
    value.push_back(weights.value[m]);
    sum += value.back();
  }
  for (double& weight : value) {
    weight /= sum;
  }
  return Weights::from(value, value.size());
}

// The median over rows of the mean over pairs.
double typical(Panel<const float> panel, std::size_t count) {
  std::vector<double> means(count);
  for (std::size_t k = 0; k < panel.rows; ++k) {
    for (std::size_t n = 0; n < count; ++n) {
      means[n] += static_cast<double>(panel(k, n)) / static_cast<double>(panel.rows);
    }
  }
  const auto middle = means.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::ranges::nth_element(means, middle);
  return *middle;
}

class PairwiseInformation : public AimInformation {
 public:
  PairwiseInformation(const Divergence& divergence, const AimTask& task)
      : divergence_(divergence),
        model_(task.model),
        executor_(task.executor),
        components_(components_of(task.model.weights())),
        weights_(weights_of(task.model.weights(), components_)),
        pairs_(weights_),
        num_aim_(task.aim.size() / task.model.num_input_columns()) {
    const std::vector<Outputs> groups = grouped(task.outputs);
    for (const Outputs& outputs : groups) {
      groups_.push_back({.outputs = outputs});
    }
    Panels aim = divergences_at(task.aim, executor_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Group& group = groups_[g];
      group.temperature = std::max(1.0, typical(aim[g].panel(), num_aim_) / kNatsApart);
      exponentiate(group, aim[g].panel(), num_aim_);
      group.aim = std::move(aim[g]);
      group.picks = PanelBuffer<float>(pairs_.pairs.size(), 1);
      for (std::size_t k = 0; k < pairs_.pairs.size(); ++k) {
        multiply(group.aim.panel().row(k), num_aim_, pairs_.pairs[k].weight);
        group.picks.panel()(k, 0) = pairs_.pairs[k].weight;
      }
      group.before = sum_at(group, ones().panel(), 1)[0];
    }
  }

  void alone(std::span<const double> rows, std::span<double> gain) const override {
    const std::size_t C = model_.num_input_columns();
    for_blocks(executor_, gain.size(), kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
      const Panels block = factors_at(rows.subspan(begin * C, (end - begin) * C), nullptr);
      fill_gains(block, 0, gain.subspan(begin, end - begin));
    });
  }

  void begin(std::span<const double> candidates) override {
    candidates_ = factors_at(candidates, executor_);
    inputs_.assign(candidates.begin(), candidates.end());
  }

  void gains(std::span<double> gain) const override {
    if (residual_) {
      residual_->left(gain);
      return;
    }
    for_blocks(executor_, gain.size(), kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
      fill_gains(candidates_, begin, gain.subspan(begin, end - begin));
    });
  }

  void take(std::size_t candidate) override {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Group& group = groups_[g];
      for (std::size_t k = 0; k < pairs_.pairs.size(); ++k) {
        const float own = candidates_[g].panel()(k, candidate);
        multiply(group.aim.panel().row(k), num_aim_, own);
        multiply(group.picks.panel().row(k), 1, own);
      }
      group.before = sum_at(group, ones().panel(), 1)[0];
    }
    picks_.push_back(candidate);
    if (residual_) {
      residual_->take(candidate);
    } else if (all_told()) {
      begin_residual();
    }
  }

 private:
  using Panels = std::vector<PanelBuffer<float>>;  // of each group: [pairs][rows]

  struct Group {
    Outputs outputs;
    double temperature = 1;
    PanelBuffer<float> aim = {};    // [pairs][A]: w_j exp(-divergence) of a row of the aim and the picks
    PanelBuffer<float> picks = {};  // [pairs][1]: of the picks only
    double before = 0;              // sum_at() without a candidate
  };

  static void multiply(float* values, std::size_t count, float by) {
    std::transform(values, values + count, values, [by](float value) { return value * by; });
  }

  static void exponentiate(const Group& group, Panel<float> panel, std::size_t count) {
    for (std::size_t k = 0; k < panel.rows; ++k) {
      Eigen::Map<Eigen::ArrayXf> row(panel.row(k), static_cast<Eigen::Index>(count));
      row = (row / static_cast<float>(-group.temperature)).exp();
    }
  }

  PanelBuffer<float> ones() const {
    PanelBuffer<float> result(pairs_.pairs.size(), 1);
    for (std::size_t k = 0; k < pairs_.pairs.size(); ++k) {
      result.panel()(k, 0) = 1;
    }
    return result;
  }

  Panels divergences_at(std::span<const double> rows, Executor* executor) const {
    const std::size_t C = model_.num_input_columns();
    const std::size_t M = components_.size();
    const std::size_t num_rows = rows.size() / C;
    Panels result;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      result.emplace_back(pairs_.pairs.size(), num_rows);
    }
    for_blocks(executor, num_rows, kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
      Mixture<float> mixture;
      model_.predict_base(rows.subspan(begin * C, (end - begin) * C), mixture);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const Mixture<float> part = slice(mixture, components_, groups_[g].outputs);
        PairwiseDivergences divergences(divergence_, M, part.num_outputs);
        divergences.compute(part.view(), 0, end - begin, begin);
        copy_pairs(pairs_, divergences, end - begin, result[g].panel(), begin);
      }
    });
    return result;
  }

  // exp(-divergence / temperature).
  Panels factors_at(std::span<const double> rows, Executor* executor) const {
    Panels result = divergences_at(rows, executor);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      exponentiate(groups_[g], result[g].panel(), rows.size() / model_.num_input_columns());
    }
    return result;
  }

  // Whether the picks leave next to nothing of H(w), in every group.
  bool all_told() const {
    const PanelBuffer<float> none = ones();
    return std::ranges::all_of(groups_, [&](const Group& group) {
      double told = 0;
      aim_sums(pairs_, none.panel(), 1, group.picks.panel(), 1, &told);
      return -told > (1 - kLeftWhenTold) * weights_.entropy;
    });
  }

  void begin_residual() {
    Outputs outputs;
    for (const Group& group : groups_) {
      outputs.insert(outputs.end(), group.outputs.begin(), group.outputs.end());
    }
    residual_.emplace(model_, inputs_, outputs, executor_);
    for (const std::size_t pick : picks_) {
      residual_->take(pick);
    }
  }

  // J(picks and x) - mean over the aim of J(picks, x and a), for each x.
  std::vector<double> sum_at(const Group& group, Panel<const float> factors, std::size_t count) const {
    std::vector<double> with_aim(count);
    std::vector<double> without(count);
    aim_sums(pairs_, factors, count, group.aim.panel(), num_aim_, with_aim.data());
    aim_sums(pairs_, factors, count, group.picks.panel(), 1, without.data());
    for (std::size_t n = 0; n < count; ++n) {
      with_aim[n] = with_aim[n] / static_cast<double>(num_aim_) - without[n];
    }
    return with_aim;
  }

  void fill_gains(const Panels& factors, std::size_t begin, std::span<double> gain) const {
    std::ranges::fill(gain, 0.0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Panel<const float> all = factors[g].panel();
      const std::vector<double> sum = sum_at(groups_[g], {all.data + begin, all.rows, all.stride}, gain.size());
      for (std::size_t n = 0; n < gain.size(); ++n) {
        gain[n] += groups_[g].temperature * (sum[n] - groups_[g].before);
      }
    }
  }

  Divergence divergence_;
  const Ensemble& model_;
  Executor* executor_;
  std::vector<std::size_t> components_;  // that are compared
  Weights weights_;                      // of those
  JointPairs pairs_;
  std::size_t num_aim_;
  std::vector<Group> groups_;
  Panels candidates_;
  std::vector<double> inputs_;  // of the candidates
  std::vector<std::size_t> picks_;
  std::optional<ResidualDisagreement> residual_;  // set once the picks tell all
};

}  // namespace

std::unique_ptr<AimInformation> pairwise_information(const Divergence& divergence, const AimTask& task) {
  return std::make_unique<PairwiseInformation>(divergence, task);
}

}  // namespace dissent
