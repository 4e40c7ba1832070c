#include "dissent/ensemble/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "dissent/base/random.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/ensemble/row_weights.hpp"
#include "dissent/matrix/rows.hpp"

namespace dissent {
namespace {

constexpr double kLastLearningRate = 0.01;                     // of the first
constexpr double kRestartRate = 0.3;                           // of the learning rate before
constexpr std::uint64_t kTurnStream = std::uint64_t{1} << 40;  // beyond every component's number
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The sum of values, times their weights if there are any.
double sum_of(std::span<const float> values, std::span<const float> weights) {
  double sum = 0;
  for (std::size_t b = 0; b < values.size(); ++b) {
    const auto value = static_cast<double>(values[b]);
    sum += weights.empty() ? value : static_cast<double>(weights[b]) * value;
  }
  return sum;
}

}  // namespace

std::vector<std::uint32_t> bootstrap_sample(std::uint64_t seed, std::size_t component, std::size_t num_rows) {
  std::vector<std::uint32_t> sample(num_rows);
  Stream stream(seed, Purpose::kBootstrap, component);
  std::ranges::generate(sample, [&] { return static_cast<std::uint32_t>(stream.below(num_rows)); });
  return sample;
}

void shuffle_epoch(std::uint64_t seed, std::size_t component, std::size_t epoch, std::size_t restarts,
                   std::span<std::uint32_t> rows) {
  Stream stream = Stream(seed, Purpose::kShuffle, component).substream(epoch + restarts * kRestartEpochs);
  stream.shuffle(rows);
}

Trainer::Trainer(Ensemble& model, const TrainOptions& options, ScaledRows rows, std::size_t num_held_out,
                 bool steps_elsewhere)
    : model_(model),
      networks_(model.networks()),
      options_(options.resolved(model.num_input_columns(), model.num_outputs(),
                                rows.targets.size() / model.num_outputs() - num_held_out)),
      rows_(std::move(rows)),
      num_held_out_(num_held_out),
      num_rows_(rows_.targets.size() / model.num_outputs() - num_held_out),
      batch_size_(*options_.batch_size == 0 ? num_rows_ : std::min(*options_.batch_size, num_rows_)),
      capacity_(steps_elsewhere && num_held_out == 0 && !options_.out_of_bag ? 1 : batch_size_),
      gradient_(model.parameters().size()),
      average_(model.parameters().begin(), model.parameters().end()),
      first_moment_(model.parameters().size()),
      second_moment_(model.parameters().size()) {
  for (std::size_t c = 0; c < model.num_components(); ++c) {
    states_.push_back(make_state(c));
  }
  restarts_.resize(num_units(), 0);
}

void Trainer::set_restart(std::size_t unit, std::size_t restart) { restarts_[unit] = restart; }

void Trainer::restart(std::size_t unit, std::size_t restart) {
  set_restart(unit, restart);
  EnsembleOptions options = model_.options();
  options.seed = Stream(options.seed, Purpose::kInitialise, kTurnStream + unit).substream(restart).bits();
  Block<float> fresh(networks_.parameters().size());
  initialise_networks(options, networks_, model_.output_map(), fresh);
  const std::span<float> own = parameters(unit);
  const auto offset = own.data() - networks_.parameters().data();
  const auto part = [&](Block<float>& block) {
    return std::span(block).subspan(static_cast<std::size_t>(offset), own.size());
  };
  std::ranges::copy(part(fresh), own.begin());
  std::ranges::copy(part(fresh), part(average_).begin());
  std::ranges::fill(part(first_moment_), 0.0F);
  std::ranges::fill(part(second_moment_), 0.0F);
}

std::span<float> Trainer::parameters(std::size_t unit) {
  return networks_.joint() ? networks_.parameters() : networks_.stack().components[unit].range(networks_.parameters());
}

std::size_t Trainer::steps_per_epoch() const { return (num_rows_ + batch_size_ - 1) / batch_size_; }

Trainer::ComponentState Trainer::make_state(std::size_t component) const {
  ComponentState state{.sample = std::vector<std::uint32_t>(num_rows_),
                       .order = {},
                       .held_out = std::vector<std::uint32_t>(num_held_out_),
                       .inputs = {model_.num_input_columns(), capacity_},
                       .targets = {model_.num_outputs(), capacity_},
                       .network = {networks_.stack().components[component], capacity_},
                       .weights = Block<float>(networks_.stack().scratch_size),
                       .gradient = Block<float>(networks_.stack().scratch_size),
                       .flow = {},
                       .curvature = {},
                       .grad_log_det = {},
                       .flow_gradient = {},
                       .weights_of_rows = std::vector<float>(rows_.weights.empty() ? 0 : capacity_)};
  if (model_.options().bootstrap) {
    state.sample = bootstrap_sample(model_.options().seed, component, num_rows_);
  } else {
    std::iota(state.sample.begin(), state.sample.end(), 0U);
  }
  state.order = state.sample;
  std::iota(state.held_out.begin(), state.held_out.end(), static_cast<std::uint32_t>(num_rows_));
  if (num_held_out_ == 0 && options_.out_of_bag) {
    std::vector<bool> drawn(num_rows_);
    for (const std::uint32_t row : state.sample) {
      drawn[row] = true;
    }
    for (std::uint32_t row = 0; row < num_rows_; ++row) {
      if (!drawn[row]) {
        state.held_out.push_back(row);
      }
    }
  }
  if (model_.output_map().flow() != nullptr) {
    state.flow.emplace(*model_.output_map().flow(), capacity_);
    state.curvature = {model_.num_outputs(), capacity_};
    state.grad_log_det.resize(padded_batch(capacity_));
    state.flow_gradient.resize(networks_.parameters().size());
  }
  return state;
}

// With one batch per epoch the order does not matter.
void Trainer::begin_epoch(std::size_t component, std::size_t epoch) {
  if (steps_per_epoch() > 1) {
    ComponentState& state = states_[component];
    std::ranges::copy(state.sample, state.order.begin());
    shuffle_epoch(model_.options().seed, component, epoch, restarts_[networks_.joint() ? 0 : component], state.order);
  }
}

// The component whose turn it is, for each step of an epoch.
std::vector<std::size_t> Trainer::draw_turns(std::size_t epoch) const {
  Stream stream = Stream(model_.options().seed, Purpose::kShuffle, kTurnStream).substream(epoch);
  std::vector<std::size_t> turns(steps_per_epoch());
  std::ranges::generate(turns, [&] { return static_cast<std::size_t>(stream.below(states_.size())); });
  return turns;
}

// Continues the count from where it stands, or starts it afresh.
std::uint64_t Trainer::turns_before(std::size_t epoch, std::size_t component) {
  ComponentState& state = states_[component];
  if (state.turns_epoch > epoch) {
    state.turns_epoch = state.num_turns = 0;
  }
  for (; state.turns_epoch < epoch; ++state.turns_epoch) {
    const std::vector<std::size_t> turns = draw_turns(state.turns_epoch);
    state.num_turns += static_cast<std::uint64_t>(std::ranges::count(turns, component));
  }
  return state.num_turns;
}

// The weights of the chosen rows; empty if all count alike.
std::span<const float> Trainer::gather_weights(ComponentState& state, std::span<const std::uint32_t> chosen) const {
  if (rows_.weights.empty()) {
    return {};
  }
  std::ranges::transform(chosen, state.weights_of_rows.begin(), [&](std::uint32_t row) { return rows_.weights[row]; });
  return std::span(state.weights_of_rows).first(chosen.size());
}

// Leaves the gradient of the component's own parameters in gradient_, those of shared ones in the component's blocks.
void Trainer::compute_gradient(std::size_t component, std::size_t begin, std::size_t end) {
  ComponentState& state = states_[component];
  const Mlp& network = networks_.stack().components[component];
  const std::span<const float> parameters = networks_.parameters();
  const std::span<const float> own = component_block<float>(networks_.stack(), component, parameters, state.weights);
  const std::span<float> own_gradient = networks_.stack().shared ? std::span(state.gradient) : std::span(gradient_);
  const std::size_t batch = end - begin;
  const std::size_t D = model_.num_outputs();
  const std::uint32_t* chosen = state.order.data() + begin;
  const std::span<const float> weights = gather_weights(state, {chosen, batch});
  pack_rows({rows_.inputs.data(), model_.num_input_columns()}, chosen, batch, state.inputs.panel());
  pack_rows({rows_.targets.data(), D}, chosen, batch, state.targets.panel());
  const Panel<float> heads = forward<float>(network, own, state.inputs.panel(), batch, state.network);
  Panel<const float> z = std::as_const(state.targets).panel();
  double log_det_mean = 0;
  if (state.flow) {
    const Flow& flow = *model_.output_map().flow();
    const double scale = 1 / static_cast<double>(batch * D);
    const std::size_t num_curved = flow.layers().size() > 1 ? D : flow.layers().front().num_transformed();
    gaussian_curvature(kGaussian, heads.slice(D, num_curved), batch, scale, state.curvature.panel(num_curved));
    std::ranges::fill(state.grad_log_det, -static_cast<float>(scale));
    scale_columns(state.curvature.panel(num_curved), weights);
    scale_columns({state.grad_log_det.data(), 1, 0}, weights);
    std::ranges::fill(std::span(state.flow_gradient).subspan(networks_.flow_begin()), 0.0F);
    const FlowResult<float> base =
        to_base_step<float>(flow, parameters, state.inputs.panel(), state.targets.panel(), batch, *state.flow,
                            {.center = heads.slice(0, D),
                             .curvature = std::as_const(state.curvature).panel(),
                             .grad_log_det = state.grad_log_det.data(),
                             .grad_block = state.flow_gradient});
    z = base.values;
    log_det_mean = sum_of({base.log_det, batch}, weights) * scale;
  }
  if (weights.empty()) {
    state.loss = gaussian_nll_gradient(kGaussian, heads, z, batch) - log_det_mean;
  } else {
    state.loss = weighted_nll(kGaussian, Panel<const float>(heads), z, weights) / static_cast<double>(batch);
    state.loss -= log_det_mean;
    gaussian_nll_gradient(kGaussian, heads, z, batch);
    scale_columns(heads, weights);
  }
  std::ranges::fill(network.range(own_gradient), 0.0F);
  backward<float>(network, own, state.network, {.block = own_gradient});
}

// Adds the gradients of what components [first, last) share into gradient_, in their order; returns their mean loss.
double Trainer::sum_gradients(std::size_t first, std::size_t last) {
  const MlpStack& stack = networks_.stack();
  const std::span<float> sum = gradient_;
  const std::span<float> flow_part = sum.subspan(networks_.flow_begin());
  std::ranges::fill(stack.shared ? sum : flow_part, 0.0F);
  double loss = 0;
  for (std::size_t c = first; c < last; ++c) {
    const ComponentState& state = states_[c];
    loss += state.loss / static_cast<double>(last - first);
    if (stack.shared) {
      scatter_add<float>({*stack.shared, stack.components[c], stack.masks[c]}, state.gradient, sum);
    }
    for (std::size_t k = 0; k < flow_part.size(); ++k) {
      flow_part[k] += state.flow_gradient[networks_.flow_begin() + k];
    }
  }
  return loss;
}

AdamOptions Trainer::adam_options(std::size_t unit, std::uint64_t step) const {
  const double done = static_cast<double>(step - 1) / static_cast<double>(std::max<std::size_t>(1, num_steps_));
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0)));
  const double share = options_.cosine_decay ? kLastLearningRate + (1 - kLastLearningRate) * cosine : 1;
  const double lowered = std::pow(kRestartRate, static_cast<double>(restarts_[unit]));
  return {.learning_rate = options_.learning_rate * share * lowered,
          .weight_decay = *options_.weight_decay,
          .clip_norm = options_.clip_norm};
}

