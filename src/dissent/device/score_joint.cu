// A block takes a row. For each component j in turn, the map from (e, e^2) to r_ij lies in shared memory; a thread
// takes a sample and keeps its r_ij in registers.
#include "dissent/device/cuda_memory.hpp"
#include "dissent/device/score_joint.hpp"
#include "dissent/device/score_lanes.cuh"
#include "dissent/device/score_launch.cuh"

namespace dissent {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr double kSmallSum = 1e-200;                 // below this, sums are taken in log space
constexpr std::size_t kMostSharedBytes = 200 << 10;  // a block can have this on any card that we have code for

// One component's samples on the card.
struct JointSamples {
  const double* noise;   // [D][stride]
  const double* chosen;  // [M - 1][stride]
  long long stride;
  int count;
  double log_share;
};

struct JointCall {
  const double* mean;    // [N][M][D]
  const double* stddev;  // [N][M][D]
  int num_outputs;
  double most;
  double* out;  // [N]
  JointSamples samples[kMostJointComponents];
};

std::size_t map_bytes(std::size_t M, std::size_t D) { return (M - 1) * (2 * D + 1) * sizeof(double); }

struct Sum {
  double value = 0;
  __device__ void merge(const Sum& other) { value += other.value; }
};

struct Maximum {
  double value = -HUGE_VAL;
  __device__ void merge(const Maximum& other) { value = fmax(value, other.value); }
};

// Merges the values of all threads of the block, always in the same order; all threads get the result.
template <class Value>
__device__ double merge_block(Value value) {
  __shared__ Value shared[kWarps];
  score::merge_lanes(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < kWarps; ++warp) {
    value.merge(shared[warp]);
  }
  return value.value;
}

// r_ij for all i != j, as a linear map: [M - 1][2 D] weights and [M - 1] biases in shared memory.
template <int M>
struct RatioMap {
  double* weight;
  double* bias;
  int D;

  // A warp fills the rows of a component.
  __device__ void fill(const double* mean, const double* stddev, int j) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int row = static_cast<int>(threadIdx.x) / 32; row < M - 1; row += kWarps) {
      const int i = row < j ? row : row + 1;
      double constant = 0;
      for (int d = lane; d < D; d += 32) {
        const double inverse = 1 / stddev[i * D + d];
        const double a = (mean[j * D + d] - mean[i * D + d]) * inverse;
        const double b = stddev[j * D + d] * inverse;
        weight[row * 2 * D + d] = -a * b;
        weight[row * 2 * D + D + d] = 0.5 * (1 - b) * (1 + b);
        constant += log(b) - 0.5 * a * a;
      }
      Sum sum{constant};
      score::merge_lanes(sum);
      if (lane == 0) {
        bias[row] = sum.value;
      }
    }
  }

  __device__ void run(const JointSamples& samples, int k, double* ratio) const {
#pragma unroll
    for (int i = 0; i < M - 1; ++i) {
      ratio[i] = bias[i] + samples.chosen[i * samples.stride + k];
    }
    for (int d = 0; d < D; ++d) {
      const double e = samples.noise[d * samples.stride + k];
#pragma unroll
      for (int i = 0; i < M - 1; ++i) {
        ratio[i] = fma(fma(weight[i * 2 * D + D + d], e, weight[i * 2 * D + d]), e, ratio[i]);
      }
    }
  }
};

// With high = max(0, r): high + log1p(sum_i exp(r_i - high) + expm1(-high)).
template <int kCount>
__device__ double log_one_plus_sum(const double* ratio) {
  double high = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    high = fmax(high, ratio[i]);
  }
  double sum = expm1(-high);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    sum += exp(ratio[i] - high);
  }
  return high + log1p(sum);
}

// ln of the sum over samples of log1p(sum_i exp(r_i)), if all of it is tiny: then log1p(x) is x.
template <int M>
__device__ double log_sum_of_tiny(const RatioMap<M>& map, const JointSamples& samples) {
  double ratio[M - 1];
  Maximum most;
  for (int k = static_cast<int>(threadIdx.x); k < samples.count; k += kThreads) {
    map.run(samples, k, ratio);
    for (int i = 0; i < M - 1; ++i) {
      most.merge({ratio[i]});
    }
  }
  const double high = merge_block(most);
  if (!isfinite(high)) {
    return high;
  }
  Sum sum;
  for (int k = static_cast<int>(threadIdx.x); k < samples.count; k += kThreads) {
    map.run(samples, k, ratio);
    for (int i = 0; i < M - 1; ++i) {
      sum.value += exp(ratio[i] - high);
    }
  }
  return high + log(merge_block(sum));
}

// ln of the sum over a component's samples, with their share.
template <int M>
__device__ double component_log_deficit(const RatioMap<M>& map, const JointSamples& samples) {
  double ratio[M - 1];
  Sum sum;
  for (int k = static_cast<int>(threadIdx.x); k < samples.count; k += kThreads) {
    map.run(samples, k, ratio);
    sum.value += log_one_plus_sum<M - 1>(ratio);
  }
  const double whole = merge_block(sum);
  return samples.log_share + (whole > kSmallSum ? log(whole) : log_sum_of_tiny(map, samples));
}

