// Warns of rows that look like errors (table/outliers.hpp), among the chosen rows or those of an aim, in one line on
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

// Prints nothing if no row looks like an error. `inputs` [N][C] are those of the pool rows `rows`, which count from 0
// as they do when rows are asked for; `encoding` says how inputs are made of columns. `asked`: people have already been
// asked for these rows, so the option is for later ones.
void warn_of_outliers(std::span<const UsualRange> usual, const TableEncoding& encoding,
                      std::span<const std::size_t> rows, std::span<const double> inputs, bool asked);

// The same for rows of an aim [A][C], which count from 1. They are compared with `others` [N][C] and with each other:
// rows that lie together far from the pool are not errors.
void warn_of_aim(std::span<const double> aim, std::span<const double> others, const TableEncoding& encoding);
void warn_of_aim(const Problem& data);  // nothing if it has no aim

}  // namespace dissent::cli
