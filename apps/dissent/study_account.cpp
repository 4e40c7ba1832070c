#include "study_account.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "console.hpp"
#include "dissent/study/run.hpp"

namespace dissent::cli {

void Account::round() {
  const std::lock_guard lock(mutex_);
  progress_.update(done_, fmt::format("{} of {} campaigns", done_, total_));
}

void Account::ended(const Claim& claim, const std::string& error, std::size_t done) {
  const std::lock_guard lock(mutex_);
  done_ = std::max(done_, done);
  ++ended_;
  progress_.wipe();
  if (talk_) {
    print_line("{:>5} of {}  {}{}", done, total_, claim.name, error.empty() ? "" : "  failed: " + error);
    flush_output();
  }
}

void Account::waiting(const std::vector<HeldCell>& cells) {
  using Clock = std::chrono::system_clock;
  const std::lock_guard lock(mutex_);
  for (const HeldCell& cell : cells) {
    const std::string process = worker_process(cell.worker);
    if (!talk_ || process == worker_process(worker_name()) || !waited_for_.insert(cell.name + process).second) {
      continue;
    }
    progress_.wipe();
    const auto end = Clock::now() + std::chrono::seconds(std::lround(std::max(cell.seconds, 0.0)));
    print_line("waiting for '{}' of worker {}: it is taken over at {:%H:%M:%S} if that worker stays silent", cell.name,
               process, fmt::localtime(Clock::to_time_t(end)));
    flush_output();
  }
}

void Account::say(const std::string& message) {
  const std::lock_guard lock(mutex_);
  progress_.wipe();
  fmt::print(stderr, "{}\n", message);
}

}  // namespace dissent::cli
