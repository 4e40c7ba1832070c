// Which of a few centres is nearest, vectorised over rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dissent/matrix/panel.hpp"

namespace dissent {

// For the squared distance |row|^2 + gap, gap = |centre|^2 - 2 <row, centre>.
struct NearestCentres {
  Panel<const float> products;  // [centres][rows]: <row, centre>
  const float* norms;           // [centres]: |centre|^2
  std::int32_t first;           // number of the first centre
  std::size_t count;            // of rows
  float* gap;                   // [padded count]: the smallest so far, lowered where a centre is nearer
  std::int32_t* centre;         // [padded count]: which centre that is
};

void nearest_centres(const NearestCentres& task);

}  // namespace dissent
