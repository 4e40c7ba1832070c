#include "dissent/ensemble/fit_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
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

double number_in(std::string_view text, bool (*holds)(double), std::string_view rule) {
  const double value = number(text);
  check(holds(value), "'{}' is not {}", text, rule);
  return value;
}

std::size_t width(std::string_view text) { return whole(text, 1, 100'000); }

std::string switch_text(bool on) { return on ? "on" : "off"; }

using Settings = FitSettings;
using Text = std::string_view;

struct Field {
  Text name;
  void (*set)(Settings& settings, Text text);
  std::string (*text)(const Settings& settings);
};

constexpr std::array kFields{
    Field{"--model", [](Settings& s, Text text) { s.model = text; }, [](const Settings& s) { return s.model; }},
    Field{"--components", [](Settings& s, Text text) { s.components = whole(text, 1, 10'000); },
          [](const Settings& s) { return fmt::format("{}", s.components); }},
    Field{"--weights", [](Settings& s, Text text) { s.weights = list<double>(text, number); },
          [](const Settings& s) { return fmt::format("{}", fmt::join(s.weights, ",")); }},
    Field{"--hidden", [](Settings& s, Text text) { s.hidden = list<std::size_t>(text, width); },
          [](const Settings& s) {
            const Model model = s.model == "pne" ? Model::kPne : Model::kFlow;
            const EnsembleOptions options{.model = model, .hidden = s.hidden};
            return fmt::format("{}", fmt::join(options.hidden_sizes(), ","));
          }},
    Field{"--scaling", [](Settings& s, Text text) { s.scaling = text; }, [](const Settings& s) { return s.scaling; }},
    Field{"--keep-probability", [](Settings& s, Text text) { s.keep_probability = number(text); },
          [](const Settings& s) { return fmt::format("{}", s.keep_probability); }},
    Field{"--no-masks", [](Settings& s, Text) { s.no_masks = true; },
          [](const Settings& s) { return switch_text(s.no_masks); }},
    Field{"--no-bootstrap", [](Settings& s, Text) { s.no_bootstrap = true; },
          [](const Settings& s) { return switch_text(s.no_bootstrap); }},
    Field{"--same-weights", [](Settings& s, Text) { s.same_weights = true; },
          [](const Settings& s) { return switch_text(s.same_weights); }},
    Field{"--share-weights", [](Settings& s, Text) { s.share_weights = true; },
          [](const Settings& s) { return switch_text(s.share_weights); }},
    Field{"--flow-hidden", [](Settings& s, Text text) { s.flow_hidden = list<std::size_t>(text, width); },
          [](const Settings& s) { return fmt::format("{}", fmt::join(s.flow_hidden, ",")); }},
    Field{"--flow-layers", [](Settings& s, Text text) { s.flow_layers = whole(text, 1, 100); },
          [](const Settings& s) { return fmt::format("{}", s.flow_layers); }},
    Field{"--preset", [](Settings& s, Text text) { s.preset = text; }, [](const Settings& s) { return s.preset; }},
    Field{"--epochs", [](Settings& s, Text text) { s.epochs = whole(text, 1); },
          [](const Settings& s) { return fmt::format("{}", s.train().epochs); }},
    Field{"--batch-size", [](Settings& s, Text text) { s.batch_size = whole(text, 0); },
          [](const Settings& s) { return fmt::format("{}", s.train().batch_size); }},
    Field{"--learning-rate",
          [](Settings& s, Text text) {
            s.learning_rate = number_in(
                text, [](double r) { return std::isfinite(r) && r > 0; }, "a number > 0");
          },
          [](const Settings& s) { return fmt::format("{}", s.train().learning_rate); }},
    Field{"--validation",
          [](Settings& s, Text text) {
            s.validation = number_in(
                text, [](double v) { return v >= 0 && v < 1; }, "a number >= 0 and < 1");
          },
          [](const Settings& s) { return fmt::format("{}", s.train().validation); }},
    Field{"--seed", [](Settings& s, Text text) { s.seed = whole(text, 0); },
          [](const Settings& s) { return fmt::format("{}", s.seed); }},
};

const Field& find_field(Text name) {
  const auto* const field = std::ranges::find(kFields, name, &Field::name);
  check(field != kFields.end(), "'{}' is not an option of a fit", name);
  return *field;
}

// The rule of an option, without the name of the function that checks it.
template <class Options>
Options checked(const Options& options) {
  try {
    options.check_values();
  } catch (const InputError& error) {
    const Text message = error.what();
    const std::size_t colon = message.find(": ");
    fail("{}", message.substr(colon == Text::npos ? 0 : colon + 2));
  }
  return options;
}

}  // namespace

bool FitSettings::has(std::string_view name) { return std::ranges::find(kFields, name, &Field::name) != kFields.end(); }

void FitSettings::set(std::string_view name, std::string_view text) {
  const Field& field = find_field(name);
  try {
    field.set(*this, text);
  } catch (const InputError& error) {
    fail("{}: {}", name, error.what());
  }
}

std::string FitSettings::text(std::string_view name) const { return find_field(name).text(*this); }

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
  TrainOptions options = training_preset(preset);
  options.epochs = epochs.value_or(options.epochs);
  options.batch_size = batch_size.value_or(options.batch_size);
  options.learning_rate = learning_rate.value_or(options.learning_rate);
  options.validation = validation.value_or(options.validation);
  return checked(options);
}

}  // namespace dissent
