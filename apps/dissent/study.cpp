// dissent study run: the campaigns of a grid, as one of any number of processes that share a store.
#include <fmt/chrono.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/study/run.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "study_rank.hpp"

namespace dissent::cli {
namespace {

struct Arguments {
  std::string grid;
  std::string store = "sqlite:runs.db";
  std::string only;
  std::size_t jobs = 1;
  double lease = 60;
  double patience = StudyStore::kPatience;
  bool retry = false;
  int threads = 1;
  bool json = false;
  bool quiet = false;

  std::unique_ptr<StudyStore> open() const { return StudyStore::open(store, StudyStore::Access::kWrite, patience); }
};

// What all jobs of this process tell, one at a time.
class Account {
 public:
  Account(bool talk, std::size_t total, std::size_t done)
      : talk_(talk), progress_("study", total, !talk), total_(total), done_(done) {}

  void round() {
    const std::lock_guard lock(mutex_);
    progress_.update(done_, fmt::format("{} of {} campaigns", done_, total_));
  }

  // `done` counts those of other processes too.
  void ended(const Claim& claim, const std::string& error, std::size_t done) {
    const std::lock_guard lock(mutex_);
    done_ = std::max(done_, done);
    ++ended_;
    failed_ += !error.empty();
    progress_.wipe();
    if (talk_) {
      print_line("{:>5} of {}  {}{}", done, total_, claim.name, error.empty() ? "" : "  failed: " + error);
      flush_output();
    }
  }

  // Once for each campaign that another process has.
  void waiting(const std::vector<HeldCell>& cells) {
    const std::lock_guard lock(mutex_);
    for (const HeldCell& cell : cells) {
      const std::string process = worker_process(cell.worker);
      if (!talk_ || process == worker_process(worker_name()) || !waited_for_.insert(cell.name + process).second) {
        continue;
      }
      progress_.wipe();
      const auto end =
          std::chrono::system_clock::now() + std::chrono::seconds(std::lround(std::max(cell.seconds, 0.0)));
      print_line("waiting for '{}' of worker {}: it is taken over at {:%H:%M:%S} if that worker stays silent",
                 cell.name, process, fmt::localtime(std::chrono::system_clock::to_time_t(end)));
      flush_output();
    }
  }

  std::size_t num_ended() const { return ended_; }
  std::size_t num_failed() const { return failed_; }

