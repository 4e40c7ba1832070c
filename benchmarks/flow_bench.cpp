// Times of the flow's training step, one thread, float: the splines alone (ns per value) and the whole coupling
// layer with its conditioner (ms per step) at the sizes of the paper's problems, batch 256. Medians over repeated runs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/flow/flow.hpp"
#include "timing.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBatch = 256;
constexpr int kRepeats = 41;

template <class Body>
double median_seconds(Body body) {
  std::vector<double> seconds;
  body();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto begin = bench::ThreadClock::now();
    int count = 0;
    double elapsed = 0;
    do {
      body();
      ++count;
      elapsed = std::chrono::duration<double>(bench::ThreadClock::now() - begin).count();
    } while (elapsed < 5e-3);
    seconds.push_back(elapsed / count);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRepeats / 2, seconds.end());
  return seconds[kRepeats / 2];
}

void fill(Panel<float> panel, std::size_t batch, double scale, Stream& stream) {
  for (std::size_t r = 0; r < panel.rows; ++r) {
    for (std::size_t b = 0; b < batch; ++b) {
      panel(r, b) = static_cast<float>(scale * stream.normal());
    }
  }
}

void bench_transform(TransformKind kind, std::size_t num_dims) {
  const Transform transform{kind};
  Stream stream(1, Purpose::kTest);
  PanelBuffer<float> in(num_dims, kBatch), out(num_dims, kBatch), grad_out(num_dims, kBatch);
  PanelBuffer<float> raw(num_dims * transform.num_params(), kBatch),
      grad_raw(num_dims * transform.num_params(), kBatch);
  AlignedVector<float> log_slope(kBatch), grad_log_slope(kBatch, -1.0f);
  fill(in.panel(), kBatch, 0.5, stream);
  fill(raw.panel(), kBatch, 1, stream);
  fill(grad_out.panel(), kBatch, 1, stream);
  const TransformCall<float> call{kBatch, in.panel(), raw.panel(), out.panel(), log_slope.data()};
  const TransformGradient<float> gradient{
      kBatch, in.panel(), raw.panel(), grad_out.panel(), grad_log_slope.data(), grad_raw.panel(), {}};
  const double values = static_cast<double>(num_dims * kBatch);
  const double forward = median_seconds([&] { transform_forward(transform, call); });
  const double inverse = median_seconds([&] { transform_inverse(transform, call); });
  const double backward = median_seconds([&] { transform_backward(transform, gradient); });
  const double step = median_seconds([&] {
    transform_step(transform, {call, out.panel(), grad_out.panel(), grad_log_slope.data(), grad_raw.panel(), {}});
  });
  fmt::print("{:<20} {:>5} {:>12.1f} {:>12.1f} {:>12.1f} {:>12.1f}\n", transform_name(kind), num_dims,
             1e9 * forward / values, 1e9 * inverse / values, 1e9 * backward / values, 1e9 * step / values);
}

void bench_flow(std::size_t num_inputs, std::size_t num_outputs) {
  Layout layout;
  const Flow flow({.num_inputs = num_inputs, .num_outputs = num_outputs}, random_permutations(1, num_outputs, 1),
                  layout);
  Block<float> block(layout.size()), gradient(layout.size());
  initialise<float>(flow, Stream(1, Purpose::kInitialise), block);
  FlowWorkspace<float> workspace(flow, kBatch);
  Stream stream(2, Purpose::kTest);
  PanelBuffer<float> x(num_inputs, kBatch), y(num_outputs, kBatch), grad_base(num_outputs, kBatch);
  fill(x.panel(), kBatch, 0.5, stream);
  fill(y.panel(), kBatch, 0.5, stream);
  AlignedVector<float> grad_log_det(kBatch, -1.0f / kBatch);
  const std::span<const float> parameters(block);
  const double forward =
      median_seconds([&] { to_base<float>(flow, parameters, x.panel(), y.panel(), kBatch, workspace); });
  PanelBuffer<float> curvature(num_outputs, kBatch);
  fill(curvature.panel(), kBatch, 0.1, stream);
  const double step = median_seconds([&] {
    to_base_step<float>(flow, parameters, x.panel(), y.panel(), kBatch, workspace,
                        {grad_base.panel(), curvature.panel(), grad_log_det.data(), gradient});
  });
  const double inverse =
      median_seconds([&] { from_base<float>(flow, parameters, x.panel(), y.panel(), kBatch, workspace); });
  fmt::print("{:>5} {:>5} {:>12.4f} {:>12.4f} {:>12.4f}\n", num_outputs, num_inputs, 1e3 * forward, 1e3 * step,
             1e3 * inverse);
}

}  // namespace
}  // namespace dissent

int main() {
  using dissent::TransformKind;
  fmt::print("ns a value{:<10} {:>5} {:>12} {:>12} {:>12} {:>12}\n", "", "dims", "forward", "inverse", "gradient",
             "step");
  for (const TransformKind kind :
       {TransformKind::kCubic, TransformKind::kQuadratic, TransformKind::kRationalQuadratic, TransformKind::kAffine}) {
    for (const std::size_t num_dims : {1, 14, 129}) {
      dissent::bench_transform(kind, num_dims);
    }
  }
  fmt::print("\nms a batch of 256, one cubic layer, conditioner 20-20\n{:>5} {:>5} {:>12} {:>12} {:>12}\n", "D", "C",
             "to_base", "and gradient", "from_base");
  dissent::bench_flow(1, 1);
  dissent::bench_flow(14, 11);
  dissent::bench_flow(35, 27);
  dissent::bench_flow(274, 257);
}
