// The fields of the reports of a fit and an evaluation, listed only here.
#include <fmt/ranges.h>

#include <sstream>

#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"

namespace dissent {
namespace {

// One warning per line.
Field<FitReport> warnings_field() {
  return field<FitReport>(
      {"warnings", FieldType::kText, false, {.help = "What about the rows should be looked at, a line each"}},
      [](const FitReport& from) { return Value(fmt::format("{}", fmt::join(from.warnings, "\n"))); },
      [](FitReport& to, const Value& value) {
        to.warnings.clear();
        std::istringstream lines(std::get<std::string>(value));
        for (std::string line; std::getline(lines, line);) {
          to.warnings.push_back(line);
        }
      });
}

}  // namespace

template <>
std::span<const Field<FitReport>> fields() {
  using R = FitReport;
  static const std::vector<Field<R>> list{
      field("num_rows", &R::num_rows, {.help = "Rows trained on"}),
      field("num_validation_rows", &R::num_validation_rows, {.help = "Rows held out"}),
      field("epochs", &R::epochs, {.help = "Epochs planned"}),
      field("epochs_run", &R::epochs_run, {.help = "Epochs of the component that ran longest"}),
      field("loss", &R::loss, {.help = "Of the last epoch, in nats per row"}),
      field("validation_loss", &R::validation_loss, {.help = "Of the parameters kept, on rows not trained on"}),
      field("stopped_early", &R::stopped_early, {.help = "Whether the loss on held-out rows had stopped falling"}),
      field("interrupted", &R::interrupted, {.help = "Whether the caller ended it"}),
      field("resumed_epoch", &R::resumed_epoch, {.help = "Epoch at which a checkpoint was taken up; 0: none"}),
      field("choice", &R::choice, {.help = "Why this kind of model was taken; empty where it was given"}),
      field("kept_epochs", &R::kept_epochs, {.help = "Epoch kept, of each component; of a joint model one"}),
      field("restarted", &R::restarted, {.help = "Components trained again since their loss diverged"}),
      field("diverged", &R::diverged, {.help = "Components whose loss diverged each time"}),
      warnings_field(),
  };
  return list;
}

template <>
std::span<const Field<Metrics>> fields() {
  using M = Metrics;
  static const std::vector<Field<M>> list{
      field("num_rows", &M::num_rows, {.help = "Rows evaluated"}),
      field("rmse", &M::rmse, {.help = "Root of the mean squared error"}),
      field("rmse_paper", &M::rmse_paper, {.help = "Mean over rows of the root of the mean squared error"}),
      field("mae", &M::mae, {.help = "Mean absolute error"}),
      field("log_likelihood", &M::log_likelihood, {.help = "Mean over rows of ln p(y | x)"}),
      field("crps", &M::crps, {.help = "Continuous ranked probability score"}),
      field("coverage_90", &M::coverage_90, {.help = "Share of values in the 90% interval"}),
      field("calibration_error", &M::calibration_error, {.help = "Mean distance of the quantiles' shares from theirs"}),
      field("sharpness", &M::sharpness, {.help = "Mean predicted standard deviation"}),
  };
  return list;
}

}  // namespace dissent
