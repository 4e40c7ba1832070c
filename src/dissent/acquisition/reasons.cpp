#include "dissent/acquisition/reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "dissent/ensemble/normal_points.hpp"
#include "dissent/ensemble/output_map.hpp"

namespace dissent {
namespace {

constexpr std::size_t kPoints = 64;  // per component, carried to outputs
constexpr std::size_t kMostTargets = 2;
constexpr int kRangeDigits = 3;
constexpr int kMostDigits = 9;

// What the components say about one target of one row.
struct TargetRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double variance = 0;  // of the noise: the components' own, on average

  void add(double mean, double own_variance, double weight) {
    low = std::min(low, mean);
    high = std::max(high, mean);
    variance += weight * own_variance;
  }
  double disagreement() const { return (high - low) / std::max(std::sqrt(variance), 1e-300); }
};

// Ranges [N][D] of rows whose components are Gaussians in the user's units.
std::vector<TargetRange> ranges_of_gaussians(const Ensemble& model, const Mixture<double>& mixture) {
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  std::vector<TargetRange> ranges(mixture.num_inputs * D);
  for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
    const double weight = model.weights().value[k / D % M];
    if (weight > 0) {
      ranges[k / (M * D) * D + k % D].add(mixture.mean[k], mixture.stddev[k] * mixture.stddev[k], weight);
    }
  }
  return ranges;
}

// The same through the output map, on points.
std::vector<TargetRange> ranges_of_points(const Ensemble& model, std::span<const double> inputs,
                                          const Mixture<double>& mixture, Executor* executor) {
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  std::vector<TargetRange> ranges(mixture.num_inputs * D);
  CarriedPoints carried(model, mean_points(D, kPoints));
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    carried.carry(inputs, mixture, n, n + 1, false, executor);
    for (std::size_t m = 0; m < M; ++m) {
      const double weight = model.weights().value[m];
      for (std::size_t d = 0; d < D && weight > 0; ++d) {
        double sum = 0;
        double squares = 0;
        const double first = carried.outputs()[m * kPoints * D + d];
        for (std::size_t k = 0; k < kPoints; ++k) {
          const double from_first = carried.outputs()[(m * kPoints + k) * D + d] - first;
          sum += from_first;
          squares += from_first * from_first;
        }
        const double mean = sum / kPoints;
        ranges[n * D + d].add(first + mean, std::max(squares / kPoints - mean * mean, 0.0), weight);
      }
    }
  }
  return ranges;
}

// The range of the labelled rows in each column.
struct Labelled {
  std::span<const double> rows;
  std::vector<double> low;
  std::vector<double> high;

  Labelled(std::span<const double> labelled, std::size_t num_columns) : rows(labelled) {
    if (!rows.empty()) {
      low.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(num_columns));
      high = low;
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::size_t c = k % num_columns;
      low[c] = std::min(low[c], rows[k]);
      high[c] = std::max(high[c], rows[k]);
    }
  }

  // A difference as a share of the range or, if the column has only one value, of that value.
  double scaled(std::size_t column, double difference) const {
    const double range = high[column] - low[column];
    const double size = range > 0 ? range : std::max(std::abs(low[column]), std::abs(difference));
    return size > 0 ? std::abs(difference) / size : 0;
  }
};

// A row's input in the words of its table: "Ideal", "missing"; empty if the number itself says it.
std::string words(const EnsembleColumns& columns, std::size_t input, std::span<const double> row) {
  return columns.encoding.columns.empty() ? "" : columns.encoding.cell_text(input, row);
}

const std::string& name_of(const EnsembleColumns& columns, std::size_t input) {
  const TableEncoding& encoding = columns.encoding;
  return encoding.columns.empty() ? columns.inputs[input] : encoding.columns[encoding.column_of(input)].column;
}

