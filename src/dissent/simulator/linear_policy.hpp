// Linear policies with a normaliser and an optional clock, and their text file.
//
// z = the observation or its first entries, with sin(2 pi f t), cos(2 pi f t) and 1 appended when the clock frequency
// f > 0 (t = time since reset); action = W ((z - mean) * inverse_stddev), clipped to the action bounds. The file: any
// number of lines that begin with '#', then "A D f", a line of D means, a line of D inverse stddevs, and A lines of D
// weights. Numbers are written with the fewest digits that read back to the same bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dissent/simulator/policy.hpp"

namespace dissent {

struct LinearPolicyParameters {
  std::size_t num_actions = 0;
  std::size_t num_features = 0;
  double clock_hz = 0;
  std::vector<double> mean;            // [num_features]
  std::vector<double> inverse_stddev;  // [num_features], >= 0
  std::vector<double> weights;         // [num_actions][num_features]
};

// `source` names the text in errors, which give the line and the rule.
LinearPolicyParameters parse_linear_policy(std::string_view text, const std::string& source);
LinearPolicyParameters read_linear_policy(const std::string& path);
std::string format_linear_policy(const LinearPolicyParameters& parameters, std::string_view comment = {});

// How many features a clock of this frequency adds: three, or none at 0 Hz.
std::size_t num_clock_features(double clock_hz);

class LinearPolicy : public Policy {
 public:
  // Throws InputError when the sizes do not fit the environment.
  LinearPolicy(LinearPolicyParameters parameters, const EnvironmentSpec& spec, const std::string& source);
  void act(std::span<const double> observation, std::size_t step, Stream& stream,
           std::span<double> action) const override;
  std::string digest() const override;  // of its file without comments

 private:
  LinearPolicyParameters parameters_;
  EnvironmentSpec spec_;
};

}  // namespace dissent
