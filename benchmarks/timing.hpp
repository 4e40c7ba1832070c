// How every benchmark here measures: the median of repeated runs, with the quartiles as spread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace dissent::bench {

struct Timing {
  double median_ms = 0;
  double low_ms = 0;   // first quartile
  double high_ms = 0;  // third quartile
};

// The calling thread's own time: for work of one thread, other programs on the machine do not affect it.
struct ThreadClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ThreadClock>;
  static constexpr bool is_steady = true;
  static time_point now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
  }
};

// Runs body() once to warm up, then until both `repeats` runs are done and `seconds` have passed.
template <class Clock = std::chrono::steady_clock, class Body>
Timing measure(const Body& body, int repeats = 5, double seconds = 0.5) {
  body();
  std::vector<double> times;
  const auto start = Clock::now();
  while (static_cast<int>(times.size()) < repeats ||
         std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    const auto begin = Clock::now();
    body();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times[times.size() / 4], times[3 * times.size() / 4]};
}

// One line of JSON on standard output, for the script that makes the table.
inline void print(const std::string& name, const Timing& t) {
  std::printf("{\"name\": \"%s\", \"median_ms\": %.6g, \"low_ms\": %.6g, \"high_ms\": %.6g}\n", name.c_str(),
              t.median_ms, t.low_ms, t.high_ms);
  std::fflush(stdout);
}

}  // namespace dissent::bench
