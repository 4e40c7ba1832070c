#include "dissent/device/cuda_scores.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "dissent/device/device_error.hpp"
#include "dissent/device/score_joint.hpp"
#include "dissent/device/score_methods.hpp"
#include "dissent/device/score_pointers.hpp"
#include "dissent/device/score_pool.hpp"
#include "dissent/device/score_stream.hpp"
#include "dissent/device/score_top.hpp"

namespace dissent {
namespace {

using score::Method;
using score::Part;

constexpr std::size_t kColumns = 3;  // epistemic, log_deficit, aleatoric; extras follow

score::Columns columns_of(double* columns, std::size_t count, unsigned long long* first_invalid) {
  return {{columns, columns + count, columns + 2 * count, nullptr, first_invalid}, columns + kColumns * count};
}

// Copies one column of a part's results to its place.
void place(const double* column, std::size_t begin, std::size_t count, std::vector<double>& to) {
  std::copy_n(column, count, to.begin() + static_cast<std::ptrdiff_t>(begin));
}

// Doubles in a RankedInput, for memory that is counted in doubles.
constexpr std::size_t kRankedDoubles = sizeof(score::RankedInput) / sizeof(double);

bool before(const ScoreDevice::Ranked& a, const ScoreDevice::Ranked& b) {
  return score::RankedInput{a.log_deficit, a.epistemic, static_cast<long long>(a.input)}.before(
      {b.log_deficit, b.epistemic, static_cast<long long>(b.input)});
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
  std::vector<Ranked> most_uncertain(const Estimator& estimator, const MixtureView<float>& mixture, std::size_t count,
                                     const EstimateOptions& options) override {
    return top_any(estimator, mixture, count, options);
  }
  std::vector<Ranked> most_uncertain(const Estimator& estimator, const MixtureView<double>& mixture, std::size_t count,
                                     const EstimateOptions& options) override {
    return top_any(estimator, mixture, count, options);
  }
  std::unique_ptr<RowsOnDevice> take_rows(const MixtureView<double>& mixture) override {
    const CurrentCard current(card_);
    try {
      return make_joint_rows(mixture);
    } catch (const DeviceMemoryError&) {
      return nullptr;
    }
  }
  std::shared_ptr<double> estimate_there(const Estimator& estimator, const MixtureView<float>& mixture) override {
    const Selected selected = select();
    prepare();
    return score_pointers(estimator, mixture, *queue_);
  }
  std::shared_ptr<double> estimate_there(const Estimator& estimator, const MixtureView<double>& mixture) override {
    const Selected selected = select();
    prepare();
    return score_pointers(estimator, mixture, *queue_);
  }
  std::vector<std::size_t> top_there(const double* epistemic, const double* log_deficit, std::size_t num_inputs,
                                     std::size_t count) override {
    const Selected selected = select();
    prepare();
    return top_pointers({epistemic, log_deficit, num_inputs}, count, *queue_);
  }
  std::unique_ptr<PoolOnDevice> pool_there(const MixtureView<float>& mixture) override { return pool_any(mixture); }
  std::unique_ptr<PoolOnDevice> pool_there(const MixtureView<double>& mixture) override { return pool_any(mixture); }
  std::uintptr_t queue() override {
    const Selected selected = select();
    prepare();
    return reinterpret_cast<std::uintptr_t>(static_cast<cudaStream_t>(*queue_));
  }
  void copy_to_host(const double* from, std::size_t count, double* to) override {
    const Selected selected = select();
    prepare();
    DISSENT_CUDA(cudaMemcpy(to, from, count * sizeof(double), cudaMemcpyDeviceToHost));
  }

 private:
  // One thread at a time, on this card.
  struct Selected {
    std::unique_lock<std::mutex> lock;
    CurrentCard card;
  };
  Selected select() { return {std::unique_lock(mutex_), CurrentCard(card_)}; }

  // Makes the streams on first use; the card must be selected.
  void prepare() {
    if (!stream_) {
      stream_.emplace();
      queue_.emplace();
    }
  }

  template <class T>
  std::unique_ptr<PoolOnDevice> pool_any(const MixtureView<T>& mixture) {
    const Selected selected = select();
    prepare();
    queue_->wait();
    return make_pool(mixture, *this);
  }

  template <class T>
  bool takes_any(const Estimator& estimator, const MixtureView<T>& mixture) const {
    return mixture.diagonal() && score::method_for(estimator, mixture, {}).has_value();
  }

  template <class T>
  Uncertainty estimate_any(const Estimator& estimator, const MixtureView<T>& mixture, const EstimateOptions& options) {
    const Method<T> method = *score::method_for(estimator, mixture, options);
    Uncertainty result = Uncertainty::of(mixture.num_inputs, method.extras);
    const score::PartWork<T> work{
        .scratch_size = [](std::size_t) { return std::size_t{0}; },
        .results_size = [&](std::size_t count) { return (kColumns + method.extras.size()) * count; },
        .launch =
            [&](const Part<T>& part) {
              const auto count = static_cast<std::size_t>(part.rows.num_inputs);
              method.launch(part.rows, columns_of(part.results, count, part.first_invalid), part.begin, part.stream);
            },
        .collect =
            [&](std::size_t begin, std::size_t count, const double* columns) {
              place(columns, begin, count, result.epistemic);
              place(columns + count, begin, count, result.log_deficit);
              place(columns + 2 * count, begin, count, result.aleatoric);
              for (std::size_t k = 0; k < result.extras.size(); ++k) {
                place(columns + (kColumns + k) * count, begin, count, result.extras[k].values);
              }
            }};
    run(mixture, options, work);
    result.set_aleatoric(std::move(result.aleatoric));
    return result;
  }

  template <class T>
  std::vector<Ranked> top_any(const Estimator& estimator, const MixtureView<T>& mixture, std::size_t count,
                              const EstimateOptions& options) {
    if (count > score::kMostTop) {
      return top_of(estimate_any(estimator, mixture, options), count);
    }
    const Method<T> method = *score::method_for(estimator, mixture, options);
    const int wanted = static_cast<int>(count);
    const std::size_t num_columns = kColumns + method.extras.size();
    std::vector<Ranked> top;
    const score::PartWork<T> work{
        .scratch_size =
            [&](std::size_t inputs) {
              return num_columns * inputs +
                     kRankedDoubles * score::top_scratch_size(static_cast<long long>(inputs), wanted);
            },
        .results_size = [&](std::size_t) { return kRankedDoubles * count; },
        .launch =
            [&](const Part<T>& part) {
              const auto inputs = static_cast<std::size_t>(part.rows.num_inputs);
              const score::Columns columns = columns_of(part.scratch, inputs, part.first_invalid);
              method.launch(part.rows, columns, part.begin, part.stream);
              score::launch_top(columns.results.epistemic, columns.results.log_deficit, part.rows.num_inputs, wanted,
                                reinterpret_cast<score::RankedInput*>(part.scratch + num_columns * inputs),
                                reinterpret_cast<score::RankedInput*>(part.results), part.stream);
            },
        .collect =
            [&](std::size_t begin, std::size_t inputs, const double* results) {
              const auto* ranked = reinterpret_cast<const score::RankedInput*>(results);
              for (std::size_t k = 0; k < std::min(count, inputs); ++k) {
                top.push_back(
                    {begin + static_cast<std::size_t>(ranked[k].input), ranked[k].epistemic, ranked[k].log_deficit});
              }
              std::ranges::sort(top, before);
              top.resize(std::min(top.size(), count));
            }};
    if (count > 0) {
      run(mixture, options, work);
    }
    return top;
  }

  static std::vector<Ranked> top_of(const Uncertainty& scores, std::size_t count) {
    std::vector<Ranked> all;
    for (std::size_t n = 0; n < scores.size(); ++n) {
      all.push_back({n, scores.epistemic[n], scores.log_deficit[n]});
    }
    std::ranges::sort(all, before);
    all.resize(std::min(all.size(), count));
    return all;
  }

  template <class T>
  void run(const MixtureView<T>& mixture, const EstimateOptions& options, const score::PartWork<T>& work) {
    const Selected selected = select();
    prepare();
    stream_->run(mixture, options.executor, options.first_input, work);
  }

  int card_;
  std::mutex mutex_;
  std::optional<score::ScoreStream> stream_;  // made on first use
  std::optional<CudaStream> queue_;
};

}  // namespace

std::unique_ptr<ScoreDevice> make_cuda_scores(int card) { return std::make_unique<CudaScores>(card); }

}  // namespace dissent
