// Training of `gp`: searches for the hyperparameters of each output, as many outputs at a time as there are threads.
// The state of an unfinished fit is what was found so far: a checkpoint holds the outputs done,
// F32 [done][1 or 1 + M][3 + C], and the extra noise of their rows, F32 [done][n], if there is any.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
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

// Minus the mean log density of the rows trained on, which come first, or of the held-out rows after them.
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

void append_noise(const OutputHyperparameters& found, std::size_t output, std::size_t n, std::vector<float>& out) {
  if (found.extra_noise.size() > 0) {
    out.resize(output * n);
    std::ranges::transform(found.extra_noise, std::back_inserter(out),
                           [](double value) { return static_cast<float>(value); });
  }
}

// One sentence for each output with rows that do not fit.
std::vector<std::string> stray_warnings(const std::vector<float>& extra, const TrainingSet& data) {
  constexpr std::size_t kMostNamed = 10;
  const std::size_t n = data.order.size() - data.num_held_out;
  std::vector<std::string> out;
  for (std::size_t d = 0; d * n < extra.size(); ++d) {
    std::vector<std::size_t> rows;
    for (std::size_t k = 0; k < n; ++k) {
      if (extra[d * n + k] > 0) {
        rows.push_back(data.rows.row_number(data.order[k]) + 1);
      }
    }
    if (!rows.empty()) {
      std::ranges::sort(rows);
      const std::span<const std::size_t> named = std::span(rows).first(std::min(rows.size(), kMostNamed));
      out.push_back(fmt::format("'{}': {} not fit a smooth function ({} {}{}); {} less", data.rows.target_names[d],
                                rows.size() == 1 ? "1 row does" : fmt::format("{} rows do", rows.size()),
                                rows.size() == 1 ? "row" : "rows", fmt::join(named, ", "),
                                named.size() < rows.size() ? ", ..." : "",
                                rows.size() == 1 ? "it counts" : "they count"));
    }
  }
  return out;
}

// The outputs found so far. They are searched in order, as many at a time as there are threads.
struct Search {
  std::vector<float> found;  // of the outputs done; if none is, of the first, as far as it got
  std::vector<float> extra;  // [done][n]: extra noise of their rows; empty while there is none
  std::size_t done = 0;
  bool interrupted = false;
};

class OutputSearch {
 public:
  OutputSearch(const ProcessOptions& options, RowMatrix inputs, RowMatrix targets, const FitControl& control)
      : options_(options), inputs_(std::move(inputs)), targets_(std::move(targets)), control_(control) {}

  // Searches the next few outputs. An interrupted search counts for nothing, so a resumed one ends with the same bits.
  void advance(Search& search) {
    const auto D = static_cast<std::size_t>(targets_.cols());
    std::vector<OutputHyperparameters> part(std::min(D - search.done, num_threads(control_.executor)));
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> stopped = false;
    const auto go_on = [&] {
      if (control_.progress && std::this_thread::get_id() == caller && !stopped &&
          !control_.progress({search.done, D, kNan, kNan, true})) {
        stopped = true;
      }
      return !stopped;
    };
    for_blocks(control_.executor, part.size(), 1, [&](std::size_t k, std::size_t, std::size_t) {
      const std::size_t d = search.done + k;
      part[k] = GaussianProcess::search(options_, inputs_, targets_.col(static_cast<Eigen::Index>(d)), d, go_on);
    });
    search.interrupted = stopped;
    if (stopped && search.done > 0) {
      return;
    }
    part.resize(stopped ? 1 : part.size());
    for (std::size_t k = 0; k < part.size(); ++k) {
      append_logs(part[k], search.found);
      append_noise(part[k], search.done + k, static_cast<std::size_t>(inputs_.rows()), search.extra);
    }
    if (!stopped) {
      search.done += part.size();
      search.interrupted = control_.progress && !control_.progress({search.done, D, kNan, kNan}) && search.done < D;
    }
  }

 private:
  ProcessOptions options_;
  RowMatrix inputs_;
  RowMatrix targets_;
  const FitControl& control_;
};

}  // namespace

FitReport train_process(Ensemble& model, TrainingSet data, const FitControl& control) {
  const std::size_t C = model.num_input_columns();
  const std::size_t D = model.num_outputs();
  const std::size_t n = data.order.size() - data.num_held_out;
  check(can_be_process(n, D), "model gp: {} rows are too many with {}; choose pne or flow", n, counted(D, "output"));
  ProcessModel& process = model.process();
  ProcessModel::Rows rows = slice(data.scaled, C, D, 0, n);
  ProcessOptions options = process.options();
  if (!model.options().stray_rows) {
    options.search.stray_share = 0;
  }
  OutputSearch outputs(options, process.standard_inputs(rows), process.standard_targets(rows), control);
  const std::string identity = control.checkpoint.empty() ? "" : fit_identity(model, data.options, data.rows);
  FitReport report;
  report.epochs = D;
  Search search;
  search.done = control.checkpoint.empty() ? 0 : read_outputs(control.checkpoint, identity, search.found, search.extra);
  report.resumed_epoch = search.done;
  while (search.done < D && !search.interrupted) {
    outputs.advance(search);
    if (!control.checkpoint.empty() && search.done > 0 && search.done < D) {
      search.extra.resize(search.extra.empty() ? 0 : search.done * n);
      write_outputs(control.checkpoint, identity, search.done, search.found, search.extra);
    }
  }
  report.interrupted = search.interrupted;
  report.epochs_run = search.done;
  if (report.interrupted) {  // still make a usable model: outputs to come take the last one's
    const std::size_t filled = std::max<std::size_t>(1, search.done);
    const std::size_t size = search.found.size() / filled;
    const std::vector<float> last(search.found.end() - static_cast<std::ptrdiff_t>(size), search.found.end());
    for (std::size_t d = filled; d < D; ++d) {
      search.found.insert(search.found.end(), last.begin(), last.end());
    }
  }
  search.extra.resize(search.extra.empty() ? 0 : D * n);
  if (control.warn && !report.interrupted) {
    report.warnings = stray_warnings(search.extra, data);
  }
  process.assign(std::move(rows), std::move(search.found), std::move(search.extra), control.executor);
  report.loss = mean_loss(model, data, false, control.executor);
  report.validation_loss = data.num_held_out > 0 ? mean_loss(model, data, true, control.executor) : kNan;
  return report;
}

}  // namespace dissent
