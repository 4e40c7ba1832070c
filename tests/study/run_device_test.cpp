// Campaigns of a study whose networks another machine part trains: all jobs share it, and one that it fails gives its
// campaign back.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/device/device_error.hpp"
#include "dissent/ensemble/fit_device.hpp"
#include "dissent/study/run.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

// Leaves all weights as they were drawn.
class StillDevice final : public FitDevice {
 public:
  std::string refuses(const FitProblem&) const override { return ""; }
  std::unique_ptr<DeviceFit> begin(const FitProblem&) override { return std::make_unique<Fit>(*this); }

  std::atomic<int> num_fits = 0;
  std::atomic<int> fails_at = -1;  // the number of the fit that finds the memory full

 private:
  class Fit final : public DeviceFit {
   public:
    explicit Fit(StillDevice& device) : number_(device.num_fits++), fails_(number_ == device.fails_at) {}
    void run(std::span<const UnitEpochs>, const FitBlocks&, std::span<double> losses) override {
      if (fails_) {
        throw DeviceMemoryError("the GPU failed at cudaMalloc: out of memory");
      }
      std::ranges::fill(losses, 0.0);
    }

   private:
    int number_;
    bool fails_;
  };
};

class RunOnDevice : public testing::Test {
 protected:
  RunOnDevice() : store_(StudyStore::open("sqlite:" + directory_.file("runs.db"))) {
    grid_ = parse_grid(R"(name = "small"
rounds = 2
[settings]
model = "pne"
epochs = 3
components = 2
batch = 4
candidates = 50
[grid]
problem = "hetero"
acquisition = ["random", "kl"]
seed = "0-3"
)",
                       "small.toml");
    store_->add(grid_);
  }

  StudyControl control(std::size_t number) {
    StudyControl control;
    control.worker = worker_name(number);
    control.device = &device_;
    return control;
  }

  static constexpr int kModels = 8 * 3;  // two rounds of each campaign, and the model after them
  TempDir directory_;
  StillDevice device_;
  Grid grid_;
  std::unique_ptr<StudyStore> store_;
};

TEST_F(RunOnDevice, JobsOfOneProcessRunEachCampaignOnce) {
  std::atomic<std::size_t> ended = 0;
  {
    std::vector<std::jthread> jobs;
    for (std::size_t number = 0; number < 6; ++number) {
      jobs.emplace_back([&, number] { ended += run_cells(*store_, grid_, control(number)); });
    }
  }
  EXPECT_EQ(ended, 8U);
  EXPECT_EQ(device_.num_fits, kModels);
  for (const CellRecord& cell : store_->cells("small")) {
    EXPECT_EQ(cell.state, CellState::kDone) << cell.error;
  }
}

// Rounds are measured on threads beside the jobs. Wherever a job is stopped, they are measured before they are
// recorded.
TEST_F(RunOnDevice, StoppedAnywhereItEndsWithTheSameMetrics) {
  const auto metrics_of = [](StudyStore& store) {
    std::string text;
    for (const CellRound& round : store.rounds("small")) {
      text +=
          fmt::format("{} {} {} {}\n", round.cell, round.record.round, round.record.rmse, round.record.log_likelihood);
      EXPECT_GT(round.record.rmse, 0);
    }
    return text;
  };
  run_cells(*store_, grid_, control(0));
  const auto broken = StudyStore::open("sqlite:" + directory_.file("broken.db"));
  broken->add(grid_);
  for (int steps = 1; broken->num_ended("small") < grid_.cells.size(); ++steps) {
    int asked = 0;
    StudyControl stopped = control(1);
    stopped.stop = [&] { return ++asked > steps; };
    run_cells(*broken, grid_, stopped);
    metrics_of(*broken);
  }
  EXPECT_EQ(metrics_of(*broken), metrics_of(*store_));
}

TEST_F(RunOnDevice, AFullMemoryGivesTheCampaignBack) {
  device_.fails_at = 4;
  EXPECT_THROW(run_cells(*store_, grid_, control(0)), DeviceMemoryError);
  EXPECT_EQ(store_->held("small").size(), 0U);
  run_cells(*store_, grid_, control(1));
  EXPECT_EQ(store_->num_ended("small"), 8U);
  for (const CellRecord& cell : store_->cells("small")) {
    EXPECT_EQ(cell.state, CellState::kDone) << cell.error;
  }
}

}  // namespace
}  // namespace dissent
