// A table from any file that holds columns, by its ending: .csv or .tsv (also packed: .csv.gz, .tsv.gz), .npz, .h5 or
// .hdf5; "-" is standard input, text with any delimiter.
//
// In archives every array with one axis is a column with its name, and one with two axes [rows, k] gives k columns,
// named after the array and a number from 0: "observations0", "observations1", ... All must have the same number of
// rows.
#pragma once

#include <string>

#include "dissent/table/table.hpp"

namespace dissent {

// For messages and help: ".csv, .tsv, .npz, .h5 or .hdf5".
inline constexpr const char* kTableEndings = ".csv, .tsv, .npz, .h5 or .hdf5";

// Whether a file is a table of text, by its name.
bool is_text_table(const std::string& path);

// InputError for an unknown ending, and for what the formats' own readers refuse.
Table read_table(const std::string& path);

}  // namespace dissent
