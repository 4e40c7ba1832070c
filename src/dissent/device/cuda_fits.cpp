#include "dissent/device/cuda_fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "dissent/device/cuda_memory.hpp"
#include "dissent/device/train_kernel.hpp"
#include "dissent/device/train_queue.hpp"
#include "dissent/device/train_shape.hpp"

namespace dissent {
namespace {

using device::DenseNet;
using device::TrainJob;
using device::TrainShape;

constexpr std::size_t kMostRows = std::size_t{1} << 29;  // rows are counted in 32 bits

// One fit on the card.
class CudaFit final : public DeviceFit {
 public:
  CudaFit(const FitProblem& problem, device::TrainQueue& queue, int card)
      : shape_(problem, device::most_shared()),
        queue_(queue),
        card_(card),
        joint_(problem.flow != nullptr),
        stream_(queue.copies()) {
    upload_rows(problem);
    prototype_ = make_prototype(problem);
  }
  CudaFit(const CudaFit&) = delete;
  CudaFit& operator=(const CudaFit&) = delete;
  ~CudaFit() override { queue_.give_back(std::move(host_)); }

  void run(std::span<const UnitEpochs> units, const FitBlocks& blocks, std::span<double> losses) override {
    const CurrentCard current(card_);
    const std::vector<TrainJob> jobs = upload(units, blocks);
    queue_.run(shape_.kind, shape_.memory, jobs);
    download(units, blocks, losses);
  }

 private:
  // Slices of a job.
  std::size_t num_slices() const { return static_cast<std::size_t>(shape_.kind.members * shape_.kind.slices); }

  void wait() {
    done_.record(stream_);
    done_.wait();
  }

  template <class T>
  static void copy_up(PooledBuffer<T>& to, std::span<const T> from, cudaStream_t stream) {
    to.reserve(std::max<std::size_t>(1, from.size()));
    DISSENT_CUDA(cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream));
  }

  void upload_rows(const FitProblem& problem) {
    const std::size_t D = problem.networks.num_outputs();
    std::vector<float> targets(problem.targets.begin(), problem.targets.end());
    if (problem.flow != nullptr) {
      const Permutation& permutation = problem.flow->layers().front().permutation();
      for (std::size_t row = 0; row < targets.size() / D; ++row) {
        for (std::size_t k = 0; k < D; ++k) {
          targets[row * D + k] = problem.targets[row * D + permutation[k]];
        }
      }
    }
    std::vector<std::uint32_t> samples;
    for (const std::span<const std::uint32_t> sample : problem.samples) {
      samples.insert(samples.end(), sample.begin(), sample.end());
    }
    const WaitAtEnd end(stream_);  // there may be no room for what comes after the first copies
    copy_up(inputs_, problem.inputs, stream_);
    copy_up<float>(targets_, targets, stream_);
    copy_up<std::uint32_t>(samples_, samples, stream_);
    copy_up<DenseNet>(networks_, shape_.networks, stream_);
    orders_.reserve(2 * static_cast<std::size_t>(shape_.kind.slices) * samples.size());
    const std::size_t units = joint_ ? 1 : shape_.networks.size();
    const std::size_t block = problem.networks.parameters().size();
    blocks_.reserve(4 * block);
    gradient_.reserve(num_slices() * block);
    scratch_.reserve(units * num_slices() * static_cast<std::size_t>(shape_.scratch_size));
    exchange_.reserve(units * 4 * device::kMaxSlices);
    losses_.reserve(units);
    // Gaps between networks stay zero. Scratch memory is read eight columns at a time, even if a layer has fewer.
    DISSENT_CUDA(cudaMemsetAsync(gradient_.data(), 0, num_slices() * block * sizeof(float), stream_));
    DISSENT_CUDA(cudaMemsetAsync(scratch_.data(), 0, scratch_.size() * sizeof(float), stream_));
    wait();
  }

