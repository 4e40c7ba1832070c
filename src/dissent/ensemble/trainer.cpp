#include "dissent/ensemble/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "dissent/base/random.hpp"
#include "dissent/matrix/rows.hpp"

namespace dissent {
namespace {

constexpr double kLastLearningRate = 0.01;  // of the first
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Trainer::Trainer(Ensemble& model, const TrainOptions& options, ScaledRows rows, std::size_t num_held_out)
    : model_(model),
      options_(options.resolved(model.num_inputs(), rows.targets.size() / model.num_outputs() - num_held_out)),
      rows_(std::move(rows)),
      num_held_out_(num_held_out),
      num_rows_(rows_.targets.size() / model.num_outputs() - num_held_out),
      batch_size_(options.batch_size == 0 ? num_rows_ : std::min(options.batch_size, num_rows_)),
      gradient_(model.parameters().size()),
      average_(model.parameters().begin(), model.parameters().end()),
      first_moment_(model.parameters().size()),
      second_moment_(model.parameters().size()) {
  for (std::size_t c = 0; c < model.num_components(); ++c) {
    members_.push_back(make_member(c));
  }
}

std::span<float> Trainer::parameters(std::size_t unit) {
  return model_.joint() ? model_.parameters() : model_.stack().components[unit].range(model_.parameters());
}

std::size_t Trainer::steps_per_epoch() const { return (num_rows_ + batch_size_ - 1) / batch_size_; }

Trainer::Member Trainer::make_member(std::size_t component) const {
  Member member{.sample = std::vector<std::uint32_t>(num_rows_),
                .order = {},
                .held_out = std::vector<std::uint32_t>(num_held_out_),
                .inputs = {model_.num_inputs(), batch_size_},
                .targets = {model_.num_outputs(), batch_size_},
                .network = {model_.stack().components[component], batch_size_},
                .weights = Block<float>(model_.stack().scratch_size),
                .gradient = Block<float>(model_.stack().scratch_size),
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
  member.order = member.sample;
  std::iota(member.held_out.begin(), member.held_out.end(), static_cast<std::uint32_t>(num_rows_));
  if (num_held_out_ == 0 && options_.out_of_bag) {
    std::vector<bool> drawn(num_rows_);
    for (const std::uint32_t row : member.sample) {
      drawn[row] = true;
    }
    for (std::uint32_t row = 0; row < num_rows_; ++row) {
      if (!drawn[row]) {
        member.held_out.push_back(row);
      }
    }
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
    Member& member = members_[component];
    std::ranges::copy(member.sample, member.order.begin());
    Stream stream = Stream(model_.options().seed, Purpose::kShuffle, component).substream(epoch);
    stream.shuffle(std::span(member.order));
  }
}

// Leaves the gradient of the component's own parameters in gradient_, those of shared ones in the member's blocks.
void Trainer::compute_gradient(std::size_t component, std::size_t begin, std::size_t end) {
  Member& member = members_[component];
  const Mlp& network = model_.stack().components[component];
  const std::span<const float> parameters = model_.parameters();
  const std::span<const float> own = component_block<float>(model_.stack(), component, parameters, member.weights);
  const std::span<float> own_gradient = model_.stack().shared ? std::span(member.gradient) : std::span(gradient_);
  const std::size_t batch = end - begin;
  const std::size_t D = model_.num_outputs();
  const std::uint32_t* chosen = member.order.data() + begin;
  pack_rows({rows_.inputs.data(), model_.num_inputs()}, chosen, batch, member.inputs.panel());
  pack_rows({rows_.targets.data(), D}, chosen, batch, member.targets.panel());
  const Panel<float> heads = forward<float>(network, own, member.inputs.panel(), batch, member.network);
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
  std::ranges::fill(network.range(own_gradient), 0.0F);
  backward<float>(network, own, member.network, {.block = own_gradient});
}

// Adds the members' gradients of what they share into gradient_, in their order; their mean loss.
double Trainer::sum_gradients() {
  const MlpStack& stack = model_.stack();
  const std::span<float> sum = gradient_;
  const std::span<float> flow_part = sum.subspan(model_.flow_begin());
  std::ranges::fill(stack.shared ? sum : flow_part, 0.0F);
  double loss = 0;
  for (std::size_t c = 0; c < members_.size(); ++c) {
    const Member& member = members_[c];
    loss += member.loss / static_cast<double>(members_.size());
    if (stack.shared) {
      scatter_add<float>({*stack.shared, stack.components[c], stack.masks[c]}, member.gradient, sum);
    }
    for (std::size_t k = 0; k < flow_part.size(); ++k) {
      flow_part[k] += member.flow_gradient[model_.flow_begin() + k];
    }
  }
  return loss;
}

// Of a unit's parameters, by their part of gradient_. False when that is not finite; nothing is changed then.
bool Trainer::update(std::span<float> parameters, std::uint64_t step) {
  const double done = static_cast<double>(step - 1) / static_cast<double>(std::max<std::size_t>(1, num_steps_));
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0)));
  const double share = options_.cosine_decay ? kLastLearningRate + (1 - kLastLearningRate) * cosine : 1;
  const AdamOptions adam{.learning_rate = options_.learning_rate * share,
                         .weight_decay = *options_.weight_decay,
                         .decay_kind = WeightDecay::kDecoupled,
                         .clip_norm = options_.clip_norm};
  const auto offset = static_cast<std::size_t>(parameters.data() - model_.parameters().data());
  const auto part = [&](Block<float>& block) { return std::span(block).subspan(offset, parameters.size()); };
  if (!std::isfinite(adam_step(
          adam, step, AdamRange<float>{parameters, part(gradient_), part(first_moment_), part(second_moment_)}))) {
    return false;
  }
  if (model_.flow() != nullptr) {
    const auto kept =
        static_cast<float>(1 - adam.learning_rate * (*options_.flow_weight_decay - *options_.weight_decay));
    for (float& value : parameters.subspan(model_.flow_begin())) {
      value *= kept;
    }
  }
  if (options_.averaging > 0) {
    // In the first steps the mean of all, so that the initial parameters have no weight.
    const auto newest = static_cast<float>(std::max(1 - options_.averaging, 1 / static_cast<double>(step)));
    const std::span<float> average = part(average_);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      average[k] += newest * (parameters[k] - average[k]);
    }
  }
  return true;
}