template <int M>
__global__ void __launch_bounds__(kThreads) weigh_rows(__grid_constant__ const JointCall call) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const int D = call.num_outputs;
  double* shared = reinterpret_cast<double*>(shared_bytes);
  const RatioMap<M> map{shared, shared + (M - 1) * 2 * D, D};
  const long long first = static_cast<long long>(blockIdx.x) * M * D;
  double log_deficit = -HUGE_VAL;
  for (int j = 0; j < M; ++j) {
    if (call.samples[j].count == 0) {
      continue;
    }
    __syncthreads();  // the map of the component before is still being read
    map.fill(call.mean + first, call.stddev + first, j);
    __syncthreads();
    log_deficit = score::log_add_exp(log_deficit, component_log_deficit(map, call.samples[j]));
  }
  if (threadIdx.x == 0) {
    call.out[blockIdx.x] = log_deficit > call.most ? call.most : log_deficit;  // keeps NaN
  }
}

template <int M>
void launch(const JointCall& call, std::size_t num_components, std::size_t num_rows, cudaStream_t stream) {
  if constexpr (M <= static_cast<int>(kMostJointComponents)) {
    if (num_components != M) {
      launch<M + 1>(call, num_components, num_rows, stream);
      return;
    }
    const std::size_t bytes = map_bytes(num_components, static_cast<std::size_t>(call.num_outputs));
    score::allow_shared_bytes(weigh_rows<M>, kMostSharedBytes);  // the same for all threads that launch it
    weigh_rows<M><<<static_cast<unsigned>(num_rows), kThreads, bytes, stream>>>(call);
    DISSENT_CUDA_LAUNCHED("weigh_rows");
  }
}

class JointRows final : public RowsOnDevice {
 public:
  explicit JointRows(const MixtureView<double>& mixture)
      : num_rows_(mixture.num_inputs), num_components_(mixture.num_components), num_outputs_(mixture.num_outputs) {
    DISSENT_CUDA(cudaGetDevice(&card_));
    const std::size_t size = num_rows_ * num_components_ * num_outputs_;
    rows_.reserve(2 * size);
    out_.reserve(num_rows_);
    send(mixture.mean, size, rows_.data());
    send(mixture.stddev, size, rows_.data() + size);
  }
  JointRows(const JointRows&) = delete;
  JointRows& operator=(const JointRows&) = delete;

  void log_deficits(std::span<const ComponentNoise> noise, double most, std::span<double> out) override {
    const CurrentCard current(card_);
    JointCall call{.mean = rows_.data(),
                   .stddev = rows_.data() + num_rows_ * num_components_ * num_outputs_,
                   .num_outputs = static_cast<int>(num_outputs_),
                   .most = most,
                   .out = out_.data(),
                   .samples = {}};
    samples_.reserve(samples_size(noise));
    double* to = samples_.data();
    for (std::size_t j = 0; j < noise.size(); ++j) {
      const ComponentNoise& own = noise[j];
      call.samples[j] = {to, to + num_outputs_ * own.stride, static_cast<long long>(own.stride),
                         static_cast<int>(own.count), own.log_share};
      if (own.count > 0) {
        send(own.noise, num_outputs_ * own.stride, to);
        send(own.chosen, (num_components_ - 1) * own.stride, to + num_outputs_ * own.stride);
        to += (num_outputs_ + num_components_ - 1) * own.stride;
      }
    }
    launch<2>(call, num_components_, num_rows_, stream_);
    done_.record(stream_);
    done_.wait();  // sleeps, unlike a copy to memory that is not pinned
    DISSENT_CUDA(cudaMemcpyAsync(out.data(), out_.data(), out.size_bytes(), cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
  }

 private:
  std::size_t samples_size(std::span<const ComponentNoise> noise) const {
    std::size_t size = 0;
    for (const ComponentNoise& own : noise) {
      size += own.count == 0 ? 0 : (num_outputs_ + num_components_ - 1) * own.stride;
    }
    return size;
  }

  void send(const double* from, std::size_t count, double* to) const {
    DISSENT_CUDA(cudaMemcpyAsync(to, from, count * sizeof(double), cudaMemcpyHostToDevice, stream_));
  }

  int card_ = 0;
  std::size_t num_rows_;
  std::size_t num_components_;
  std::size_t num_outputs_;
  CudaStream stream_ = CudaStream::urgent();  // training that fills the card would keep a choice waiting
  CudaEvent done_ = CudaEvent::sleeping();
  PooledBuffer<double> rows_;
  PooledBuffer<double> samples_;
  PooledBuffer<double> out_;
  WaitAtEnd last_{stream_};  // goes first
};

}  // namespace

std::unique_ptr<RowsOnDevice> make_joint_rows(const MixtureView<double>& mixture) {
  if (!mixture.diagonal() || mixture.num_components < 2 || mixture.num_components > kMostJointComponents ||
      map_bytes(mixture.num_components, mixture.num_outputs) > kMostSharedBytes || mixture.num_inputs == 0) {
    return nullptr;
  }
  return std::make_unique<JointRows>(mixture);
}

}  // namespace dissent