  TrainJob make_prototype(const FitProblem& problem) {
    const std::size_t block = problem.networks.parameters().size();
    TrainJob job{};
    job.conditioner = shape_.conditioner;
    job.networks = networks_.data();
    job.num_components = static_cast<int>(shape_.networks.size());
    job.members = shape_.kind.members;
    job.slices = shape_.kind.slices;
    job.tile_rows = shape_.kind.rows;
    job.num_outputs = static_cast<int>(problem.networks.num_outputs());
    job.num_inputs = shape_.networks.front().layers[0].inputs;
    job.num_transformed = joint_ ? static_cast<int>(problem.flow->layers().front().num_transformed()) : 0;
    job.tail_bound = joint_ ? static_cast<float>(problem.flow->shape().transform.tail_bound) : 0;
    job.inputs = inputs_.data();
    job.targets = targets_.data();
    job.samples = samples_.data();
    job.orders = orders_.data();
    job.slice_orders = problem.samples.size() * problem.num_rows;
    job.draws = orders_.data() + static_cast<std::size_t>(job.slices) * job.slice_orders;
    job.num_rows = static_cast<int>(problem.num_rows);
    job.batch_size = static_cast<int>(problem.batch_size);
    job.seed = problem.seed;
    job.clip_norm = static_cast<float>(problem.options.clip_norm);
    job.parameters = blocks_.data();
    job.average = blocks_.data() + block;
    job.first_moment = blocks_.data() + 2 * block;
    job.second_moment = blocks_.data() + 3 * block;
    job.gradient = gradient_.data();
    job.block_size = static_cast<int>(block);
    job.scratch_size = shape_.scratch_size;
    return job;
  }

  std::vector<TrainJob> upload(std::span<const UnitEpochs> units, const FitBlocks& blocks) {
    std::vector<StepFactors> steps;
    for (const UnitEpochs& unit : units) {
      steps.insert(steps.end(), unit.steps.begin(), unit.steps.end());
    }
    steps_.reserve(steps.size());  // there may be no room for them, so before the copies begin
    std::vector<TrainJob> jobs;
    const StepFactors* of_unit = steps_.data();
    for (std::size_t k = 0; k < units.size(); ++k) {
      jobs.push_back(job_of(units[k], k, of_unit));
      of_unit += units[k].steps.size();
    }
    const std::size_t size = blocks.parameters.size();
    if (host_.size() < 4 * size) {
      host_ = queue_.borrow(4 * size);
    }
    float* to = host_.data();
    for (const std::span<float> part : {blocks.parameters, blocks.average, blocks.first_moment, blocks.second_moment}) {
      to = std::ranges::copy(part, to).out;
    }
    DISSENT_CUDA(
        cudaMemcpyAsync(blocks_.data(), host_.data(), 4 * size * sizeof(float), cudaMemcpyHostToDevice, stream_));
    DISSENT_CUDA(cudaMemcpyAsync(steps_.data(), steps.data(), steps.size() * sizeof(StepFactors),
                                 cudaMemcpyHostToDevice, stream_));
    wait();
    return jobs;
  }

  TrainJob job_of(const UnitEpochs& unit, std::size_t number, const StepFactors* steps) {
    TrainJob job = prototype_;
    if (!joint_) {
      const std::size_t rows = unit.unit * static_cast<std::size_t>(job.num_rows);
      job.networks += unit.unit;
      job.num_components = 1;
      job.first_component = static_cast<int>(unit.unit);
      job.samples += rows;
      job.orders += rows;
      job.draws += rows;
    }
    job.scratch = scratch_.data() + number * num_slices() * static_cast<std::size_t>(job.scratch_size);
    job.exchange = exchange_.data() + number * 4 * device::kMaxSlices;
    job.loss = losses_.data() + number;
    job.first_stream = unit.begin + unit.restarts * kRestartEpochs;
    job.num_epochs = static_cast<int>(unit.end - unit.begin);
    job.steps = steps;
    return job;
  }

  void download(std::span<const UnitEpochs> units, const FitBlocks& blocks, std::span<double> losses) {
    const std::size_t size = blocks.parameters.size();
    DISSENT_CUDA(
        cudaMemcpyAsync(host_.data(), blocks_.data(), 4 * size * sizeof(float), cudaMemcpyDeviceToHost, stream_));
    DISSENT_CUDA(
        cudaMemcpyAsync(losses.data(), losses_.data(), units.size() * sizeof(double), cudaMemcpyDeviceToHost, stream_));
    wait();
    const float* from = host_.data();
    for (const std::span<float> part : {blocks.parameters, blocks.average, blocks.first_moment, blocks.second_moment}) {
      for (const UnitEpochs& unit : units) {
        const DenseNet& net = shape_.networks[unit.unit];
        const std::size_t begin = joint_ ? 0 : static_cast<std::size_t>(net.begin);
        const std::size_t end = joint_ ? size : static_cast<std::size_t>(net.end);
        std::copy(from + begin, from + end, part.begin() + static_cast<std::ptrdiff_t>(begin));
      }
      from += size;
    }
  }