// Adam's step already includes the components' decay.
double Trainer::flow_shrink(double learning_rate) const {
  return 1 - learning_rate * (*options_.flow_weight_decay - *options_.weight_decay);
}

// In the first steps the average is the mean of all, so that the initial parameters have no weight.
double Trainer::average_newest(std::uint64_t own_step) const {
  const bool averages = options_.averaging > 0 && options_.choose_epoch;
  return averages ? std::max(1 - options_.averaging, 1 / static_cast<double>(own_step)) : 0;
}

StepFactors Trainer::step_factors(std::size_t unit, std::uint64_t step) const {
  const AdamOptions adam = adam_options(unit, step);
  const AdamScales scales = adam_scales(adam, step);
  return {.shrink = static_cast<float>(scales.shrink),
          .step_size = static_cast<float>(scales.step_size),
          .inverse_root = static_cast<float>(scales.inverse_root),
          .flow_shrink = static_cast<float>(flow_shrink(adam.learning_rate)),
          .average_newest = static_cast<float>(average_newest(step))};
}

FitProblem Trainer::problem() const {
  FitProblem problem{.networks = networks_,
                     .flow = model_.output_map().flow(),
                     .options = options_,
                     .seed = model_.options().seed,
                     .inputs = rows_.inputs,
                     .targets = rows_.targets,
                     .weights = rows_.weights,
                     .num_rows = num_rows_,
                     .batch_size = batch_size_,
                     .samples = {},
                     .held_out = {}};
  for (const ComponentState& state : states_) {
    problem.samples.emplace_back(state.sample);
    problem.held_out.emplace_back(state.held_out);
  }
  return problem;
}

