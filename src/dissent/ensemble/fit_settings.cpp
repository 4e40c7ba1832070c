#include "dissent/ensemble/fit_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t whole(std::string_view text, std::uint64_t min, std::uint64_t max = kNoLimit) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    check(max == kNoLimit, "'{}' is not a whole number from {} to {}", text, min, max);
    fail("'{}' is not a whole number >= {}", text, min);
  }
  return value;
}

double number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && end == text.data() + text.size(), "'{}' is not a number", text);
  return value;
}

template <class T, class Parse>
std::vector<T> list(std::string_view text, const Parse& parse) {
  std::vector<T> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return values;
}

std::size_t width(std::string_view text) { return whole(text, 1, 100'000); }

struct Setting {
  std::string_view name;
  void (*set)(FitSettings& settings, std::string_view text);
};

constexpr std::array kFields{
    Setting{"--model", [](FitSettings& s, std::string_view text) { s.model = text; }},
    Setting{"--components", [](FitSettings& s, std::string_view text) { s.components = whole(text, 1, 10'000); }},
    Setting{"--weights", [](FitSettings& s, std::string_view text) { s.weights = list<double>(text, number); }},
    Setting{"--hidden", [](FitSettings& s, std::string_view text) { s.hidden = list<std::size_t>(text, width); }},
    Setting{"--scaling", [](FitSettings& s, std::string_view text) { s.scaling = text; }},
    Setting{"--keep-probability", [](FitSettings& s, std::string_view text) { s.keep_probability = number(text); }},
    Setting{"--no-masks", [](FitSettings& s, std::string_view) { s.no_masks = true; }},
    Setting{"--no-bootstrap", [](FitSettings& s, std::string_view) { s.no_bootstrap = true; }},
    Setting{"--same-weights", [](FitSettings& s, std::string_view) { s.same_weights = true; }},
    Setting{"--share-weights", [](FitSettings& s, std::string_view) { s.share_weights = true; }},
    Setting{"--flow-hidden",
            [](FitSettings& s, std::string_view text) { s.flow_hidden = list<std::size_t>(text, width); }},
    Setting{"--flow-layers", [](FitSettings& s, std::string_view text) { s.flow_layers = whole(text, 1, 100); }},
    Setting{"--preset", [](FitSettings& s, std::string_view text) { s.preset = text; }},
    Setting{"--epochs", [](FitSettings& s, std::string_view text) { s.epochs = whole(text, 1); }},
    Setting{"--batch-size", [](FitSettings& s, std::string_view text) { s.batch_size = whole(text, 0); }},
    Setting{"--learning-rate", [](FitSettings& s, std::string_view text) { s.learning_rate = number(text); }},
    Setting{"--validation", [](FitSettings& s, std::string_view text) { s.validation = number(text); }},
    Setting{"--seed", [](FitSettings& s, std::string_view text) { s.seed = whole(text, 0); }},
};

// The rule of an option, without the name of the function that checks it.
template <class Options>
Options checked(const Options& options) {
  try {
    options.check_values();
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    const std::size_t colon = message.find(": ");
    fail("{}", message.substr(colon == std::string_view::npos ? 0 : colon + 2));
  }
  return options;
}

}  // namespace

bool FitSettings::has(std::string_view name) {
  return std::ranges::find(kFields, name, &Setting::name) != kFields.end();
}

void FitSettings::set(std::string_view name, std::string_view text) {
  const auto* const field = std::ranges::find(kFields, name, &Setting::name);
  check(field != kFields.end(), "'{}' is not an option of a fit", name);
  try {
    field->set(*this, text);
  } catch (const InputError& error) {
    fail("{}: {}", name, error.what());
  }
}

EnsembleOptions FitSettings::ensemble() const {
  EnsembleOptions options;
  options.model = model_from_name(model);
  options.num_components = components;
  options.hidden = hidden;
  options.keep_probability = no_masks ? 1 : keep_probability;
  options.bootstrap = !no_bootstrap;
  options.own_initial_weights = !same_weights;
  options.share_weights = share_weights;
  options.weights = weights;
  options.scaling = scaling_from_name(scaling);
  options.flow_hidden = flow_hidden;
  options.num_flow_layers = flow_layers;
  options.seed = seed;
  return checked(options);
}

TrainOptions FitSettings::train() const {
  TrainOptions options = fit_preset(preset).train;
  options.epochs = epochs.value_or(options.epochs);
  options.batch_size = batch_size.value_or(options.batch_size);
  options.learning_rate = learning_rate.value_or(options.learning_rate);
  options.validation = validation.value_or(options.validation);
  return checked(options);
}

}  // namespace dissent