  TrainShape shape_;
  device::TrainQueue& queue_;
  int card_;
  bool joint_;
  const CudaStream& stream_;  // for copies
  CudaEvent done_ = CudaEvent::sleeping();
  PooledBuffer<float> inputs_;
  PooledBuffer<float> targets_;
  PooledBuffer<std::uint32_t> samples_;
  PooledBuffer<std::uint32_t> orders_;
  PooledBuffer<DenseNet> networks_;
  PooledBuffer<float> blocks_;
  PooledBuffer<float> gradient_;
  PooledBuffer<float> scratch_;
  PooledBuffer<double> exchange_;
  PooledBuffer<double> losses_;
  PooledBuffer<StepFactors> steps_;
  PinnedBuffer<float> host_;
  TrainJob prototype_{};
};

class CudaFits final : public FitDevice {
 public:
  explicit CudaFits(int card) : card_(card), queue_(card) {}

  std::string refuses(const FitProblem& problem) const override {
    const MlpStack& stack = problem.networks.stack();
    if (stack.shared) {
      return "components that share their weights cannot be trained there";
    }
    for (const Mlp& mlp : stack.components) {
      if (mlp.layers().size() < 2 || mlp.layers().size() > device::kMaxLayers) {
        return fmt::format("networks of {} layers cannot be trained there; of 2 to {} they can", mlp.layers().size(),
                           device::kMaxLayers);
      }
    }
    if (problem.flow != nullptr) {
      if (const std::string reason = refuses_flow(*problem.flow); !reason.empty()) {
        return reason;
      }
    }
    if (problem.num_rows > kMostRows) {
      return fmt::format("{} rows cannot be trained on there; up to {} can", problem.num_rows, kMostRows);
    }
    const CurrentCard current(card_);
    const TrainShape shape(problem, device::most_shared());
    if (device::shared_bytes(shape.kind.rows, device::without_copies(shape.memory)) > device::most_shared()) {
      return fmt::format("layers of {} units cannot be trained there: they are too wide", shape.widest());
    }
    return "";
  }

  std::unique_ptr<DeviceFit> begin(const FitProblem& problem) override {
    const CurrentCard current(card_);
    return std::make_unique<CudaFit>(problem, queue_, card_);
  }

 private:
  static std::string refuses_flow(const Flow& flow) {
    const Transform& transform = flow.shape().transform;
    if (flow.layers().size() != 1) {
      return fmt::format("a flow of {} layers cannot be trained there; of one it can", flow.layers().size());
    }
    if (transform.kind != TransformKind::kCubic || transform.num_bins != device::kSplineBins) {
      return fmt::format("{} splines of {} bins cannot be trained there; cubic ones of {} can",
                         transform_name(transform.kind), transform.num_bins, device::kSplineBins);
    }
    const Mlp& conditioner = flow.layers().front().conditioner();
    if (conditioner.layers().size() < 2 || conditioner.layers().size() > device::kMaxLayers) {
      return fmt::format("conditioners of {} layers cannot be trained there; of 2 to {} they can",
                         conditioner.layers().size(), device::kMaxLayers);
    }
    if (conditioner.layers().back().num_inputs > device::kMaxFlowWidth) {
      return fmt::format("{} units in the flow's last hidden layer cannot be trained there; up to {} can",
                         conditioner.layers().back().num_inputs, device::kMaxFlowWidth);
    }
    return "";
  }

  int card_;
  device::TrainQueue queue_;
};

}  // namespace

std::unique_ptr<FitDevice> make_cuda_fits(int card) {
  const CurrentCard current(card);
  // Memory that is given back to the pool stays there for the next fit.
  cudaMemPool_t pool = nullptr;
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  DISSENT_CUDA(cudaDeviceGetDefaultMemPool(&pool, card));
  DISSENT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  return std::make_unique<CudaFits>(card);
}

}  // namespace dissent
