// The checkpoint of a training: line 1 a magic word, line 2 the settings that its numbers depend on, line 3 iteration,
// steps, normaliser count, best return and whether there is a best policy yet (0 or 1), then the normaliser's
// means, its sums of squares and the weights, a line each, and last the best policy in its own format.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "dissent/base/check_in.hpp"
#include "dissent/simulator/ars.hpp"

namespace dissent {
namespace {

constexpr std::string_view kMagic = "dissent policy training 1";

// Everything that changes the numbers; neither threads nor the number of iterations (a run may be prolonged).
std::string settings_line(const ArsOptions& o) {
  return fmt::format(
      "environment={} directions={} top={} step_size={} noise={} observed={} clock_hz={} control_weight={} "
      "alive_weight={} euler={} "
      "episode_steps={} evaluate_every={} evaluation_episodes={} start={} start_count={} seed={}",
      o.environment, o.num_directions, o.num_top_directions, o.step_size, o.noise, o.num_observed, o.clock_hz,
      o.control_weight, o.alive_weight, o.euler, o.episode_steps, o.evaluate_every, o.num_evaluation_episodes,
      o.start_file, o.start_count, o.seed);
}

void append_numbers(std::string& text, const std::vector<double>& values) {
  for (const double value : values) {
    fmt::format_to(std::back_inserter(text), "{} ", value);
  }
  text += '\n';
}

std::string_view take_line(std::string_view& text, const std::string& source) {
  const std::size_t end = text.find('\n');
  check_in(source, end != std::string_view::npos, "the checkpoint is cut short; delete it to start afresh");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

void check_intact(bool holds, const std::string& source) {
  check_in(source, holds, "the checkpoint is damaged; delete it to start afresh");
}

// A space follows every number.
std::vector<double> take_numbers(std::string_view& text, const std::string& source) {
  const std::string_view line = take_line(text, source);
  std::vector<double> values;
  for (const char *at = line.data(), *line_end = at + line.size(); at < line_end;) {
    double value = 0;
    const auto [end, error] = std::from_chars(at, line_end, value);
    check_intact(error == std::errc() && std::isfinite(value) && end < line_end && *end == ' ', source);
    values.push_back(value);
    at = end + 1;
  }
  return values;
}

bool is_count(double x) { return x >= 0 && x < 0x1p53 && x == std::floor(x); }

// Names the first setting that differs.
void check_settings(std::string_view made, std::string_view wanted, const std::string& source) {
  while (made != wanted) {
    const std::string_view old_word = made.substr(0, made.find(' '));
    const std::string_view new_word = wanted.substr(0, wanted.find(' '));
    check_in(source, old_word == new_word, "made with other settings ({}, now {}); give the same ones or another file",
             old_word, new_word);
    made.remove_prefix(std::min(made.size(), old_word.size() + 1));
    wanted.remove_prefix(std::min(wanted.size(), new_word.size() + 1));
  }
}

}  // namespace

std::string format_train_state(const TrainState& state, const ArsOptions& options) {
  std::string text = fmt::format("{}\n{}\n", kMagic, settings_line(options));
  append_numbers(text, {static_cast<double>(state.iteration), static_cast<double>(state.num_steps),
                        state.normaliser.count, state.best_return, state.best.num_actions > 0 ? 1.0 : 0.0});
  append_numbers(text, state.normaliser.mean);
  append_numbers(text, state.normaliser.squares);
  append_numbers(text, state.weights);
  if (state.best.num_actions > 0) {
    text += format_linear_policy(state.best);
  }
  return text;
}

TrainState parse_train_state(std::string_view text, const ArsOptions& options, const std::string& source) {
  check_in(source, text.starts_with(kMagic), "not a training checkpoint");
  take_line(text, source);
  const std::string_view settings = take_line(text, source);
  check_settings(settings, settings_line(options), source);
  const std::vector<double> numbers = take_numbers(text, source);
  check_intact(numbers.size() == 5 && is_count(numbers[0]) && is_count(numbers[1]) && numbers[2] >= 0 &&
                   (numbers[4] == 0 || numbers[4] == 1),
               source);
  TrainState state;
  state.iteration = static_cast<std::size_t>(numbers[0]);
  state.num_steps = static_cast<std::uint64_t>(numbers[1]);
  state.normaliser.count = numbers[2];
  state.best_return = numbers[3];
  state.normaliser.mean = take_numbers(text, source);
  state.normaliser.squares = take_numbers(text, source);
  check_intact(state.normaliser.mean.size() == state.normaliser.squares.size() &&
                   std::all_of(state.normaliser.squares.begin(), state.normaliser.squares.end(),
                               [](double sum) { return sum >= 0; }),
               source);
  state.weights = take_numbers(text, source);
  if (numbers[4] == 1) {
    state.best = parse_linear_policy(text, source);
  } else {
    check_intact(text.empty(), source);
  }
  return state;
}

}  // namespace dissent
