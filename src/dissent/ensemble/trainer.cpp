#include "dissent/ensemble/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "dissent/base/random.hpp"
#include "dissent/network/rows.hpp"

namespace dissent {
namespace {

constexpr double kLastLearningRate = 0.01;  // of the first
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Trainer::Trainer(Ensemble& model, const TrainOptions& options, ScaledRows training, ScaledRows held_out)
    : model_(model),
      options_(options),
      training_(std::move(training)),
      held_out_(std::move(held_out)),
      num_rows_(training_.targets.size() / model.num_outputs()),
      batch_size_(options.batch_size == 0 ? num_rows_ : std::min(options.batch_size, num_rows_)),
      gradient_(model.parameters().size()),
      first_moment_(model.parameters().size()),
      second_moment_(model.parameters().size()) {
  for (std::size_t c = 0; c < model.num_components(); ++c) {
    members_.push_back(make_member(c));
  }
}

std::size_t Trainer::steps_per_epoch() const { return (num_rows_ + batch_size_ - 1) / batch_size_; }

Trainer::Member Trainer::make_member(std::size_t component) const {
  Member member{.sample = std::vector<std::uint32_t>(num_rows_),
                .inputs = {model_.num_inputs(), batch_size_},
                .targets = {model_.num_outputs(), batch_size_},
                .network = {model_.stack().components[component], batch_size_},
                .flow = {},
                .curvature = {},
                .grad_log_det = {},
                .flow_gradient = {}};
  if (model_.options().bootstrap) {
    Stream stream(model_.options().seed, Purpose::kBootstrap, component);
    std::ranges::generate(member.sample, [&] { return static_cast<std::uint32_t>(stream.below(num_rows_)); });
  } else {
    std::iota(member.sample.begin(), member.sample.end(), 0U);
  }
  if (model_.flow() != nullptr) {
    member.flow.emplace(*model_.flow(), batch_size_);
    member.curvature = {model_.num_outputs(), batch_size_};
    member.grad_log_det.resize(padded_batch(batch_size_));
    member.flow_gradient.resize(model_.parameters().size());
  }
  return member;
}

// With one batch an epoch the order is of no consequence.
void Trainer::begin_epoch(std::size_t component, std::size_t epoch) {
  if (steps_per_epoch() > 1) {
    Stream stream = Stream(model_.options().seed, Purpose::kShuffle, component).substream(epoch);
    stream.shuffle(std::span(members_[component].sample));
  }
}

// Leaves the gradient of the component's own parameters in gradient_, that of the flow in the member's block.
void Trainer::compute_gradient(std::size_t component, std::size_t begin, std::size_t end) {
  Member& member = members_[component];
  const Mlp& network = model_.stack().components[component];
  const std::span<const float> parameters = model_.parameters();
  const std::size_t batch = end - begin;
  const std::size_t D = model_.num_outputs();
  const std::uint32_t* chosen = member.sample.data() + begin;
  pack_rows({training_.inputs.data(), model_.num_inputs()}, chosen, batch, member.inputs.panel());
  pack_rows({training_.targets.data(), D}, chosen, batch, member.targets.panel());
  const Panel<float> heads = forward<float>(network, parameters, member.inputs.panel(), batch, member.network);
  Panel<const float> z = std::as_const(member.targets).panel();
  double log_det_mean = 0;
  if (member.flow) {
    const Flow& flow = *model_.flow();
    const double scale = 1 / static_cast<double>(batch * D);
    const std::size_t num_curved = flow.layers().size() > 1 ? D : flow.layers().front().num_transformed();
    gaussian_curvature(kGaussian, heads.slice(D, num_curved), batch, scale, member.curvature.panel(num_curved));
    std::ranges::fill(member.grad_log_det, -static_cast<float>(scale));
    std::ranges::fill(std::span(member.flow_gradient).subspan(model_.flow_begin()), 0.0F);
    const FlowResult<float> base =
        to_base_step<float>(flow, parameters, member.inputs.panel(), member.targets.panel(), batch, *member.flow,
                            {.center = heads.slice(0, D),
                             .curvature = std::as_const(member.curvature).panel(),
                             .grad_log_det = member.grad_log_det.data(),
                             .grad_block = member.flow_gradient});
    z = base.values;
    for (std::size_t b = 0; b < batch; ++b) {
      log_det_mean += static_cast<double>(base.log_det[b]);
    }
    log_det_mean *= scale;
  }
  member.loss = gaussian_nll_gradient(kGaussian, heads, z, batch) - log_det_mean;
  std::ranges::fill(network.range<float>(gradient_), 0.0F);
  backward<float>(network, parameters, member.network, {.block = gradient_});
}

// False when the gradient is not finite; nothing is changed then.
bool Trainer::update(std::span<float> parameters, std::span<float> gradient, std::size_t offset, std::uint64_t step) {
  const double done = static_cast<double>(step - 1) / static_cast<double>(std::max<std::size_t>(1, num_steps_));
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0)));
  const double share = options_.cosine_decay ? kLastLearningRate + (1 - kLastLearningRate) * cosine : 1;
  const AdamOptions adam{.learning_rate = options_.learning_rate * share,
                         .weight_decay = options_.weight_decay,
                         .decay_kind = WeightDecay::kDecoupled,
                         .clip_norm = options_.clip_norm};
  return std::isfinite(
      adam_step(adam, step,
                AdamRange<float>{parameters, gradient, std::span(first_moment_).subspan(offset, parameters.size()),
                                 std::span(second_moment_).subspan(offset, parameters.size())}));
}

