#include "study_rank.hpp"

#include <cstdlib>
#include <optional>

#include "dissent/base/parse.hpp"

namespace dissent::cli {
namespace {

std::optional<std::size_t> variable(const char* name) {
  const char* text = std::getenv(name);
  const auto number = text == nullptr ? std::nullopt : parse_whole(text);
  return number ? std::optional<std::size_t>(*number) : std::nullopt;
}

// Where each launcher keeps the rank, the number of ranks, and the number of them on this machine.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_size;
};

constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},  // Open MPI
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},                                     // MPICH, Intel MPI
};

}  // namespace

Rank rank_of_process() {
  for (const Launcher& launcher : kLaunchers) {
    if (const auto rank = variable(launcher.rank)) {
      const auto size = variable(launcher.size);
      const auto local_size = variable(launcher.local_size);
      const bool one_node = variable("SLURM_STEP_NUM_NODES").value_or(1) == 1;
      return {*rank, size && local_size ? *size == *local_size : one_node};
    }
  }
  // Slurm's srun; a job array has one rank 0 in each of its tasks, and a log for each.
  return {variable("SLURM_PROCID").value_or(0), variable("SLURM_STEP_NUM_NODES").value_or(1) == 1};
}

}  // namespace dissent::cli
