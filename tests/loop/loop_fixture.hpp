// A problem of a few rows and a model that is fitted in milliseconds, for tests of campaigns.
#pragma once

#include <cmath>
#include <cstddef>

#include "dissent/base/random.hpp"
#include "dissent/loop/learn.hpp"

namespace dissent {

// y0 = sin x0 + x1, y1 = x0 x1.
inline Problem small_problem(std::size_t pool_rows = 60) {
  Problem problem;
  problem.name = "small";
  problem.input_names = {"x0", "x1"};
  problem.target_names = {"y0", "y1"};
  Stream stream(1, Purpose::kTest);
  const auto fill = [&](ProblemRows& rows, std::size_t count) {
    rows.num_rows = count;
    for (std::size_t row = 0; row < count; ++row) {
      const double a = 4 * stream.uniform() - 2;
      const double b = stream.uniform();
      rows.inputs.insert(rows.inputs.end(), {a, b});
      rows.targets.insert(rows.targets.end(), {std::sin(a) + b, a * b});
    }
  };
  fill(problem.train, 12);
  fill(problem.pool, pool_rows);
  fill(problem.test, 30);
  return problem;
}

inline CampaignSettings quick_settings() {
  CampaignSettings settings;
  settings.fit.ensemble.model = Model::kPne;
  settings.fit.ensemble.hidden = {8};
  settings.fit.ensemble.num_components = 3;
  settings.fit.ensemble.seed = 5;
  settings.fit.train.epochs = 15;
  settings.batch = 4;
  return settings;
}

}  // namespace dissent