// Updates a unit's parameters with their part of gradient_. False if that is not finite; nothing changes then.
bool Trainer::update(std::size_t unit, std::span<float> parameters, std::uint64_t step, std::uint64_t own_step) {
  const AdamOptions adam = adam_options(unit, step);
  const auto offset = static_cast<std::size_t>(parameters.data() - networks_.parameters().data());
  const auto part = [&](Block<float>& block) { return std::span(block).subspan(offset, parameters.size()); };
  if (!std::isfinite(adam_step(
          adam, own_step, AdamRange<float>{parameters, part(gradient_), part(first_moment_), part(second_moment_)}))) {
    return false;
  }
  if (offset + parameters.size() > networks_.flow_begin()) {
    const auto kept = static_cast<float>(flow_shrink(adam.learning_rate));
    for (float& value : parameters.subspan(networks_.flow_begin() - std::min(offset, networks_.flow_begin()))) {
      value *= kept;
    }
  }
  if (const auto newest = static_cast<float>(average_newest(own_step)); newest > 0) {
    const std::span<float> average = part(average_);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      average[k] += newest * (parameters[k] - average[k]);
    }
  }
  return true;
}

// With one component per step, runs only the steps that are its turn; if there are none, returns the last loss.
double Trainer::component_epoch(std::size_t component, std::size_t epoch) {
  const bool takes_turns = options_.one_component_per_step;
  const std::vector<std::size_t> turns = takes_turns ? draw_turns(epoch) : std::vector<std::size_t>();
  std::uint64_t own_step = takes_turns ? turns_before(epoch, component) : epoch * steps_per_epoch();
  std::uint64_t step = epoch * steps_per_epoch();
  double sum = 0;
  std::size_t num_seen = 0;
  begin_epoch(component, epoch);
  for (std::size_t begin = 0; begin < num_rows_; begin += batch_size_) {
    ++step;
    if (takes_turns && turns[begin / batch_size_] != component) {
      continue;
    }
    const std::size_t end = std::min(num_rows_, begin + batch_size_);
    compute_gradient(component, begin, end);
    sum += states_[component].loss * static_cast<double>(end - begin);
    num_seen += end - begin;
    if (!std::isfinite(sum) || !update(component, parameters(component), step, ++own_step)) {
      return kNan;
    }
  }
  return num_seen > 0 ? sum / static_cast<double>(num_seen) : states_[component].loss;
}

