#include "dissent/study/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/study/table_problem.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

constexpr double kLongestWait = 0.25;  // seconds, before it checks again whether a cell is free

// A cell of the store as the place of its campaign. It is recorded once per round: models are not kept, so a step
// inside a round would be repeated anyway, to the same bits. Targets come from the pool again, except for rows that
// waited for them when the campaign was stopped.
class CellStore final : public CampaignStore {
 public:
  // `data` has a pool whose targets are known.
  CellStore(StudyStore& store, Claim claim, const Problem& data)
      : store_(store), claim_(std::move(claim)), data_(data), campaign_(store.load(claim_)) {}

  std::string name() const override { return claim_.name; }
  bool begun() const override { return campaign_.has_value(); }
  void hold() override {}
  Campaign load() const override {
    Campaign campaign = campaign_.value();
    const std::size_t D = data_.target_names.size();
    // If the round of the fitted model is recorded, it has chosen, and its rows still wait: labels would have reset it.
    const std::size_t waiting = campaign.fitted && campaign.fitted->round == campaign.rounds.size()
                                    ? campaign.rounds.size()
                                    : campaign.rounds.size() + 1;
    for (ChosenRow& chosen : campaign.chosen) {
      const bool told = chosen.is_pending() && chosen.round < waiting;
      if (told && chosen.row < data_.pool.num_rows && campaign.num_targets == D) {  // else it is refused for that
        const std::span<const double> own = std::span(data_.pool.targets).subspan(chosen.row * D, D);
        chosen.targets.assign(own.begin(), own.end());
      }
    }
    return campaign;
  }
  void save(const Campaign& campaign) override {
    if (!campaign.rounds.empty() && !campaign.fitted && campaign.num_pending() == 0) {
      store_.record(claim_, campaign);
    }
  }
  void save_model(const Ensemble&) override {}
  std::optional<Ensemble> load_model(std::uint64_t) const override { return std::nullopt; }
  void save_data(const CampaignTables&) override {}
  CampaignTables load_data() const override { fail("{}: a study keeps no tables", name()); }
  void clear() override { fail("{}: a study removes no campaign", name()); }
  void write_tables(const Campaign&, const Problem&) override {}

 private:
  StudyStore& store_;
  Claim claim_;
  const Problem& data_;
  std::optional<Campaign> campaign_;
};

// Renews a claim from a thread of its own until it ends.
class Heartbeat {
 public:
  Heartbeat(StudyStore& store, const Claim& claim) : thread_([this, &store, claim] { beat(store, claim); }) {}
  ~Heartbeat() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat(StudyStore& store, const Claim& claim) {
    std::unique_lock lock(mutex_);
    const auto period = std::chrono::duration<double>(claim.lease / 4);
    while (!wake_.wait_for(lock, period, [&] { return ended_; })) {
      try {
        store.renew(claim);
      } catch (const LeaseLost&) {
        return;                          // the next round that is recorded will find out
      } catch (const std::exception&) {  // it may pass by the next time
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

LearnEnd run_cell(StudyStore& store, const Cell& cell, const Claim& claim, const StudyControl& control) {
  const CampaignSettings settings = cell.campaign_settings();
  const Problem data = cell_problem(cell, control.problem);
  CellStore place(store, claim, data);
  Campaign campaign = open_campaign(place, data, settings);
  TableOracle oracle;
  LearnControl learning;
  learning.executor = control.executor;
  learning.device = control.device;
  learning.scores = control.scores;
  learning.measure_beside = control.device != nullptr;
  learning.stop = control.stop;
  learning.finished = [&](const RoundRecord& record) {
    if (control.finished_round) {
      control.finished_round(claim, record);
    }
  };
  const LearnEnd end = learn(place, campaign, data, oracle, cell.rounds, learning);
  store.record(claim, campaign);  // with the last model
  return end;
}

// Runs a cell and records how it ended; `error` says what is wrong with its input. A worker that cannot go on gives the
// cell back, if it still can.
LearnEnd run_claimed(StudyStore& store, const Cell& cell, const Claim& claim, const StudyControl& control,
                     std::string& error) {
  LearnEnd end = LearnEnd::kStopped;
  try {
    const Heartbeat heartbeat(store, claim);
    end = run_cell(store, cell, claim, control);
  } catch (const LeaseLost&) {
    throw;
  } catch (const InputError& failure) {
    error = failure.what();
  } catch (...) {
    try {
      store.release(claim);
    } catch (const Error&) {  // the lease ends by itself
    }
    throw;
  }
  if (!error.empty()) {
    store.fail(claim, error);
    return LearnEnd::kRoundsDone;
  }
  if (end == LearnEnd::kStopped) {
    store.release(claim);
  } else {
    store.finish(claim);
  }
  return end;
}

}  // namespace

Problem cell_problem(const Cell& cell, ProblemOptions options) {
  const CampaignSettings settings = cell.campaign_settings();
  Problem problem;
  if (cell.table) {
    problem = table_problem(cell, settings, read_table(cell.table->file));
  } else {
    options.seed = settings.fit.ensemble.seed;
    options.data_seed = cell.data_seed;
    options.pool_policy = cell.pool_policy;
    problem = load_problem(cell.problem, options);
    apply_settings(problem, settings);
  }
  if (cell.aim == kAimAtTest) {
    problem.aim = {problem.test.num_rows, problem.test.inputs, {}, problem.test.source};
  } else if (!cell.aim.empty()) {
    problem.aim = aim_rows(read_table(cell.aim), problem);
  }
  return problem;
}

std::string worker_name(std::size_t thread) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const auto start = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{}:{}:{}:{:x}", host.data(), getpid(), thread, start);
}

std::string worker_process(std::string_view worker) {
  for (int part = 0; part < 2; ++part) {  // the thread, and when it began
    worker = worker.substr(0, worker.rfind(':'));
  }
  return std::string(worker);
}

std::size_t run_cells(StudyStore& store, const Grid& grid, const StudyControl& control) {
  std::unordered_map<std::string_view, const Cell*> by_name;
  for (const Cell& cell : grid.cells) {
    by_name[cell.name] = &cell;
  }
  const auto stopped = [&] { return control.stop && control.stop(); };
  std::size_t ended = 0;
  while (!stopped()) {
    const std::optional<Claim> claim = store.claim(grid.name, control.worker, control.lease, control.only);
    if (!claim) {
      const std::vector<HeldCell> held = store.held(grid.name, control.only);
      if (held.empty()) {
        break;
      }
      if (control.waiting) {
        control.waiting(held);
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kLongestWait, control.lease / 4)));
      continue;
    }
    const auto cell = by_name.find(claim->name);
    if (cell == by_name.end()) {  // another worker has added more of them
      store.release(*claim);
      break;
    }
    std::string error;
    try {
      if (run_claimed(store, *cell->second, *claim, control, error) == LearnEnd::kStopped) {
        break;
      }
    } catch (const LeaseLost&) {
      continue;  // another worker has it
    }
    ++ended;
    if (control.ended) {
      control.ended(*claim, error);
    }
  }
  return ended;
}

}  // namespace dissent
