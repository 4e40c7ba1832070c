#include "dissent/mixture/shape_doubt.hpp"

#include <fmt/format.h>

namespace dissent {
namespace {

constexpr std::size_t kManyComponents = 64;
constexpr std::size_t kManyTimes = 4;  // this many times the inputs

}  // namespace

std::string shape_doubt(std::size_t num_inputs, std::size_t num_components) {
  const std::string understood =
      fmt::format("understood as N = {} and M = {} (inputs, components)", num_inputs, num_components);
  if (num_components == 1 && num_inputs > 0) {
    return understood + ": a single component has nobody to disagree with, so epistemic is 0 everywhere";
  }
  if (num_components >= kManyComponents && num_components > kManyTimes * num_inputs) {
    return understood + ", which is many components for so few inputs";
  }
  return "";
}

}  // namespace dissent
