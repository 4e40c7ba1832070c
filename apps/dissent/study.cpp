// dissent study run: runs the campaigns of a grid, as one of any number of processes that share a store.
#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/device/device.hpp"
#include "dissent/device/device_error.hpp"
#include "dissent/study/run.hpp"
#include "dissent/study/source.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "study_account.hpp"
#include "study_rank.hpp"

namespace dissent::cli {
namespace {

struct StudyArguments {
  std::string grid;
  std::string store = "sqlite:runs.db";
  std::string only;
  std::optional<std::size_t> jobs;
  double lease = 60;
  double patience = StudyStore::kPatience;
  bool retry = false;
  int threads = 1;
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;

  // A device trains fits together: the more the better, as long as the processors keep up with the rest of the work.
  std::size_t num_jobs() const {
    constexpr std::size_t kJobsPerCore = 4;
    return jobs.value_or(device == "cpu" ? 1 : kJobsPerCore * std::max(1U, std::thread::hardware_concurrency()));
  }
  std::unique_ptr<StudyStore> open() const { return StudyStore::open(store, StudyStore::Access::kWrite, patience); }
};

// A job on its own thread: runs cells until there are none left or `stop` says so.
void run_job(const StudyArguments& arguments, StudyStore& store, const Grid& grid, std::size_t number, Device* device,
             Account& account, const std::function<bool()>& stop) {
  ThreadPool threads(arguments.threads);
  StudyControl control;
  control.worker = worker_name(number);
  control.lease = arguments.lease;
  control.only = arguments.only;
  control.executor = &threads;
  control.device = fits_of(device);
  control.scores = scores_of(device);
  control.problem.num_threads = arguments.threads;
  control.finished_round = [&](const Claim&, const RoundRecord&) { account.round(); };
  control.ended = [&](const Claim& claim, const std::string& error) {
    account.ended(claim, error, store.num_ended(grid.name));
  };
  control.waiting = [&](const std::vector<HeldCell>& cells) { account.waiting(cells); };
  control.stop = stop;
  run_cells(store, grid, control);
}

// The first job that fails stops the others. But a job that runs out of device memory ends alone and gives its campaign
// back, as long as other jobs continue.
void run_jobs(const StudyArguments& arguments, StudyStore& store, const Grid& grid, Device* device, Account& account,
              const Interrupt& interrupt) {
  std::atomic<bool> broken = false;
  std::atomic<std::size_t> running = arguments.num_jobs();
  std::exception_ptr failure;
  std::mutex mutex;
  const auto job = [&](std::size_t number) {
    try {
      run_job(arguments, store, grid, number, device, account, [&] { return broken || interrupt.noted(); });
    } catch (const DeviceMemoryError& error) {
      if (const std::size_t left = --running; left > 0) {
        account.say(fmt::format("{}; going on with {} at a time", error.what(), counted(left, "campaign")));
        return;
      }
      const std::lock_guard lock(mutex);
      failure = broken ? failure : std::current_exception();
      broken = true;
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = broken ? failure : std::current_exception();
      broken = true;
    }
  };
  {
    std::vector<std::jthread> jobs;
    for (std::size_t number = 0; number < arguments.num_jobs(); ++number) {
      jobs.emplace_back(job, number);
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

// Ends the program after Ctrl-C.
void run_until_stopped(const StudyArguments& arguments, StudyStore& store, const Grid& grid, Device* device,
                       Account& account, const Interrupt& interrupt) {
  std::string lost;
  try {
    run_jobs(arguments, store, grid, device, account, interrupt);
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

// SQLite needs file locks that network file systems lack.
void check_store(const StudyArguments& arguments, const Rank& rank) {
  check(rank.on_one_machine || study_source(arguments.store).kind != SourceKind::kStoreFile,
        "--store {}: processes on several machines need a server: postgresql://USER@HOST/DATABASE", arguments.store);
}

nlohmann::ordered_json summary_json(const Grid& grid, StudyStore& store, const Account& account) {
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const CellRecord& cell : store.cells(grid.name)) {
    if (cell.state == CellState::kFailed) {
      failures.push_back({{"name", cell.name}, {"error", cell.error}});
    }
  }
  return {{"version", kVersion},
          {"study", grid.name},
          {"store", store.name()},
          {"campaigns", grid.cells.size()},
          {"done", store.num_ended(grid.name)},
          {"ended", account.num_ended()},
          {"failed", failures.size()},
          {"failures", failures}};
}

// ", 20 begun (345 models)" for campaigns that go on; empty if there are none.
std::string begun_before(StudyStore& store, const std::string& study) {
  std::size_t begun = 0;
  std::size_t models = 0;
  for (const CellRecord& cell : store.cells(study)) {
    if (cell.rounds > 0 && (cell.state == CellState::kWaiting || cell.state == CellState::kRunning)) {
      ++begun;
      models += cell.rounds;
    }
  }
  return begun == 0 ? "" : fmt::format(", {} begun ({})", begun, counted(models, "model"));
}

void say_before(const Grid& grid, StudyStore& store, std::size_t ended) {
  const std::size_t failed = std::min(store.num_failed(grid.name), ended);  // others may be at work
  print_line("{}: {}, {} done{} before{}{}; results in {}", grid.name, counted(grid.cells.size(), "campaign"),
             ended - failed, failed == 0 ? "" : fmt::format(", {} failed", failed),
             failed == 0 ? "" : " (--retry runs them again)", begun_before(store, grid.name), store.name());
  flush_output();
}

void run_study(StudyArguments arguments) {
  const Rank rank = rank_of_process();
  check_store(arguments, rank);
  Grid grid = read_grid(arguments.grid);
  if (!arguments.only.empty()) {
    arguments.only = in_source(arguments.grid, [&] { return grid.find(arguments.only).name; });
  }
  const std::shared_ptr<Device> device = open_device(arguments.device);
  identify_tables(grid);
  const auto store = arguments.open();
  store->add(grid);
  if (arguments.retry) {
    store->retry(grid.name);
  }
  const std::size_t done = store->num_ended(grid.name);
  const bool talk = !arguments.quiet && !arguments.json && rank.number == 0;
  if (talk) {
    say_before(grid, *store, done);
  }
  Account account(talk, grid.cells.size(), done);
  const Interrupt interrupt;
  store->set_stop([&] { return interrupt.noted(); });
  run_until_stopped(arguments, *store, grid, device.get(), account, interrupt);
  const std::size_t failed = store->num_failed(grid.name, arguments.only);  // now or before, here or elsewhere
  if (talk && !arguments.only.empty() && account.num_ended() == 0 && failed == 0) {
    print_line("'{}' has been run; to run it again, give another store", arguments.only);
  }
  if (arguments.json && rank.number == 0) {
    print_json(summary_json(grid, *store, account));
  }
  if (failed > 0) {
    fail_system("{} failed: 'dissent study status' says why, and --retry runs them again", counted(failed, "campaign"));
  }
}

void add_study_run(Command& study) {
  Command& command = study.add(
      "run", "Run every campaign of a grid that has not ended, and record each round",
      "  dissent study run quick.toml --jobs 2\n"
      "  dissent study run paper-nflows.toml --device cuda\n"
      "  dissent study run paper.toml --store postgresql://me@server/runs --jobs 16\n"
      "  mpirun -n 8 dissent study run quick.toml\n"
      "  dissent study run quick.toml --only 'problem=hetero model=pne acquisition=kl seed=3' --store sqlite:a.db\n"
      "Any number of these may work on one store at once. After Ctrl-C, a crash or a kill the same command\n"
      "goes on and ends with the same result.");
  const auto arguments = std::make_shared<StudyArguments>();
  command.argument("GRID", arguments->grid, "TOML file that describes the campaigns");
  command.option("-s,--store", arguments->store,
                 {.help = "Where results are kept: sqlite:FILE or postgresql://USER@HOST/DATABASE", .shown = "URL"});
  command.option("-j,--jobs", arguments->jobs,
                 {.help = "Campaigns at a time in this process; by default one, or four per core on a device",
                  .shown = "J",
                  .least = 1,
                  .most = 1024});
  command.option("--only", arguments->only, {.help = "One campaign, by its name", .shown = "NAME"});
  command.option("--lease", arguments->lease,
                 {.help = "Seconds of silence after which a worker is taken for dead", .shown = "S", .least = 1});
  command.option("--patience", arguments->patience,
                 {.help = "Seconds to wait for a server that went away", .shown = "S", .least = 0});
  command.flag("--retry", arguments->retry, "Run campaigns that failed before again");
  add_threads(command, arguments->threads);
  add_device(command, arguments->device);
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
  add_study_show(study);
  add_study_export(study);
  add_study_serve(study);
  add_study_measure(study);
}

}  // namespace dissent::cli