// One component per step. Updates its own parameters and the flow's; with shared weights, all parameters.
double Trainer::turns_epoch(std::size_t epoch) {
  const std::vector<std::size_t> turns = draw_turns(epoch);
  const MlpStack& stack = networks_.stack();
  std::vector<std::uint64_t> own_steps(states_.size());
  for (std::size_t c = 0; c < states_.size(); ++c) {
    begin_epoch(c, epoch);
    own_steps[c] = turns_before(epoch, c);
  }
  double sum = 0;
  std::uint64_t step = epoch * steps_per_epoch();
  for (std::size_t begin = 0; begin < num_rows_; begin += batch_size_) {
    const std::size_t end = std::min(num_rows_, begin + batch_size_);
    const std::size_t c = turns[begin / batch_size_];
    compute_gradient(c, begin, end);
    ++step;
    const std::span<float> all = networks_.parameters();
    const std::span<float> flow = all.subspan(networks_.flow_begin());
    sum += sum_gradients(c, c + 1) * static_cast<double>(end - begin);
    const bool sound = stack.shared ? update(0, all, step, step)
                                    : update(0, stack.components[c].range(all), step, ++own_steps[c]) &&
                                          (flow.empty() || update(0, flow, step, step));
    if (!std::isfinite(sum) || !sound) {
      return kNan;
    }
  }
  return sum / static_cast<double>(num_rows_);
}

