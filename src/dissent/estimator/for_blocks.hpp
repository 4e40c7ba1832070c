// The loop that estimators share: blocks of inputs over the threads of a pool, each thread with its own scratch object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "dissent/estimator/estimator.hpp"

namespace dissent {

// Calls body(scratch, begin, count) for the blocks of [0, num_inputs); make() gives a thread its scratch on first use.
template <class Make, class Body>
void for_input_blocks(std::size_t num_inputs, std::size_t block_size, const EstimateOptions& options, const Make& make,
                      const Body& body) {
  if (options.pool == nullptr) {
    auto scratch = make();
    for (std::size_t begin = 0; begin < num_inputs; begin += block_size) {
      body(scratch, begin, std::min(block_size, num_inputs - begin));
    }
    return;
  }
  std::vector<std::optional<decltype(make())>> scratch(static_cast<std::size_t>(options.pool->num_threads()));
  options.pool->for_blocks(num_inputs, block_size, [&](std::size_t begin, std::size_t end, int thread) {
    auto& own = scratch[static_cast<std::size_t>(thread)];
    if (!own) {
      own.emplace(make());
    }
    body(*own, begin, end - begin);
  });
}

}  // namespace dissent
