// Permutations of the outputs between coupling layers: out[k] = in[permutation[k]].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dissent {

using Permutation = std::vector<std::uint32_t>;

Permutation identity_permutation(std::size_t size);

// Uniformly random, a function of (seed, index) alone.
Permutation random_permutation(std::size_t size, std::uint64_t seed, std::uint64_t index = 0);

// inverse[permutation[k]] = k. InputError unless every value below its size occurs exactly once.
Permutation inverse_permutation(std::span<const std::uint32_t> permutation);

}  // namespace dissent