double Trainer::joint_epoch(std::size_t epoch, Executor* executor) {
  if (options_.one_component_per_step) {
    return turns_epoch(epoch);
  }
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
      executor->for_blocks(states_.size(), 1, std::cref(one));  // a copy would be allocated
    } else {
      for (std::size_t c = 0; c < states_.size(); ++c) {
        one(c, c + 1, 0);
      }
    }
    sum += sum_gradients(0, states_.size()) * static_cast<double>(end - begin);
    ++step;
    if (!std::isfinite(sum) || !update(0, networks_.parameters(), step, step)) {
      return kNan;
    }
  }
  return sum / static_cast<double>(num_rows_);
}

double Trainer::run_epochs(std::size_t unit, std::size_t begin, std::size_t end, Executor* executor) {
  double loss = kNan;
  for (std::size_t epoch = begin; epoch < end; ++epoch) {
    loss = networks_.joint() ? joint_epoch(epoch, executor) : component_epoch(unit, epoch);
    if (!std::isfinite(loss)) {
      break;
    }
  }
  return loss;
}

// The loss summed over the rows, times their weights.
double Trainer::loss_of(std::size_t component, std::span<const std::uint32_t> chosen) {
  ComponentState& state = states_[component];
  const std::span<const float> parameters = networks_.parameters();
  const std::span<const float> own = component_block<float>(networks_.stack(), component, parameters, state.weights);
  const std::size_t batch = chosen.size();
  const std::size_t D = model_.num_outputs();
  const std::span<const float> weights = gather_weights(state, chosen);
  pack_rows({rows_.inputs.data(), model_.num_input_columns()}, chosen.data(), batch, state.inputs.panel());
  pack_rows({rows_.targets.data(), D}, chosen.data(), batch, state.targets.panel());
  Panel<const float> z = std::as_const(state.targets).panel();
  double log_det = 0;
  if (state.flow) {
    const FlowResult<float> base = to_base<float>(*model_.output_map().flow(), parameters, state.inputs.panel(),
                                                  state.targets.panel(), batch, *state.flow);
    z = base.values;
    log_det = sum_of({base.log_det, batch}, weights);
  }
  const Panel<float> heads =
      forward<float>(networks_.stack().components[component], own, state.inputs.panel(), batch, state.network);
  const double loss = weights.empty()
                          ? gaussian_nll(kGaussian, Panel<const float>(heads), z, batch) * static_cast<double>(batch)
                          : weighted_nll(kGaussian, Panel<const float>(heads), z, weights);
  return loss - log_det / static_cast<double>(D);
}

std::span<const Trainer::ComponentState> Trainer::states_of(std::size_t unit) const {
  return networks_.joint() ? std::span(states_) : std::span(states_).subspan(unit, 1);
}

bool Trainer::holds_out(std::size_t unit) const {
  return std::ranges::any_of(states_of(unit), [](const ComponentState& state) { return !state.held_out.empty(); });
}

double Trainer::weight_of(std::span<const std::uint32_t> rows) const {
  double sum = 0;
  for (const std::uint32_t row : rows) {
    sum += static_cast<double>(rows_.weights[row]);
  }
  return sum;
}

double Trainer::validation_loss(std::size_t unit) {
  double sum = 0;
  double count = 0;
  for (const ComponentState& state : states_of(unit)) {
    const std::span<const std::uint32_t> chosen = state.held_out;
    for (std::size_t begin = 0; begin < chosen.size(); begin += batch_size_) {
      const std::size_t size = std::min(batch_size_, chosen.size() - begin);
      sum += loss_of(static_cast<std::size_t>(&state - states_.data()), chosen.subspan(begin, size));
    }
    count += rows_.weights.empty() ? static_cast<double>(chosen.size()) : weight_of(chosen);
  }
  return sum / count;
}

}  // namespace dissent