double Trainer::component_epoch(std::size_t component, std::size_t epoch) {
  const Mlp& network = model_.stack().components[component];
  const std::span<float> own = network.range(model_.parameters());
  const auto offset = static_cast<std::size_t>(own.data() - model_.parameters().data());
  double sum = 0;
  std::uint64_t step = epoch * steps_per_epoch();
  begin_epoch(component, epoch);
  for (std::size_t begin = 0; begin < num_rows_; begin += batch_size_) {
    const std::size_t end = std::min(num_rows_, begin + batch_size_);
    compute_gradient(component, begin, end);
    sum += members_[component].loss * static_cast<double>(end - begin);
    if (!std::isfinite(sum) || !update(own, network.range<float>(gradient_), offset, ++step)) {
      return kNan;
    }
  }
  return sum / static_cast<double>(num_rows_);
}

double Trainer::flow_epoch(std::size_t epoch, ThreadPool* pool) {
  const std::size_t M = members_.size();
  const std::span<float> flow_part = std::span(gradient_).subspan(model_.flow_begin());
  double sum = 0;
  std::uint64_t step = epoch * steps_per_epoch();
  for (std::size_t begin = 0; begin < num_rows_; begin += batch_size_) {
    const std::size_t end = std::min(num_rows_, begin + batch_size_);
    const auto one = [&](std::size_t component, std::size_t, int) {
      if (begin == 0) {
        begin_epoch(component, epoch);
      }
      compute_gradient(component, begin, end);
    };
    if (pool != nullptr && pool->num_threads() > 1) {
      pool->for_blocks(M, 1, one);
    } else {
      for (std::size_t c = 0; c < M; ++c) {
        one(c, c + 1, 0);
      }
    }
    std::ranges::fill(flow_part, 0.0F);
    double loss = 0;
    for (const Member& member : members_) {
      loss += member.loss / static_cast<double>(M);
      const std::span<const float> part = std::span(member.flow_gradient).subspan(model_.flow_begin());
      for (std::size_t k = 0; k < flow_part.size(); ++k) {
        flow_part[k] += part[k];
      }
    }
    sum += loss * static_cast<double>(end - begin);
    if (!std::isfinite(sum) || !update(model_.parameters(), gradient_, 0, ++step)) {
      return kNan;
    }
  }
  return sum / static_cast<double>(num_rows_);
}

double Trainer::run_epochs(std::size_t unit, std::size_t begin, std::size_t end, ThreadPool* pool) {
  double loss = kNan;
  for (std::size_t epoch = begin; epoch < end; ++epoch) {
    loss = model_.flow() != nullptr ? flow_epoch(epoch, pool) : component_epoch(unit, epoch);
    if (!std::isfinite(loss)) {
      break;
    }
  }
  return loss;
}

double Trainer::loss_of(std::size_t component, const ScaledRows& rows, std::size_t begin, std::size_t end) {
  Member& member = members_[component];
  const std::span<const float> parameters = model_.parameters();
  const std::size_t batch = end - begin;
  const std::size_t D = model_.num_outputs();
  pack_rows({rows.inputs.data() + begin * model_.num_inputs(), model_.num_inputs()}, nullptr, batch,
            member.inputs.panel());
  pack_rows({rows.targets.data() + begin * D, D}, nullptr, batch, member.targets.panel());
  Panel<const float> z = std::as_const(member.targets).panel();
  double log_det = 0;
  if (member.flow) {
    const FlowResult<float> base =
        to_base<float>(*model_.flow(), parameters, member.inputs.panel(), member.targets.panel(), batch, *member.flow);
    z = base.values;
    for (std::size_t b = 0; b < batch; ++b) {
      log_det += static_cast<double>(base.log_det[b]);
    }
  }
  const Panel<float> heads =
      forward<float>(model_.stack().components[component], parameters, member.inputs.panel(), batch, member.network);
  return gaussian_nll(kGaussian, Panel<const float>(heads), z, batch) * static_cast<double>(batch) -
         log_det / static_cast<double>(D);
}

double Trainer::validation_loss(std::size_t unit) {
  const std::size_t num_rows = held_out_.targets.size() / model_.num_outputs();
  const std::size_t first = model_.flow() != nullptr ? 0 : unit;
  const std::size_t last = model_.flow() != nullptr ? members_.size() : unit + 1;
  double sum = 0;
  for (std::size_t c = first; c < last; ++c) {
    for (std::size_t begin = 0; begin < num_rows; begin += batch_size_) {
      sum += loss_of(c, held_out_, begin, std::min(num_rows, begin + batch_size_));
    }
  }
  return sum / static_cast<double>(num_rows * (last - first));
}

}  // namespace dissent
