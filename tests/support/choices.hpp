// The same rows chosen by the host among given arrays, and on a device among its own, from the same stream.
#pragma once

#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "dissent/estimator/score_device.hpp"

namespace dissent::test {

// What can choose on a device: a divergence of each kind, and its joint form.
inline constexpr const char* kMethodsThere[] = {
    "kl",       "jeffreys",       "bhattacharyya",       "chernoff:0.3",
    "kl-joint", "jeffreys-joint", "bhattacharyya-joint", "chernoff-joint:0.3"};

// 0, 1, ...: how candidates name the rows of given arrays.
inline std::vector<double> row_numbers(std::size_t count) {
  std::vector<double> rows(count);
  std::iota(rows.begin(), rows.end(), 0.0);
  return rows;
}

inline Choice choose_on_host(std::string_view name, const Mixture<double>& mixture, std::size_t batch,
                             Ranking ranking = Ranking::kDeficit) {
  const Ensemble model = given_ensemble(mixture.view());
  ThreadPool threads(2);
  return choose(Acquisition::parse(name),
                {.model = model,
                 .training = {},
                 .batch = batch,
                 .stream = Stream(3, Purpose::kAcquire),
                 .executor = &threads,
                 .ranking = ranking,
                 .aleatoric = false},
                row_numbers(mixture.num_inputs));
}

inline Choice choose_on_device(std::string_view name, PoolOnDevice& pool, std::size_t batch,
                               Ranking ranking = Ranking::kDeficit) {
  ThreadPool threads(2);
  return choose_there(
      Acquisition::parse(name),
      {.pool = pool, .batch = batch, .stream = Stream(3, Purpose::kAcquire), .executor = &threads, .ranking = ranking});
}

}  // namespace dissent::test
