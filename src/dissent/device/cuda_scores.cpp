#include "dissent/device/cuda_scores.hpp"

#include <algorithm>
#include <mutex>

#include "dissent/device/score_stream.hpp"

namespace dissent {
namespace {

using score::Finish;
using score::FormKind;
using score::HostWeights;
using score::PairwiseRule;
using score::Part;

struct FormOfDivergence {
  std::string_view name;
  FormKind form;
  Finish finish = Finish::kSame;
};

constexpr FormOfDivergence kForms[] = {{"kl", FormKind::kKl},
                                       {"jeffreys", FormKind::kKl, Finish::kJeffreys},
                                       {"bhattacharyya", FormKind::kBhattacharyya},
                                       {"chernoff", FormKind::kChernoff},
                                       {"renyi", FormKind::kChernoff, Finish::kRenyi},
                                       {"hellinger", FormKind::kBhattacharyya, Finish::kHellinger},
                                       {"wasserstein", FormKind::kWasserstein}};

constexpr std::size_t kColumns = 3;  // epistemic, log_deficit, aleatoric

score::Results results_of(double* columns, std::size_t count, unsigned long long* first_invalid) {
  return {columns, columns + count, columns + 2 * count, first_invalid};
}

HostWeights host_weights(const Weights& weights) { return {weights.value, weights.log, weights.entropy}; }

// A float cannot hold the inverse of every weight.
template <class T>
bool weights_fit(const Weights& weights) {
  return sizeof(T) == 8 || std::ranges::all_of(weights.value, [](double w) { return w == 0 || w > 1e-12; });
}

class CudaScores final : public ScoreDevice {
 public:
  explicit CudaScores(int card) : card_(card) {}

  bool takes(const Estimator& estimator, const MixtureView<float>& mixture) const override {
    return takes_any(estimator, mixture);
  }
  bool takes(const Estimator& estimator, const MixtureView<double>& mixture) const override {
    return takes_any(estimator, mixture);
  }
  Uncertainty estimate(const Estimator& estimator, const MixtureView<float>& mixture,
                       const EstimateOptions& options) override {
    return estimate_any(estimator, mixture, options);
  }
  Uncertainty estimate(const Estimator& estimator, const MixtureView<double>& mixture,
                       const EstimateOptions& options) override {
    return estimate_any(estimator, mixture, options);
  }

 private:
  template <class T>
  bool takes_any(const Estimator& estimator, const MixtureView<T>& mixture) const {
    return estimator.info->divergence != nullptr && pairwise_rule(estimator.divergence) && mixture.diagonal() &&
           mixture.num_components <= score::kMostComponents && mixture.num_outputs <= (1U << 20) &&
           score::fits_card<T>(static_cast<int>(mixture.num_components), static_cast<int>(mixture.num_outputs)) &&
           weights_fit<T>(*mixture.weights);
  }

  template <class T>
  Uncertainty estimate_any(const Estimator& estimator, const MixtureView<T>& mixture, const EstimateOptions& options) {
    const PairwiseRule rule = *pairwise_rule(estimator.divergence);
    const HostWeights weights = host_weights(*mixture.weights);
    Uncertainty result = Uncertainty::of(mixture.num_inputs);
    const score::PartWork<T> work{
        .scratch_size = [](std::size_t) { return std::size_t{0}; },
        .results_size = [](std::size_t count) { return kColumns * count; },
        .launch =
            [&](const Part<T>& part) {
              const auto count = static_cast<std::size_t>(part.rows.num_inputs);
              score::launch_pairwise(rule, part.rows, results_of(part.results, count, part.first_invalid), weights,
                                     part.stream);
            },
        .collect =
            [&](std::size_t begin, std::size_t count, const double* columns) {
              std::copy_n(columns, count, result.epistemic.begin() + static_cast<std::ptrdiff_t>(begin));
              std::copy_n(columns + count, count, result.log_deficit.begin() + static_cast<std::ptrdiff_t>(begin));
              std::copy_n(columns + 2 * count, count, result.aleatoric.begin() + static_cast<std::ptrdiff_t>(begin));
            }};
    run(mixture, options, work);
    result.set_aleatoric(std::move(result.aleatoric));
    return result;
  }

  template <class T>
  void run(const MixtureView<T>& mixture, const EstimateOptions& options, const score::PartWork<T>& work) {
    const std::lock_guard lock(mutex_);
    DISSENT_CUDA(cudaSetDevice(card_));
    if (!stream_) {
      stream_.emplace();
    }
    stream_->run(mixture, options.executor, options.first_input, work);
  }

  int card_;
  std::mutex mutex_;
  std::optional<score::ScoreStream> stream_;
};

}  // namespace

std::optional<PairwiseRule> pairwise_rule(const Divergence& divergence) {
  const auto found = std::ranges::find(kForms, divergence.info->name, &FormOfDivergence::name);
  if (found == std::end(kForms) || (found->form == FormKind::kChernoff && divergence.alpha >= 1)) {
    return std::nullopt;
  }
  return PairwiseRule{found->form, divergence.alpha, {found->finish, divergence.alpha}};
}

std::unique_ptr<ScoreDevice> make_cuda_scores(int card) { return std::make_unique<CudaScores>(card); }

}  // namespace dissent
