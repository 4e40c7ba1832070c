// Rows chosen by arrays: what a model's own predictions choose is what the model chooses.
#include <gtest/gtest.h>

#include <numeric>

#include "acquisition/models.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

Choice choose_by(const std::string& name, const Ensemble& model, std::span<const double> candidates) {
  return choose(Acquisition::parse(name), {model, {}, 6, Stream(3, Purpose::kAcquire), nullptr}, candidates);
}

std::vector<double> numbers(std::size_t count) {
  std::vector<double> rows(count);
  std::iota(rows.begin(), rows.end(), 0.0);
  return rows;
}

TEST(Given, ChoosesAsTheModelDoes) {
  const Ensemble model = test::drawn_model({.num_inputs = 3, .weights = {0.3, 0.2, 0.2, 0.2, 0.1}});
  const std::vector<double> candidates = test::drawn_rows(400, 3);
  const Mixture<double> mixture = model.predict(candidates);
  const Ensemble given = given_ensemble(mixture.view());
  for (const AcquisitionInfo& info : acquisitions()) {
    if (info.needs_network) {
      continue;
    }
    const std::string letter(info.parameter.letter);
    const std::string name = info.name + (letter.empty() ? "" : letter == "K" ? ":300" : ":0.3");
    const Choice ours = choose_by(name, given, numbers(400));
    const Choice theirs = choose_by(name, model, candidates);
    EXPECT_EQ(ours.rows, theirs.rows) << name;
    for (std::size_t k = 0; k < ours.rows.size(); ++k) {
      EXPECT_NEAR(ours.epistemic[k], theirs.epistemic[k], 1e-4) << name;
      EXPECT_NEAR(ours.aleatoric[k], theirs.aleatoric[k], 1e-9) << name;
    }
  }
}

TEST(Given, NetworksAndASecondComponentAreAskedFor) {
  const Mixture<double> mixture =
      test::drawn_model({.num_components = 3, .weights = {1, 0, 0}}).predict(test::drawn_rows(9, 2));
  const Ensemble given = given_ensemble(mixture.view());
  const auto message = [&](const char* name) {
    return message_of<InputError>([&] { choose_by(name, given, numbers(9)); });
  };
  EXPECT_NE(message("badge").find("last layer"), std::string::npos);
  EXPECT_NE(message("kl").find("needs at least two components of weight > 0"), std::string::npos);
  EXPECT_EQ(choose_by("random", given, numbers(9)).rows.size(), 6U);
}

}  // namespace
}  // namespace dissent
