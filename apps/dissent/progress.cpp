#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace dissent::cli {
namespace {

constexpr double kBarCells = 30;
constexpr std::string_view kWipeLine = "\r\x1b[K";

bool stderr_is_seen() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::ceil(seconds));
  if (s < 90) {
    return fmt::format("{} s", s);
  }
  return s < 5400 ? fmt::format("{} min", (s + 59) / 60) : fmt::format("{:.1f} h", static_cast<double>(s) / 3600);
}

// A lost progress bar is no reason to stop, so a failed write is ignored.
void put(std::string_view text) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_text(double share, double seconds) {
  share = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(share * kBarCells);
  std::string text = fmt::format("[{:#>{}}{:->{}}] {:3.0f} %", "", full, "", static_cast<std::size_t>(kBarCells) - full,
                                 std::floor(100 * share));
  if (share > 0 && share < 1) {
    text += fmt::format(", {} left", duration_text(seconds * (1 - share) / share));
  }
  return text;
}

Progress::Progress(std::string label, std::uint64_t total, bool quiet)
    : label_(std::move(label)), total_(total), visible_(!quiet && total > 0 && stderr_is_seen()) {}

Progress::~Progress() { wipe(); }

void Progress::wipe() {
  if (drawn_) {
    put(kWipeLine);
    drawn_ = false;
  }
}

void Progress::update(std::uint64_t done, const std::string& state) {
  if (!visible_ || done >= total_) {
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now < next_) {
    return;
  }
  next_ = now + std::chrono::milliseconds(100);
  drawn_ = true;
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  put(fmt::format("{}{} {}{}{}", kWipeLine, label_, progress_text(share, seconds), state.empty() ? "" : ", ", state));
}

}  // namespace dissent::cli
