// What a choice is asked for, whatever makes it, and its answer as Python gets it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "support.hpp"

namespace dissent::python {

struct Asked {
  std::string acquisition;
  std::size_t batch;
  std::uint64_t seed;
  std::string ranking;
  bool utilities;
  int threads;
};

// Rows [B] and scores [B] of the chosen, in the order of choice; and, if asked for, utilities [B, N] of all candidates.
inline py::tuple to_tuple(Choice choice, std::vector<double> utilities, const Asked& asked, std::size_t num_rows) {
  py::object matrix = py::none();
  if (asked.utilities) {
    matrix = to_numpy(std::move(utilities), {asked.batch, num_rows});
  }
  return py::make_tuple(to_numpy(std::vector<std::int64_t>(choice.rows.begin(), choice.rows.end())),
                        to_numpy(std::move(choice.scores)), matrix);
}

}  // namespace dissent::python
