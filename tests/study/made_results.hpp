// Results of studies that were never run, for tests of what is made of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dissent/base/digest.hpp"
#include "dissent/base/random.hpp"
#include "dissent/study/results.hpp"

namespace dissent {

// A run whose model after k rounds has the RMSE rmse[k], and the log-likelihood -rmse[k].
inline StudyRun made_run(const std::string& problem, const std::string& model, const std::string& acquisition,
                         std::uint64_t seed, const std::vector<double>& rmse,
                         const std::vector<std::pair<std::string, std::string>>& others = {}) {
  StudyRun run{.name = "problem=" + problem + " model=" + model + " acquisition=" + acquisition,
               .problem = problem,
               .model = model,
               .acquisition = acquisition,
               .method = acquisition,
               .seed = seed,
               .state = CellState::kDone};
  for (const auto& [axis, value] : others) {
    run.axes.emplace_back(axis, value);
    run.method += ", " + axis + "=" + value;
    run.name += " " + axis + "=" + value;
  }
  run.name += " seed=" + std::to_string(seed);
  for (std::size_t after = 0; after < rmse.size(); ++after) {
    run.rounds.push_back({.round = after + 1,
                          .labelled = 100 + 10 * after,
                          .rmse = rmse[after],
                          .rmse_paper = rmse[after] / 2,
                          .log_likelihood = -rmse[after]});
  }
  return run;
}

// Three models a run, their RMSE about `level` with a spread of 1% from seed to seed.
inline void add_runs(StudyResults& results, const std::string& problem, const std::string& model,
                     const std::string& acquisition, std::size_t num_seeds, double level,
                     const std::vector<std::pair<std::string, std::string>>& others = {}) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    Stream stream(seed, Purpose::kTest, digest(problem + model + acquisition));
    std::vector<double> rmse;
    for (int after = 0; after < 3; ++after) {
      rmse.push_back(level * (1 + 0.01 * stream.normal()));
    }
    results.runs.push_back(made_run(problem, model, acquisition, seed, rmse, others));
  }
}

// kl, mc and random with five seeds, two rounds each.
inline StudyResults small_study() {
  StudyResults results{.study = "small", .source = "test"};
  const std::vector<std::vector<double>> kl = {{5, 3, 1}, {5, 3.5, 1.5}, {5, 3, 2}, {6, 4, 1}, {5, 3, 1.25}};
  const std::vector<std::vector<double>> mc = {{5, 4, 3}, {5, 4.5, 2.5}, {5, 3.5, 3}, {6, 4, 3}, {5, 4, 2.75}};
  const std::vector<std::vector<double>> random = {{5, 5, 4}, {5, 5, 4.5}, {5, 4, 4}, {6, 6, 4}, {5, 5, 4}};
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    results.runs.push_back(made_run("hetero", "pne", "random", seed, random[seed]));
    results.runs.push_back(made_run("hetero", "pne", "kl", seed, kl[seed]));
    results.runs.push_back(made_run("hetero", "pne", "mc:100", seed, mc[seed]));
  }
  return results;
}

}  // namespace dissent
