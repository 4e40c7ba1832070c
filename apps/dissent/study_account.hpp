// What the jobs of `dissent study run` print, one at a time: campaigns that end, campaigns they wait for, and progress.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "dissent/study/store.hpp"
#include "progress.hpp"

namespace dissent::cli {

class Account {
 public:
  Account(bool talk, std::size_t total, std::size_t done)
      : talk_(talk), progress_("study", total, !talk), total_(total), done_(done) {}

  void round();
  // `done` counts the campaigns of other processes too.
  void ended(const Claim& claim, const std::string& error, std::size_t done);
  // Prints once for each campaign that another process has.
  void waiting(const std::vector<HeldCell>& cells);
  void say(const std::string& message);  // on standard error

  std::size_t num_ended() const { return ended_; }

 private:
  std::mutex mutex_;
  bool talk_;
  Progress progress_;
  std::size_t total_;
  std::size_t done_;
  std::size_t ended_ = 0;
  std::set<std::string> waited_for_;
};

}  // namespace dissent::cli
