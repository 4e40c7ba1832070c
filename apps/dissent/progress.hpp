// A progress bar on standard error, for work that may take longer than a glance. It is drawn only if someone can see it
// (a terminal, not --quiet), at most ten times a second, not for work done in one step, and leaves nothing behind:
//
//     Progress progress("score", num_inputs, options.quiet);
//     for (...) { ...; progress.update(done); }
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace dissent::cli {

class Progress {
 public:
  Progress(std::string label, std::uint64_t total, bool quiet);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // For work whose total is known only after it has begun.
  void set_total(std::uint64_t total) { total_ = total; }

  // `done` of `total`, and the state ("loss 0.31") to show behind the bar.
  void update(std::uint64_t done, const std::string& state = "");

  // Clears the line for something else to be printed; the next update() draws it again.
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  std::uint64_t total_;
  bool visible_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
};

// "[####----]  45 %, 12 s left": only the bar, for a share done in [0, 1] after `seconds`.
std::string progress_text(double share, double seconds);

}  // namespace dissent::cli
