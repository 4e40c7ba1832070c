#include "dissent/simulator/linear_policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>

#include "dissent/base/check_in.hpp"
#include "dissent/base/digest.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/simulator/named_data.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMaxFeatures = 4096;  // room for every environment; a lying header must not allocate gigabytes

// Hands out the lines of a text that are not comments, counting all of them for messages.
class Lines {
 public:
  Lines(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  // The next line as exactly `count` finite numbers.
  std::vector<double> numbers(std::size_t count, const char* what) {
    std::string_view line = next(what);
    std::vector<double> values;
    while (true) {
      const std::size_t start = line.find_first_not_of(" \t\r");
      if (start == std::string_view::npos) {
        break;
      }
      line.remove_prefix(start);
      const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
      const std::optional<double> value = parse_number(word);
      check_in(source_, value && std::isfinite(*value), "line {}: \"{}\" is not a finite number", number_, word);
      values.push_back(*value);
      check_in(source_, values.size() <= count, "line {}: more than {} numbers ({})", number_, count, what);
      line.remove_prefix(word.size());
    }
    check_in(source_, values.size() == count, "line {}: {} numbers, expected {} ({})", number_, values.size(), count,
             what);
    return values;
  }

  void expect_end() const {
    check_in(source_, rest_.find_first_not_of(" \t\r\n") == std::string_view::npos,
             "text follows the last row of weights");
  }

 private:
  std::string_view next(const char* what) {
    while (true) {
      check_in(source_, !rest_.empty(), "ends before the {}; the file is cut short", what);
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (!line.starts_with('#')) {
        return line;
      }
    }
  }

  std::string_view rest_;
  const std::string& source_;
  std::size_t number_ = 0;
};

void append_row(std::string& text, std::span<const double> row) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    fmt::format_to(std::back_inserter(text), "{}{}", k == 0 ? "" : " ", row[k]);
  }
  text += '\n';
}

}  // namespace

LinearPolicyParameters parse_linear_policy(std::string_view text, const std::string& source) {
  Lines lines(text, source);
  const std::vector<double> header = lines.numbers(3, "header: actions, features, clock frequency");
  const auto is_size = [](double x) { return x >= 1 && x <= kMaxFeatures && x == std::floor(x); };
  check_in(source, is_size(header[0]) && is_size(header[1]),
           "{} actions and {} features; both must be whole and in [1, {}]", header[0], header[1], kMaxFeatures);
  check_in(source, header[2] >= 0, "clock frequency {} is negative", header[2]);

  LinearPolicyParameters parameters;
  parameters.num_actions = static_cast<std::size_t>(header[0]);
  parameters.num_features = static_cast<std::size_t>(header[1]);
  parameters.clock_hz = header[2];
  parameters.mean = lines.numbers(parameters.num_features, "means");
  parameters.inverse_stddev = lines.numbers(parameters.num_features, "inverse stddevs");
  for (std::size_t k = 0; k < parameters.num_features; ++k) {
    check_in(source, parameters.inverse_stddev[k] >= 0, "inverse stddev {} = {} is negative", k,
             parameters.inverse_stddev[k]);
  }
  for (std::size_t row = 0; row < parameters.num_actions; ++row) {
    const std::vector<double> weights = lines.numbers(parameters.num_features, "weights of an action");
    parameters.weights.insert(parameters.weights.end(), weights.begin(), weights.end());
  }
  lines.expect_end();
  return parameters;
}

LinearPolicyParameters read_linear_policy(const std::string& path) {
  return parse_linear_policy(read_text(path), path);
}

std::string format_linear_policy(const LinearPolicyParameters& parameters, std::string_view comment) {
  std::string text;
  while (!comment.empty()) {
    const std::size_t end = std::min(comment.find('\n'), comment.size());
    fmt::format_to(std::back_inserter(text), "# {}\n", comment.substr(0, end));
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
  fmt::format_to(std::back_inserter(text), "{} {} {}\n", parameters.num_actions, parameters.num_features,
                 parameters.clock_hz);
  append_row(text, parameters.mean);
  append_row(text, parameters.inverse_stddev);
  for (std::size_t row = 0; row < parameters.num_actions; ++row) {
    append_row(text, std::span(parameters.weights).subspan(row * parameters.num_features, parameters.num_features));
  }
  return text;
}

std::size_t num_clock_features(double clock_hz) { return clock_hz > 0 ? 3 : 0; }

LinearPolicy::LinearPolicy(LinearPolicyParameters parameters, const EnvironmentSpec& spec, const std::string& source)
    : parameters_(std::move(parameters)), spec_(spec) {
  const std::size_t clock = num_clock_features(parameters_.clock_hz);
  const std::size_t most = spec.observation_size + clock;
  check_in(source,
           parameters_.num_actions == spec.action_size() && parameters_.num_features > clock &&
               parameters_.num_features <= most,
           "a policy of {} actions and {} features; {} needs {} actions and {} to {} features", parameters_.num_actions,
           parameters_.num_features, spec.name, spec.action_size(), clock + 1, most);
  check_in(source, most <= kMaxFeatures, "{} features; at most {} are supported", most, kMaxFeatures);
}

std::string LinearPolicy::digest() const {
  return fmt::format("{:016x}", dissent::digest(format_linear_policy(parameters_)));
}

void LinearPolicy::act(std::span<const double> observation, std::size_t step, Stream&, std::span<double> action) const {
  const LinearPolicyParameters& p = parameters_;
  std::array<double, kMaxFeatures> buffer;
  const std::span<double> z(buffer.data(), p.num_features);
  const std::size_t num_observed = p.num_features - num_clock_features(p.clock_hz);
  std::copy_n(observation.begin(), num_observed, z.begin());
  if (p.clock_hz > 0) {
    const double phase = 2 * std::numbers::pi * p.clock_hz * static_cast<double>(step) * spec_.seconds_per_step;
    z[num_observed] = std::sin(phase);
    z[num_observed + 1] = std::cos(phase);
    z[num_observed + 2] = 1;
  }
  for (std::size_t k = 0; k < p.num_features; ++k) {
    z[k] = (z[k] - p.mean[k]) * p.inverse_stddev[k];
  }
  for (std::size_t a = 0; a < p.num_actions; ++a) {
    double sum = 0;
    for (std::size_t k = 0; k < p.num_features; ++k) {
      sum += p.weights[a * p.num_features + k] * z[k];
    }
    action[a] = std::clamp(sum, spec_.action_low[a], spec_.action_high[a]);
  }
}

}  // namespace dissent
