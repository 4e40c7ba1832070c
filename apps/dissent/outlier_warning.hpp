// What is said of rows that look like errors (table/outliers.hpp), chosen ones and those of an aim, in one line on
// standard error:
//   "1 row looks like an error (row 40: z 222); --skip-outliers leaves it out"
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dissent/problem/problem.hpp"
#include "dissent/table/encoding.hpp"
#include "dissent/table/outliers.hpp"

namespace dissent::cli {

// Nothing where none looks so. `inputs` [N][C] are those of the rows of the pool with these numbers, which count from 0
// as they do where rows are asked for, made of columns as `encoding` says. `asked`: people are asked for them by now,
// so that the option is for the rows to come.
void warn_of_outliers(std::span<const UsualRange> usual, const TableEncoding& encoding,
                      std::span<const std::size_t> rows, std::span<const double> inputs, bool asked);

// The same of rows of an aim [A][C], which count from 1, beside `others` [N][C] and each other: rows that lie together
// far from the pool are no errors.
void warn_of_aim(std::span<const double> aim, std::span<const double> others, const TableEncoding& encoding);
void warn_of_aim(const Problem& data);  // nothing where it has none

}  // namespace dissent::cli
