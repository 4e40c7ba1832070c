// What batchbald hands to a device, and what it does with the answers: a device that has none but the plain formula
// must lead to the same choice.
#include <gtest/gtest.h>

#include "acquisition/models.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "support/plain_device.hpp"

namespace dissent {
namespace {

TEST(BatchbaldOnADevice, ChoosesAsWithoutOne) {
  const Ensemble model = test::drawn_model({.num_inputs = 3, .weights = {0.3, 0.2, 0, 0.3, 0.2}});
  const std::vector<double> candidates = test::drawn_rows(60, 3);
  const std::vector<double> pending = test::drawn_rows(2, 3);
  AcquisitionTask task{.model = model, .training = {}, .batch = 4, .stream = Stream(3, Purpose::kAcquire)};
  task.pending = pending;
  const Choice expected = choose(Acquisition::parse("batchbald:200"), task, candidates);
  test::PlainDevice device;
  task.device = &device;
  const Choice found = choose(Acquisition::parse("batchbald:200"), task, candidates);
  EXPECT_EQ(found.rows, expected.rows);
  ASSERT_EQ(found.scores.size(), expected.scores.size());
  for (std::size_t k = 0; k < expected.scores.size(); ++k) {
    EXPECT_NEAR(found.scores[k], expected.scores[k], 1e-9);
    EXPECT_NEAR(found.epistemic[k], expected.epistemic[k], 1e-9);
  }
  EXPECT_EQ(device.calls, 5u);  // each row alone, and once for each pick after those on their way
}

}  // namespace
}  // namespace dissent