double Trainer::component_epoch(std::size_t component, std::size_t epoch) {
  double sum = 0;
  std::uint64_t step = epoch * steps_per_epoch();
  begin_epoch(component, epoch);
  for (std::size_t begin = 0; begin < num_rows_; begin += batch_size_) {
    const std::size_t end = std::min(num_rows_, begin + batch_size_);
    compute_gradient(component, begin, end);
    sum += members_[component].loss * static_cast<double>(end - begin);
    if (!std::isfinite(sum) || !update(parameters(component), ++step)) {
      return kNan;
    }
  }
  return sum / static_cast<double>(num_rows_);
}

double Trainer::joint_epoch(std::size_t epoch, Executor* executor) {
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
    if (executor != nullptr && executor->num_threads() > 1) {
      executor->for_blocks(members_.size(), 1, std::cref(one));  // a copy would be allocated
    } else {
      for (std::size_t c = 0; c < members_.size(); ++c) {
        one(c, c + 1, 0);
      }
    }
    sum += sum_gradients() * static_cast<double>(end - begin);
    if (!std::isfinite(sum) || !update(model_.parameters(), ++step)) {
      return kNan;
    }
  }
  return sum / static_cast<double>(num_rows_);
}

double Trainer::run_epochs(std::size_t unit, std::size_t begin, std::size_t end, Executor* executor) {
  double loss = kNan;
  for (std::size_t epoch = begin; epoch < end; ++epoch) {
    loss = model_.joint() ? joint_epoch(epoch, executor) : component_epoch(unit, epoch);
    if (!std::isfinite(loss)) {
      break;
    }
  }
  return loss;
}

// Summed over the rows.
double Trainer::loss_of(std::size_t component, std::span<const std::uint32_t> chosen) {
  Member& member = members_[component];
  const std::span<const float> parameters = model_.parameters();
  const std::span<const float> own = component_block<float>(model_.stack(), component, parameters, member.weights);
  const std::size_t batch = chosen.size();
  const std::size_t D = model_.num_outputs();
  pack_rows({rows_.inputs.data(), model_.num_inputs()}, chosen.data(), batch, member.inputs.panel());
  pack_rows({rows_.targets.data(), D}, chosen.data(), batch, member.targets.panel());
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
      forward<float>(model_.stack().components[component], own, member.inputs.panel(), batch, member.network);
  return gaussian_nll(kGaussian, Panel<const float>(heads), z, batch) * static_cast<double>(batch) -
         log_det / static_cast<double>(D);
}

std::span<const Trainer::Member> Trainer::members_of(std::size_t unit) const {
  return model_.joint() ? std::span(members_) : std::span(members_).subspan(unit, 1);
}

bool Trainer::holds_out(std::size_t unit) const {
  return std::ranges::any_of(members_of(unit), [](const Member& member) { return !member.held_out.empty(); });
}

double Trainer::validation_loss(std::size_t unit) {
  double sum = 0;
  std::size_t count = 0;
  for (const Member& member : members_of(unit)) {
    const std::span<const std::uint32_t> chosen = member.held_out;
    for (std::size_t begin = 0; begin < chosen.size(); begin += batch_size_) {
      const std::size_t size = std::min(batch_size_, chosen.size() - begin);
      sum += loss_of(static_cast<std::size_t>(&member - members_.data()), chosen.subspan(begin, size));
    }
    count += chosen.size();
  }
  return sum / static_cast<double>(count);
}

}  // namespace dissent
