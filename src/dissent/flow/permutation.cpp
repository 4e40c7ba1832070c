#include "dissent/flow/permutation.hpp"

#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {

Permutation identity_permutation(std::size_t size) {
  Permutation permutation(size);
  std::iota(permutation.begin(), permutation.end(), 0u);
  return permutation;
}

Permutation random_permutation(std::size_t size, std::uint64_t seed, std::uint64_t index) {
  Permutation permutation = identity_permutation(size);
  Stream(seed, Purpose::kPermute, index).shuffle(std::span(permutation));
  return permutation;
}

Permutation inverse_permutation(std::span<const std::uint32_t> permutation) {
  const std::size_t size = permutation.size();
  Permutation inverse(size, static_cast<std::uint32_t>(size));
  for (std::size_t k = 0; k < size; ++k) {
    check(permutation[k] < size, "permutation[{}] = {} is not below its size {}", k, permutation[k], size);
    check(inverse[permutation[k]] == size, "permutation[{}] = {} occurs twice", k, permutation[k]);
    inverse[permutation[k]] = static_cast<std::uint32_t>(k);
  }
  return inverse;
}

}  // namespace dissent
