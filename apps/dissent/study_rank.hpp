// This process among those that a launcher has started together: mpirun, mpiexec or srun.
//
// Workers of a study meet in its store and send each other nothing, so no MPI library is needed. They need to know only
// which of them talks, and whether they are on one machine: launchers say both in the environment.
#pragma once

#include <cstddef>

namespace dissent::cli {

struct Rank {
  std::size_t number = 0;
  bool on_one_machine = true;  // as far as the launcher says
};

Rank rank_of_process();

}  // namespace dissent::cli
