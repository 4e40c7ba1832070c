// One line on a terminal that shows how far a long job is; nothing at all when standard error is no terminal.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace dissent::cli {

class ProgressLine {
 public:
  ProgressLine(std::string what, std::size_t total, bool silent)
      : what_(std::move(what)), total_(total), visible_(!silent && ::isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(std::size_t done, const std::string& detail = {}) {
    const auto now = std::chrono::steady_clock::now();
    if (!visible_ || total_ == 0 || (done < total_ && now - shown_ < std::chrono::milliseconds(100))) {
      return;
    }
    shown_ = now;
    constexpr std::size_t kWidth = 30;
    const double share = static_cast<double>(done) / static_cast<double>(total_);
    const auto filled = static_cast<std::size_t>(share * kWidth);
    const std::chrono::duration<double> elapsed = now - start_;
    const double left = share > 0 ? elapsed.count() * (1 - share) / share : 0;
    fmt::print(stderr, "\r{} [{}{}] {:3.0f}% {:.0f} s left {}\033[K", what_, std::string(filled, '='),
               std::string(kWidth - filled, ' '), 100 * share, left, detail);
    std::fflush(stderr);
    drawn_ = true;
  }

  void finish() {
    if (drawn_) {
      fmt::print(stderr, "\r\033[K");
      std::fflush(stderr);
      drawn_ = false;
    }
  }

 private:
  std::string what_;
  std::size_t total_;
  bool visible_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace dissent::cli