// Says how a value in words lies beyond the labelled rows: dates and ordered categories have an end.
std::string beyond_text(const EnsembleColumns& columns, std::size_t input, std::span<const double> row, double limit,
                        bool above) {
  const TableEncoding& encoding = columns.encoding;
  const ColumnKind kind = encoding.columns[encoding.column_of(input)].kind;
  if (kind != ColumnKind::kDate && kind != ColumnKind::kOrdered) {
    return "in no labelled row";
  }
  std::vector<double> at_limit(row.begin(), row.end());
  at_limit[input] = limit;
  return fmt::format("labelled rows {} at {}", above ? "end" : "begin", words(columns, input, at_limit));
}

struct Place {
  std::string text;
  std::optional<std::size_t> outside;  // the column
};

// "depth 71, labelled rows end at 66" or "cut Ideal, in no labelled row", for the column farthest outside.
Place outside_text(const Labelled& labelled, std::span<const double> row, const EnsembleColumns& columns) {
  std::optional<std::size_t> farthest;
  double most = 0;
  std::set<std::string_view> outside;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double beyond = std::max(row[c] - labelled.high[c], labelled.low[c] - row[c]);
    if (beyond > 0) {
      outside.insert(name_of(columns, c));
    }
    if (beyond > 0 && (!farthest || labelled.scaled(c, beyond) > most)) {
      farthest = c;
      most = labelled.scaled(c, beyond);
    }
  }
  if (!farthest) {
    return {};
  }
  const bool above = row[*farthest] > labelled.high[*farthest];
  const double limit = above ? labelled.high[*farthest] : labelled.low[*farthest];
  const std::string& name = name_of(columns, *farthest);
  std::string text;
  if (const std::string own = words(columns, *farthest, row); own.empty()) {
    const auto [number, end] = short_numbers(row[*farthest], limit);
    text = fmt::format("{} {}, labelled rows {} at {}", name, number, above ? "end" : "begin", end);
  } else {
    text = fmt::format("{} {}, {}", name, own, beyond_text(columns, *farthest, row, limit, above));
  }
  if (outside.size() > 1) {
    text += fmt::format(" ({} more input column{} outside)", outside.size() - 1, outside.size() == 2 ? "" : "s");
  }
  return {text, farthest};
}

// "nearest labelled row differs most in x: 3.1 against 2"
std::string nearest_text(const Labelled& labelled, std::span<const double> row, const EnsembleColumns& columns) {
  const std::size_t C = row.size();
  double least = std::numeric_limits<double>::infinity();
  std::size_t nearest = 0;
  for (std::size_t t = 0; t < labelled.rows.size() / C; ++t) {
    double distance = 0;
    for (std::size_t c = 0; c < C; ++c) {
      const double scaled = labelled.scaled(c, row[c] - labelled.rows[t * C + c]);
      distance += scaled * scaled;
    }
    if (distance < least) {
      least = distance;
      nearest = t;
    }
  }
  const std::span<const double> other = labelled.rows.subspan(nearest * C, C);
  std::size_t column = 0;
  double most = 0;
  for (std::size_t c = 0; c < C; ++c) {
    if (const double scaled = labelled.scaled(c, row[c] - other[c]); scaled > most) {
      most = scaled;
      column = c;
    }
  }
  if (most == 0) {
    return "the inputs of a labelled row";
  }
  auto [own, its] = short_numbers(row[column], other[column]);
  const std::string own_words = words(columns, column, row);
  const std::string its_words = words(columns, column, other);
  return fmt::format("nearest labelled row differs most in {}: {} against {}", name_of(columns, column),
                     own_words.empty() ? own : own_words, its_words.empty() ? its : its_words);
}

// "components say 2.1 to 4; noise 0.3", or with the names of targets if there are several.
std::string range_text(std::span<const TargetRange> ranges, const std::vector<std::string>& names) {
  std::vector<std::size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t d) { return ranges[d].disagreement(); });
  order.resize(std::min(order.size(), kMostTargets));
  std::string texts;
  std::string noise;
  for (const std::size_t d : order) {
    const std::string name = ranges.size() > 1 ? names[d] + " " : "";
    const auto [low, high] = short_numbers(ranges[d].low, ranges[d].high, kRangeDigits);
    const std::string_view comma = texts.empty() ? "" : ", ";
    texts += fmt::format("{}{}{}", comma, name, low == high ? low : fmt::format("{} to {}", low, high));
    noise += fmt::format("{}{}{}", comma, name, short_number(std::sqrt(ranges[d].variance), kRangeDigits));
  }
  return fmt::format("{}{}; noise {}", kReasonMark, texts, noise);
}

