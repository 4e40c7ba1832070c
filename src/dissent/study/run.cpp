#include "dissent/study/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <unordered_map>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/loop/tables.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

constexpr double kLongestWait = 0.25;  // seconds, until it is asked again whether a cell is free

// A cell of the store as the place of its campaign. It is recorded once a round: models are not kept, so that a step
// inside of one would be taken again all the same, to the same bits.
class CellStore final : public CampaignStore {
 public:
  CellStore(StudyStore& store, Claim claim) : store_(store), claim_(std::move(claim)), campaign_(store.load(claim_)) {}

  std::string name() const override { return claim_.name; }
  bool begun() const override { return campaign_.has_value(); }
  void hold() override {}
  Campaign load() const override { return campaign_.value(); }
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
      } catch (const std::exception&) {  // it may pass until the next time
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

Table rows_of(const Table& table, std::span<const std::size_t> rows) {
  Table part{.source = table.source, .num_rows = rows.size(), .columns = {}};
  for (const Column& column : table.columns) {
    Column picked;
    picked.name = column.name;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (column.is_text()) {
        picked.text.push_back(column.text[rows[k]]);
      } else {
        picked.values.push_back(column.values[rows[k]]);
      }
      if (column.is_missing(rows[k])) {
        picked.missing_rows.push_back(k);
      }
    }
    picked.first_text_row = column.is_text() ? std::optional<std::size_t>(0) : std::nullopt;
    part.columns.push_back(std::move(picked));
  }
  return part;
}

// The test rows are drawn by data_seed, the first labelled ones among the others by the campaign's seed.
Problem table_problem(const Cell& cell, const CampaignSettings& settings) {
  const GridTable& spec = cell.table.value();
  const Table all = read_table(spec.file);
  check(all.num_rows >= spec.labelled + spec.test + settings.batch,
        "{}: it has {} rows; {} labelled, {} test rows and a batch of {} are asked for", spec.file, all.num_rows,
        spec.labelled, spec.test, settings.batch);
  std::vector<std::size_t> rows(all.num_rows);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  Stream(cell.data_seed, Purpose::kSplit).shuffle(std::span(rows));
  const std::span test = std::span(rows).first(spec.test);
  const std::span rest = std::span(rows).subspan(spec.test);
  Stream(settings.fit.ensemble.seed, Purpose::kSplit, 1).shuffle(rest);
  const CampaignTables tables{.labelled = rows_of(all, rest.first(spec.labelled)),
                              .pool = rows_of(all, rest.subspan(spec.labelled)),
                              .test = rows_of(all, test),
                              .columns = {.targets = spec.targets, .inputs = spec.inputs}};
  return make_problem(tables, true, settings);
}

LearnEnd run_cell(StudyStore& store, const Cell& cell, const Claim& claim, const StudyControl& control) {
  const CampaignSettings settings = cell.campaign_settings();
  const Problem data = cell_problem(cell, control.problem);
  CellStore place(store, claim);
  Campaign campaign = open_campaign(place, data, settings);
  TableOracle oracle;
  LearnControl learning;
  learning.executor = control.executor;
  learning.device = control.device;
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

// Runs a cell and records how it ended; what is wrong with its input is `error`. A worker that cannot go on gives the
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
    problem = table_problem(cell, settings);
  } else {
    options.seed = settings.fit.ensemble.seed;
    options.data_seed = cell.data_seed;
    options.pool_policy = cell.pool_policy;
    problem = load_problem(cell.problem, options);
    apply_settings(problem, settings);
  }
  if (cell.aim == "test") {
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
      if (store.num_claimed(grid.name, control.only) == 0) {
        break;
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kLongestWait, control.lease / 4)));
      continue;
    }
    const auto cell = by_name.find(claim->name);
    if (cell == by_name.end()) {  // another worker has brought more of them
      store.release(*claim);
      break;
    }
    std::string error;
    try {
      if (run_claimed(store, *cell->second, *claim, control, error) == LearnEnd::kStopped) {
        break;
      }
    } catch (const LeaseLost&) {
      continue;  // it is in other hands
    }
    ++ended;
    if (control.ended) {
      control.ended(*claim, error);
    }
  }
  return ended;
}

}  // namespace dissent
