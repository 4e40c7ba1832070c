// The states of a campaign's rows in its pictures, each with a colour and a shape.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "dissent/loop/campaign.hpp"
#include "dissent/report/chart.hpp"

namespace dissent::report {

inline const std::string kPool = "in the pool";
inline const std::string kStart = "labelled at the start";
inline const std::string kLabelled = "chosen and labelled";
inline const std::string kUnasked = "labelled, but nobody asked";
inline const std::string kExtra = "labelled, not of the pool";
inline const std::string kDropped = "dropped";
inline const std::string kWaiting = "waiting for its label";

inline const std::string& state_of(const ChosenRow& chosen) {
  if (chosen.is_pending()) {
    return kWaiting;
  }
  if (chosen.dropped) {
    return kDropped;
  }
  return chosen.round == 0 ? kUnasked : kLabelled;
}

// The groups that have rows, so that a legend has no others; `state` is the column of their names.
inline std::vector<Group> groups_of(const std::vector<std::vector<Json>>& rows, std::size_t state) {
  const std::vector<Group> groups{{kPool, kGrey, "circle"},
                                  {kStart, kGreen, "square"},
                                  {kLabelled, kBlue, "diamond"},
                                  {kUnasked, kSkyBlue, "triangle-down"},
                                  {kExtra, kPurple, "cross"},
                                  {kDropped, kOrange, "triangle-right"},
                                  {kWaiting, kVermillion, "triangle-up"}};
  std::vector<Group> used;
  std::ranges::copy_if(groups, std::back_inserter(used), [&](const Group& group) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row[state] == group.name; });
  });
  return used;
}

}  // namespace dissent::report