std::string error_text(const UsualRange& usual, double value, const std::string& name) {
  const bool above = value > usual.high;
  const auto [own, end] = short_numbers(value, above ? usual.most : usual.least);
  return fmt::format("{} {} looks like an error: other rows {} at {}", name, own, above ? "end" : "begin", end);
}

// "adds 0.36 nats about the aim", "costs 3, 0.12 nats per unit of cost": if the method scores by that.
void add_worth(const ReasonOptions& options, std::size_t n, std::vector<std::string>& parts) {
  const bool known = options.method != nullptr && !options.scores.empty() && std::isfinite(options.scores[n]);
  if (known && options.aim && options.method->uses_aim) {
    const double nats = options.scores[n] * (options.cost.empty() ? 1 : options.cost[n]);
    parts.push_back(fmt::format("adds {} nats about the aim", short_number(nats, kRangeDigits)));
  }
  if (!options.cost.empty()) {
    const bool weighed = known && options.method->uses_cost;
    parts.push_back(
        "costs " + short_number(options.cost[n]) +
        (weighed ? fmt::format(", {} nats per unit of cost", short_number(options.scores[n], kRangeDigits)) : ""));
  }
}

}  // namespace

std::string short_number(double value, int digits) {
  constexpr double kLeast = 1e-4;
  constexpr double kMost = 1e9;
  constexpr std::size_t kShort = 7;
  if (std::string exact = fmt::format("{}", value); exact.size() <= kShort && digits > kRangeDigits) {
    return exact;
  }
  const double size = std::abs(value);
  if (value == 0 || !std::isfinite(value) || size < kLeast || size >= kMost) {
    return fmt::format("{:.{}g}", value, digits);
  }
  const int decimals = std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(size))));
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    text.erase(text.find_last_not_of('.') + 1);
  }
  return text;
}

std::pair<std::string, std::string> short_numbers(double one, double other, int digits) {
  std::pair<std::string, std::string> texts{short_number(one, digits), short_number(other, digits)};
  while (texts.first == texts.second && one != other && digits < kMostDigits) {
    ++digits;
    texts = {short_number(one, digits), short_number(other, digits)};
  }
  return texts;
}

std::vector<std::string> reasons(const Ensemble& model, std::span<const double> inputs, const ReasonOptions& options) {
  const std::size_t C = model.num_input_columns();
  const std::size_t D = model.num_outputs();
  const EnsembleColumns& columns = model.columns();
  const Mixture<double> mixture = model.predict(inputs, options.executor);
  const std::vector<TargetRange> ranges = model.output_map().is_identity()
                                              ? ranges_of_gaussians(model, mixture)
                                              : ranges_of_points(model, inputs, mixture, options.executor);
  const Labelled labelled(options.labelled, C);
  std::vector<std::string> texts;
  for (std::size_t n = 0; n < inputs.size() / C; ++n) {
    const std::span<const double> row = inputs.subspan(n * C, C);
    std::vector<std::string> parts;
    const std::optional<std::size_t> error = first_outlier(options.usual, row);
    if (error) {
      parts.push_back(error_text(options.usual[*error], row[*error], name_of(columns, *error)));
    }
    if (!options.labelled.empty()) {
      const Place place = outside_text(labelled, row, columns);
      if (!place.outside || place.outside != error) {  // once is enough
        parts.push_back(place.outside ? place.text : nearest_text(labelled, row, columns));
      }
    }
    parts.push_back(range_text(std::span(ranges).subspan(n * D, D), columns.targets));
    add_worth(options, n, parts);
    texts.push_back(fmt::format("{}", fmt::join(parts, "; ")));
  }
  return texts;
}

}  // namespace dissent
