#include "dissent/device/score_pool.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/device/cuda_card.hpp"
#include "dissent/device/cuda_memory.hpp"
#include "dissent/device/device_error.hpp"
#include "dissent/device/score_compare.hpp"
#include "dissent/device/score_methods.hpp"

namespace dissent {
namespace {

// Pinned memory and memory on the card for the same values.
template <class T>
struct Mirrored {
  explicit Mirrored(std::size_t size) : host(size), card(size), size(size) {}

  void send(cudaStream_t stream) {
    DISSENT_CUDA(cudaMemcpyAsync(card.data(), host.data(), size * sizeof(T), cudaMemcpyHostToDevice, stream));
  }
  void fetch(cudaStream_t stream) {
    DISSENT_CUDA(cudaMemcpyAsync(host.data(), card.data(), size * sizeof(T), cudaMemcpyDeviceToHost, stream));
  }

  PinnedBuffer<T> host;
  PooledBuffer<T> card;
  std::size_t size;
};

class CardCandidates final : public JointCandidates {
 public:
  template <class T>
  CardCandidates(const score::PairwiseRule& rule, const score::Rows<T>& rows, const Weights& weights,
                 PoolOnDevice::Scores scores, const CudaStream& stream)
      : card_(current_card()),
        stream_(stream),
        scores_(std::move(scores)),
        of_(paired_components(JointPairs(weights))),
        divergences_(num_pairs() * scores_.epistemic.size()),
        sums_(num_pairs()),
        of_row_(num_pairs()),
        information_(scores_.epistemic.size()),
        last_(stream) {
    score::launch_compare(rule, rows, of_, kLargestDivergence, divergences_.data(), stream_);
    stream_.wait();
  }
  CardCandidates(const CardCandidates&) = delete;
  CardCandidates& operator=(const CardCandidates&) = delete;

  std::span<const double> epistemic() const override { return scores_.epistemic; }
  std::span<const double> log_deficit() const override { return scores_.log_deficit; }

  std::span<const float> divergences(std::size_t row) override {
    const CurrentCard current(card_);
    score::launch_pick(of_, all(), static_cast<long long>(row), of_row_.card.data(), stream_);
    of_row_.fetch(stream_);
    stream_.wait();
    return {of_row_.host.data(), of_row_.size};
  }

  std::span<const float> information(const RunningSums& sums) override {
    const CurrentCard current(card_);
    std::ranges::copy(sums.running, sums_.host.data());
    sums_.send(stream_);
    score::launch_information(of_, all(), sums_.card.data(), sums.taken_off > 0, information_.card.data(), stream_);
    information_.fetch(stream_);
    stream_.wait();
    return {information_.host.data(), information_.size};
  }

 private:
  std::size_t num_pairs() const { return static_cast<std::size_t>(of_.num_pairs()); }
  score::Divergences all() const { return {divergences_.data(), static_cast<long long>(scores_.epistemic.size())}; }

  int card_;
  const CudaStream& stream_;  // of the pool
  PoolOnDevice::Scores scores_;
  score::PairedComponents of_;
  PooledBuffer<float> divergences_;  // [pairs][N]
  Mirrored<float> sums_;             // [pairs]
  Mirrored<float> of_row_;           // [pairs]
  Mirrored<float> information_;      // [N]
  WaitAtEnd last_;                   // goes first
};

template <class T>
class CardPool final : public PoolOnDevice {
 public:
  CardPool(const MixtureView<T>& mixture, ScoreDevice& device)
      : card_(current_card()), mixture_(mixture), device_(device) {}
  ~CardPool() override {
    if (compared_) {
      PooledMemory::trim(card_);  // it took much more than a fit does
    }
  }
  CardPool(const CardPool&) = delete;
  CardPool& operator=(const CardPool&) = delete;

  std::size_t num_rows() const override { return mixture_.num_inputs; }
  std::size_t num_outputs() const override { return mixture_.num_outputs; }
  const Weights& weights() const override { return *mixture_.weights; }

  Scores score(const Divergence& divergence) override {
    const CurrentCard current(card_);
    return in_memory(kBytesScored, [&] { return scores_of(divergence); });
  }

  std::unique_ptr<JointCandidates> compare(const Divergence& divergence) override {
    const CurrentCard current(card_);
    compared_ = true;
    return in_memory(bytes_compared(), [&]() -> std::unique_ptr<JointCandidates> {
      Scores scores = scores_of(divergence);  // it checks that there is a kernel
      const score::PairwiseRule rule = *score::pairwise_rule(pairwise_estimator(divergence));
      return std::make_unique<CardCandidates>(rule, rows_there(), weights(), std::move(scores), stream_);
    });
  }