 private:
  std::mutex mutex_;
  bool talk_;
  Progress progress_;
  std::size_t total_;
  std::size_t done_;
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
  std::set<std::string> waited_for_;
};

// What a job on a thread of its own does: run cells, until there is none or `stop` says so.
void run_job(const Arguments& arguments, StudyStore& store, const Grid& grid, std::size_t number, Account& account,
             const std::function<bool()>& stop) {
  ThreadPool threads(arguments.threads);
  StudyControl control;
  control.worker = worker_name(number);
  control.lease = arguments.lease;
  control.only = arguments.only;
  control.executor = &threads;
  control.problem.num_threads = arguments.threads;
  control.finished_round = [&](const Claim&, const RoundRecord&) { account.round(); };
  control.ended = [&](const Claim& claim, const std::string& error) {
    account.ended(claim, error, store.num_ended(grid.name));
  };
  control.waiting = [&](const std::vector<HeldCell>& cells) { account.waiting(cells); };
  control.stop = stop;
  run_cells(store, grid, control);
}

// The first that fails stops the others.
void run_jobs(const Arguments& arguments, StudyStore& store, const Grid& grid, Account& account,
              const Interrupt& interrupt) {
  std::atomic<bool> broken = false;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto job = [&](std::size_t number) {
    try {
      run_job(arguments, store, grid, number, account, [&] { return broken || interrupt.noted(); });
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = broken ? failure : std::current_exception();
      broken = true;
    }
  };
  {
    std::vector<std::jthread> jobs;
    for (std::size_t number = 0; number < arguments.jobs; ++number) {
      jobs.emplace_back(job, number);
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

// After Ctrl-C it ends the program.
void run_until_stopped(const Arguments& arguments, StudyStore& store, const Grid& grid, Account& account,
                       const Interrupt& interrupt) {
  std::string lost;
  try {
    run_jobs(arguments, store, grid, account, interrupt);
  } catch (const SystemError& error) {
    if (!interrupt.noted()) {
      throw;
    }
    lost = error.what();
  }
  if (interrupt.noted()) {
    fmt::print(stderr, "stopped; {}, and the same command goes on from there\n",
               lost.empty() ? "all is recorded" : fmt::format("the step at hand is not recorded ({})", lost));
    Interrupt::end_program();
  }
}

void check_only(const Arguments& arguments, const Grid& grid) {
  if (!arguments.only.empty()) {
    std::vector<std::string> names;
    for (const Cell& cell : grid.cells) {
      names.push_back(cell.name);
    }
    check(std::ranges::find(names, arguments.only) != names.end(), "{}: it has no campaign '{}'{}", arguments.grid,
          arguments.only, did_you_mean(arguments.only, names));
  }
}

// SQLite locks files by means that a network's file systems lack.
void check_store(const Arguments& arguments, const Rank& rank) {
  check(rank.on_one_machine || !arguments.store.starts_with("sqlite:"),
        "--store {}: processes on several machines need a server: postgresql://USER@HOST/DATABASE", arguments.store);
}

nlohmann::ordered_json summary_json(const Grid& grid, StudyStore& store, const Account& account) {
  return {{"version", kVersion},
          {"study", grid.name},
          {"store", store.name()},
          {"campaigns", grid.cells.size()},
          {"done", store.num_ended(grid.name)},
          {"ended", account.num_ended()},
          {"failed", account.num_failed()}};
}

void run_study(const Arguments& arguments) {
  const Rank rank = rank_of_process();
  check_store(arguments, rank);
  Grid grid = read_grid(arguments.grid);
  check_only(arguments, grid);
  identify_tables(grid);
  const auto store = arguments.open();
  store->add(grid);
  if (arguments.retry) {
    store->retry(grid.name);
  }
  const std::size_t done = store->num_ended(grid.name);
  const bool talk = !arguments.quiet && !arguments.json && rank.number == 0;
  if (talk) {
    print_line("{}: {}, {} done before; results in {}", grid.name, counted(grid.cells.size(), "campaign"), done,
               store->name());
    flush_output();
  }
  Account account(talk, grid.cells.size(), done);
  const Interrupt interrupt;
  store->set_stop([&] { return interrupt.noted(); });
  run_until_stopped(arguments, *store, grid, account, interrupt);
  if (talk && !arguments.only.empty() && account.num_ended() == 0) {
    print_line("'{}' has been run; to run it again, give another store", arguments.only);
  }
  if (arguments.json && rank.number == 0) {
    print_json(summary_json(grid, *store, account));
  }
  if (account.num_failed() > 0) {
    fail_system("{} failed: 'dissent study status' says why, and --retry runs them again",
                counted(account.num_failed(), "campaign"));
  }
}

void add_study_run(Command& study) {
  Command& command =
      study.add("run", "Run every campaign of a grid that has not ended, and record each round",
                "  dissent study run quick.toml --jobs 2\n"
                "  dissent study run paper.toml --store postgresql://me@server/runs --jobs 16\n"
                "  mpirun -n 8 dissent study run quick.toml\n"
                "  dissent study run quick.toml --only 'problem=hetero acquisition=kl seed=3' --store sqlite:again.db\n"
                "Any number of these may work on one store at once. After Ctrl-C, a crash or a kill the same command\n"
                "goes on and ends with the same result.");
  const auto arguments = std::make_shared<Arguments>();
  command.argument("GRID", arguments->grid, "TOML file that describes the campaigns");
  command.option("-s,--store", arguments->store,
                 {.help = "Where results are kept: sqlite:FILE or postgresql://USER@HOST/DATABASE", .shown = "URL"});
  command.option("-j,--jobs", arguments->jobs,
                 {.help = "Campaigns at a time in this process", .shown = "J", .least = 1, .most = 1024});
  command.option("--only", arguments->only, {.help = "One campaign, by its name", .shown = "NAME"});
  command.option("--lease", arguments->lease,
                 {.help = "Seconds of silence after which a worker is taken for dead", .shown = "S", .least = 1});
  command.option("--patience", arguments->patience,
                 {.help = "Seconds to wait for a server that went away", .shown = "S", .least = 0});
  command.flag("--retry", arguments->retry, "Run campaigns that failed before again");
  add_threads(command, arguments->threads);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.run([arguments] { run_study(*arguments); });
}

}  // namespace

void add_study(Command& app) {
  Command& study = app.add("study", "Run grids of campaigns, here or on many machines, and look at their results",
                           "  dissent study run quick.toml --store sqlite:runs.db --jobs 2\n"
                           "  dissent study status sqlite:runs.db\n"
                           "  dissent study show sqlite:runs.db\n"
                           "  dissent study export sqlite:runs.db -o rounds.csv");
  add_study_run(study);
  add_study_status(study);
  add_study_compare(study);
  add_study_export(study);
  add_study_serve(study);
  add_study_measure(study);
}

}  // namespace dissent::cli
