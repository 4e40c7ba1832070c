// Where the campaigns of studies are recorded: a database that any number of processes, on any number of machines,
// work on at once.
//
//   sqlite:runs.db                        a file (the default); readers do not block writers (WAL)
//   postgresql://user@host/database       a server
// A file that is a store already may be named without its scheme.
//
// A worker claims a cell for the time of a lease, which it renews while it works. If a worker dies, another claims its
// cell and continues from the last saved step. Nothing is recorded without the lease, and a step is recorded whole or
// not at all, so no round is lost or counted twice.
//
// If a server goes away, the store waits for it (`patience` seconds). InputError for an invalid URL, a store of a later
// version, and a cell that was begun with other settings; SystemError for what the database refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/loop/campaign.hpp"
#include "dissent/study/grid.hpp"

namespace dissent {

enum class CellState { kWaiting, kRunning, kDone, kFailed };
std::string_view cell_state_name(CellState state);

// A cell as the store knows it.
struct CellRecord {
  std::string study;
  std::string name;
  std::string description;  // Cell::describe()
  CellState state = CellState::kWaiting;
  std::size_t rounds = 0;    // recorded
  std::string worker = {};   // that has it, or had it last: HOST:PROCESS:THREAD:START
  std::string version = {};  // of the program
  std::string error = {};
  double started = 0;  // seconds since 1970, by the clock of the database; 0: not yet
  double changed = 0;
};

struct CellRound {
  std::string cell;
  RoundRecord record;
};

struct CellChoice {
  std::string cell;
  ChosenRow chosen;
};

// A number of a side study: how long an estimator takes, how far it is off, how it ranks.
struct Measurement {
  std::string kind;  // "seconds", "bias", ...; measure.hpp lists them
  std::string problem = {};
  std::string model = {};
  std::string estimator = {};
  std::size_t outputs = 0;
  std::size_t components = 0;
  std::size_t samples = 0;  // of a Monte Carlo estimate
  std::uint64_t seed = 0;
  double at = 0;  // the input, if it has one
  double value = 0;
};
template <>
std::span<const Field<Measurement>> fields();

// A cell that this worker has.
struct Claim {
  std::int64_t id = 0;
  std::string name;
  std::string worker;
  double lease = 0;  // seconds
};

// A cell that a worker has.
struct HeldCell {
  std::string name;
  std::string worker;
  double seconds = 0;  // until its lease is over, unless the worker renews it
};

// Thrown when a claim has passed to another worker: that worker redoes what was done since.
class LeaseLost : public Error {
 public:
  using Error::Error;
};

class StudyStore {
 public:
  static constexpr double kPatience = 300;  // seconds

  // To be read only, the store must exist; otherwise it is made, or brought up to this version.
  enum class Access { kRead, kWrite };
  static std::unique_ptr<StudyStore> open(const std::string& url, Access access = Access::kWrite,
                                          double patience = kPatience);
  virtual ~StudyStore() = default;

  virtual std::string name() const = 0;  // its URL without a password, for messages

  // Ends the wait for a server that went away when `stop` returns true.
  virtual void set_stop(std::function<bool()> stop) = 0;

  // Adds the cells of the grid that are not there yet; they wait from now on. A cell that failed before its first round
  // gets the settings of the grid. InputError for any other that is there with other settings, and if the store has
  // cells of the study that the grid lacks.
  virtual void add(const Grid& grid) = 0;

  // Claims a cell that waits, or whose lease is over: any of the study, or the one that is named. None if there is
  // none.
  virtual std::optional<Claim> claim(const std::string& study, const std::string& worker, double lease,
                                     const std::string& only = {}) = 0;
  // These throw LeaseLost if another worker has the claim by now.
  virtual void renew(const Claim& claim) = 0;
  virtual void record(const Claim& claim, const Campaign& campaign) = 0;  // state, rounds and choices
  virtual void finish(const Claim& claim) = 0;
  virtual void fail(const Claim& claim, const std::string& error) = 0;
  virtual void release(const Claim& claim) = 0;  // it waits again
  // The cells that anyone has claimed: all of the study, or the one that is named.
  virtual std::vector<HeldCell> held(const std::string& study, const std::string& only = {}) = 0;
  // How many cells of the study are done or have failed; and how many have failed, of all or of the one that is named.
  virtual std::size_t num_ended(const std::string& study) = 0;
  virtual std::size_t num_failed(const std::string& study, const std::string& only = {}) = 0;
  // Makes cells that failed wait again; returns how many.
  virtual std::size_t retry(const std::string& study) = 0;

  // The state that was recorded last, without the targets of chosen rows: these wait again, and the pool has the
  // targets. None at the beginning.
  virtual std::optional<Campaign> load(const Claim& claim) = 0;

  // Replaces the measurements of the same kinds and problems.
  virtual void record(const std::string& study, const std::vector<Measurement>& measurements) = 0;
  virtual std::vector<Measurement> measurements(const std::string& study) = 0;

  virtual std::vector<std::string> studies() = 0;
  virtual std::vector<CellRecord> cells(const std::string& study) = 0;    // in the order of the grid
  virtual std::vector<CellRound> rounds(const std::string& study) = 0;    // likewise, round by round
  virtual std::vector<CellChoice> choices(const std::string& study) = 0;  // likewise, without targets and words
};

}  // namespace dissent