  Mixture<double> rows(std::span<const std::size_t> numbers, std::span<const std::size_t> outputs) override {
    const CurrentCard current(card_);
    Mixture<double> found = Mixture<double>::diagonal(numbers.size(), mixture_.num_components, outputs.size());
    found.weights = weights();
    if (!found.mean.empty()) {
      in_memory(bytes_compared(), [&] { fetch(numbers, outputs, found); });
    }
    return found;
  }

 private:
  static constexpr double kBytesScored = 4 * sizeof(double);  // of a row, for its scores
  double bytes_compared() const {                             // of a row, for its divergences or its scores
    const double M = static_cast<double>(mixture_.num_components);
    return std::max(kBytesScored, sizeof(float) * (M * (M - 1) + 1));
  }

  score::Rows<T> rows_there() const {
    return {mixture_.mean, mixture_.stddev, static_cast<long long>(mixture_.num_inputs),
            static_cast<int>(mixture_.num_components), static_cast<int>(mixture_.num_outputs)};
  }

  Scores scores_of(const Divergence& divergence) {
    const std::size_t N = mixture_.num_inputs;
    const std::shared_ptr<double> columns = device_.estimate_there(pairwise_estimator(divergence), mixture_);
    Scores scores{std::vector<double>(N), std::vector<double>(N)};
    device_.copy_to_host(columns.get(), N, scores.epistemic.data());
    device_.copy_to_host(columns.get() + 3 * N, N, scores.log_deficit.data());
    return scores;
  }

  void fetch(std::span<const std::size_t> numbers, std::span<const std::size_t> outputs, Mixture<double>& found) {
    const std::size_t size = found.mean.size();
    std::vector<long long> wanted(numbers.begin(), numbers.end());
    wanted.insert(wanted.end(), outputs.begin(), outputs.end());
    PooledBuffer<long long> wanted_there(wanted.size());
    PooledBuffer<double> values(2 * size);
    const WaitAtEnd end(stream_);
    DISSENT_CUDA(cudaMemcpyAsync(wanted_there.data(), wanted.data(), wanted.size() * sizeof(long long),
                                 cudaMemcpyHostToDevice, stream_));
    const score::FetchedPart part{wanted_there.data(), wanted_there.data() + numbers.size(),
                                  static_cast<long long>(numbers.size()), static_cast<long long>(outputs.size())};
    score::launch_fetch(rows_there(), part, values.data(), values.data() + size, stream_);
    copy(values.data(), found.mean);
    copy(values.data() + size, found.stddev);
    stream_.wait();  // it throws, which the end does not
  }

  void copy(const double* from, std::vector<double>& to) const {
    DISSENT_CUDA(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(double), cudaMemcpyDeviceToHost, stream_));
  }

  // Says what to do if the card has no room for so many bytes of each row.
  template <class Body>
  auto in_memory(double bytes, const Body& body) const {
    try {
      return body();
    } catch (const DeviceMemoryError& error) {
      const double megabytes = bytes * static_cast<double>(mixture_.num_inputs) / 1e6;
      throw DeviceMemoryError(fmt::format(
          "{}: the choice among {} rows of {} components takes {} of the card's memory; free some of it, choose among "
          "fewer rows, or bring the arrays to the host",
          error.what(), mixture_.num_inputs, mixture_.num_components,
          megabytes < 1000 ? fmt::format("{:.1f} MB", megabytes) : fmt::format("{:.1f} GB", megabytes / 1000)));
    }
  }

  int card_;
  MixtureView<T> mixture_;
  ScoreDevice& device_;
  bool compared_ = false;
  CudaStream stream_ = CudaStream::urgent();  // training that fills the card would keep each pick waiting
};

}  // namespace

template <class T>
std::unique_ptr<PoolOnDevice> make_pool(const MixtureView<T>& mixture, ScoreDevice& device) {
  return std::make_unique<CardPool<T>>(mixture, device);
}

template std::unique_ptr<PoolOnDevice> make_pool(const MixtureView<float>&, ScoreDevice&);
template std::unique_ptr<PoolOnDevice> make_pool(const MixtureView<double>&, ScoreDevice&);

}  // namespace dissent
