// What `dissent score` says about its results, for people and as JSON. Constant memory: sums and extremes per column.
#pragma once

#include <cstddef>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "score_rows.hpp"
#include "score_source.hpp"

namespace dissent::cli {

class ColumnSummary {
 public:
  void add(std::span<const double> values);

  // NaN when there were no values.
  double min() const { return count_ == 0 ? kNone : min_; }
  double mean() const { return count_ == 0 ? kNone : sum_ / static_cast<double>(count_); }
  double max() const { return count_ == 0 ? kNone : max_; }
  double sum() const { return sum_; }
  std::size_t num_positive() const { return num_positive_; }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::size_t count_ = 0;
  std::size_t num_positive_ = 0;
  double sum_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

struct ScoreSummary {
  std::string input_name;   // as typed
  std::string output_name;  // empty: none
  const ScoreShape& input;
  const std::vector<ScoreMethod>& methods;
  std::vector<std::string> names;  // of the columns
  std::vector<ColumnSummary> columns;
  Rows top;
};

inline constexpr const char* kOneWeightNote =
    "all the weight is on one component: epistemic is 0, and log_deficit, ln 0, is -inf (null in JSON)";
inline constexpr const char* kBaseSpaceNote =
    "the mixture is in the space that the model was fitted in, a flow's base or logarithms: aleatoric and total are "
    "left out, for they would not be in your units; 'dissent predict --output' gives them";

std::string summary_text(const ScoreSummary& summary);
nlohmann::ordered_json summary_json(const ScoreSummary& summary);

}  // namespace dissent::cli
