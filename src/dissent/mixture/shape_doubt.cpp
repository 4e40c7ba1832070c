#include "dissent/mixture/shape_doubt.hpp"

#include <fmt/format.h>

namespace dissent {
namespace {

constexpr std::size_t kManyComponents = 64;
constexpr std::size_t kManyTimes = 4;  // as many as inputs

}  // namespace

std::string shape_doubt(std::size_t num_inputs, std::size_t num_components) {
  if (num_components == 1 && num_inputs > 0) {
    return fmt::format(
        "understood as N = {} inputs and M = 1 component: with nobody to disagree with, epistemic is 0 everywhere",
        num_inputs);
  }
  if (num_components >= kManyComponents && num_components > kManyTimes * num_inputs) {
    return fmt::format(
        "understood as N = {} inputs and M = {} components; inputs are the first axis, components the second",
        num_inputs, num_components);
  }
  return "";
}

}  // namespace dissent
