// What is said of chosen rows that look like errors (table/outliers.hpp), in one line on standard error:
//   "1 row looks like an error (row 40: z 222); --skip-outliers leaves it out"
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dissent/table/encoding.hpp"
#include "dissent/table/outliers.hpp"

namespace dissent::cli {

// Nothing where none looks so. `inputs` [N][C] are those of the rows of the pool with these numbers, made of
// columns as `encoding` says. `asked`: people
// are asked for them by now, so that the option is for the rows to come.
void warn_of_outliers(std::span<const UsualRange> usual, const TableEncoding& encoding,
                      std::span<const std::size_t> rows, std::span<const double> inputs, bool asked);

}  // namespace dissent::cli
