// The metrics that methods can be compared by.
#include "dissent/base/names.hpp"
#include "dissent/study/comparison.hpp"

namespace dissent {
namespace {

constexpr MetricTraits kMetrics[] = {
    {.name = "rmse",
     .title = "RMSE",
     .member = &RoundRecord::rmse,
     .less_is_better = true,
     .paper = "rmse",
     .note =
         "The paper's RMSE is another number: the mean absolute error where there is one output, else the mean over "
         "rows of each row's root mean square. The metric rmse_paper is computed its way."},
    {.name = "rmse_paper",
     .title = "RMSE as in the paper",
     .member = &RoundRecord::rmse_paper,
     .less_is_better = true,
     .paper = "rmse",
     .note = ""},
    {.name = "log_likelihood",
     .title = "Log-likelihood",
     .member = &RoundRecord::log_likelihood,
     .less_is_better = false,
     .paper = "log_likelihood",
     .note = "The paper's log-likelihoods are in units that change with the rows chosen, and do not fall below -250: "
             "they cannot be compared with ours, which are in the units of the data."},
};

}  // namespace

const MetricTraits& find_metric(std::string_view name) {
  std::vector<std::string> names;
  for (const MetricTraits& metric : kMetrics) {
    if (metric.name == name) {
      return metric;
    }
    names.emplace_back(metric.name);
  }
  check_name("metric", name, names);
  return kMetrics[0];
}

}  // namespace dissent
