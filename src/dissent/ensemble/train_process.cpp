// Training of `gp`: a search for the hyperparameters of each output, as many outputs at a time as there are threads.
// What was found is the state of an unfinished fit: a checkpoint holds the outputs done, F32 [done][1 or 1 + M][3 + C].
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/ensemble/checkpoint.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/process_model.hpp"
#include "dissent/ensemble/trainer.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Rows [begin, end) of the training set, in its order.
ProcessModel::Rows slice(const ScaledRows& rows, std::size_t C, std::size_t D, std::size_t begin, std::size_t end) {
  const auto part = [&](const std::vector<float>& values, std::size_t width) {
    return std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(begin * width),
                              values.begin() + static_cast<std::ptrdiff_t>(end * width));
  };
  return {part(rows.inputs, C), part(rows.targets, D)};
}

void append_logs(const OutputHyperparameters& found, std::vector<float>& out) {
  const auto append = [&](const Hyperparameters& own) {
    const Eigen::VectorXd logs = own.log_vector();
    std::ranges::transform(logs, std::back_inserter(out), [](double value) { return static_cast<float>(value); });
  };
  append(found.mode);
  std::ranges::for_each(found.components, append);
}

// Minus the mean log density of the first rows of the training data, or of the held-out ones behind them.
double mean_loss(const Ensemble& model, const TrainingSet& data, bool held_out, Executor* executor) {
  const std::size_t C = model.num_input_columns();
  const std::size_t D = model.num_outputs();
  const std::size_t n = data.order.size() - data.num_held_out;
  const std::span<const std::uint32_t> rows =
      held_out ? std::span(data.order).subspan(n) : std::span(data.order).first(n);
  const std::vector<double> density =
      model.log_density(pick_rows(data.rows.inputs, C, rows), pick_rows(data.rows.targets, D, rows), executor);
  return -std::accumulate(density.begin(), density.end(), 0.0) / static_cast<double>(rows.size());
}

}  // namespace

FitReport train_process(Ensemble& model, TrainingSet data, const FitControl& control) {
  const std::size_t C = model.num_input_columns();
  const std::size_t D = model.num_outputs();
  const std::size_t n = data.order.size() - data.num_held_out;
  check(can_be_process(n, D), "model gp: {} rows are too many with {}; choose pne or flow", n, counted(D, "output"));
  ProcessModel& process = model.process();
  ProcessModel::Rows rows = slice(data.scaled, C, D, 0, n);
  const ProcessOptions options = process.options();
  const RowMatrix inputs = process.standard_inputs(rows);
  const RowMatrix targets = process.standard_targets(rows);
  const std::string identity = control.checkpoint.empty() ? "" : fit_identity(model, data.options, data.rows);
  FitReport report;
  report.epochs = D;
  std::vector<float> found;
  std::size_t done = control.checkpoint.empty() ? 0 : read_outputs(control.checkpoint, identity, found);
  report.resumed_epoch = done;
  while (done < D && !report.interrupted) {
    const std::size_t count = std::min(D - done, num_threads(control.executor));
    std::vector<OutputHyperparameters> part(count);
    for_blocks(control.executor, count, 1, [&](std::size_t k, std::size_t, std::size_t) {
      part[k] = GaussianProcess::search(options, inputs, targets.col(static_cast<Eigen::Index>(done + k)), done + k);
    });
    for (const OutputHyperparameters& output : part) {
      append_logs(output, found);
    }
    done += count;
    report.interrupted = control.progress && !control.progress({done, D, kNan, kNan}) && done < D;
    if (!control.checkpoint.empty() && done < D) {
      write_outputs(control.checkpoint, identity, done, found);
    }
  }
  report.epochs_run = done;
  if (report.interrupted) {  // a model that can be used all the same: the last output's for those to come
    const std::size_t size = found.size() / done;
    const std::vector<float> last(found.end() - static_cast<std::ptrdiff_t>(size), found.end());
    for (; done < D; ++done) {
      found.insert(found.end(), last.begin(), last.end());
    }
  }
  process.assign(std::move(rows), std::move(found), control.executor);
  report.loss = mean_loss(model, data, false, control.executor);
  report.validation_loss = data.num_held_out > 0 ? mean_loss(model, data, true, control.executor) : kNan;
  return report;
}

}  // namespace dissent
