#include "dissent/acquisition/acquisition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "dissent/acquisition/badge.hpp"
#include "dissent/acquisition/bait.hpp"
#include "dissent/acquisition/batchbald.hpp"
#include "dissent/acquisition/joint.hpp"
#include "dissent/acquisition/lcmd.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/top.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/special.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

using Kind = AcquisitionKind;

constexpr std::string_view kDeficit = "-ln(H(w) - estimate)";
constexpr std::string_view kBatchDeficit = "-ln(H(w) - estimate) of the picks so far";

constexpr std::array<AcquisitionInfo, 13> kMethods{{
    {Kind::kPairwise, "kl", "", "the largest pairwise estimates over Kullback-Leibler", kDeficit, true, 10'000},
    {Kind::kPairwise, "bhattacharyya", "", "the largest pairwise estimates over Bhattacharyya", kDeficit, true, 10'000},
    {Kind::kPairwise, "chernoff", "A", "the largest pairwise estimates over Chernoff", kDeficit, true, 10'000},
    {Kind::kJoint, "kl-joint", "", "greedily the largest joint estimate of the batch over Kullback-Leibler",
     kBatchDeficit, false, 10'000},
    {Kind::kJoint, "bhattacharyya-joint", "", "greedily the largest joint estimate of the batch over Bhattacharyya",
     kBatchDeficit, false, 10'000},
    {Kind::kJoint, "chernoff-joint", "A", "greedily the largest joint estimate of the batch over Chernoff",
     kBatchDeficit, false, 10'000},
    {Kind::kMonteCarlo, "mc", "K", "the largest mutual information by K samples a row (MC-BALD)", kDeficit, true,
     1'000},
    {Kind::kBatchBald, "batchbald", "K", "greedily the largest joint mutual information by K samples", kBatchDeficit,
     false, 1'000},
    {Kind::kBadge, "badge", "", "k-means++ on last-layer gradients at a sampled target",
     "squared distance to the nearest pick before", false, 10'000},
    {Kind::kBait, "bait", "", "forward and backward selection by Fisher information of the last layers",
     "decrease of the trace when picked", false, 1'000},
    {Kind::kLcmd, "lcmd", "", "farthest row of the largest cluster, by last-layer features",
     "squared distance to the nearest centre", false, 10'000},
    {Kind::kVariance, "variance", "",
     "the largest variance of the components' means; of a flow, of its base means carried to outputs",
     "variance of the means, scaled units", true, 10'000},
    {Kind::kRandom, "random", "", "uniformly at random", "a uniform draw", true, 0},
}};

constexpr std::size_t kManyOutputs = 257;            // from here on, Monte Carlo looks at fewer rows ...
constexpr std::size_t kManyOutputsCandidates = 100;  // ... as many as this
constexpr std::size_t kReadRows = 8192;              // read from a source at a time

std::string typed_name(const AcquisitionInfo& info) {
  return info.parameter.empty() ? std::string(info.name) : fmt::format("{}:{}", info.name, info.parameter);
}

const AcquisitionInfo& find_method(std::string_view name) {
  const auto* const found = std::ranges::find(kMethods, name, &AcquisitionInfo::name);
  if (found == kMethods.end()) {
    std::vector<std::string> names;
    std::string list;
    for (const AcquisitionInfo& info : kMethods) {
      names.emplace_back(info.name);
      list += (list.empty() ? "" : ", ") + typed_name(info);
    }
    fail("acquisition '{}' is not known{} (known: {})", name, did_you_mean(name, names), list);
  }
  return *found;
}

template <class T>
T parse_number(std::string_view number, std::string_view text, T low, T high, std::string_view rule) {
  T value{};
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  check(error == std::errc() && end == number.data() + number.size() && value >= low && value <= high,
        "acquisition: '{}' in '{}' is not {}", number, text, rule);
  return value;
}

void check_finite(const Ensemble& model, std::string_view what, std::span<const double> inputs, std::size_t first_row) {
  const std::vector<std::string>& names = model.columns().inputs;
  check(inputs.size() % names.size() == 0, "choose: {} values of {} rows; rows of {} are required", inputs.size(), what,
        names.size());
  if (all_finite(inputs)) {
    return;
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    check(std::isfinite(inputs[k]), "choose: {} {} column '{}' is {}; numbers must be finite", what,
          first_row + k / names.size(), names[k % names.size()], inputs[k]);
  }
}

// Rows that are scored by themselves are worth the same at each pick.
void repeat_scores(std::span<const Ranked> rows, const Choice& choice, std::vector<double>& utilities) {
  const std::size_t num_rows = rows.size();
  utilities.resize(choice.rows.size() * num_rows);
  for (std::size_t k = 0; k < choice.rows.size(); ++k) {
    const auto at = utilities.begin() + static_cast<std::ptrdiff_t>(k * num_rows);
    std::ranges::transform(rows, at, &Ranked::score);
    for (std::size_t before = 0; before < k; ++before) {
      at[static_cast<std::ptrdiff_t>(choice.rows[before])] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

// The methods that weigh rows against each other.
Choice choose_together(const Acquisition& acquisition, const AcquisitionTask& task,
                       std::span<const double> candidates) {
  switch (acquisition.kind()) {
    case Kind::kJoint:
      return choose_joint(acquisition.divergence(), task, candidates);
    case Kind::kBatchBald:
      return batchbald(acquisition.num_samples(), task, candidates);
    case Kind::kBadge:
      return badge(task, candidates);
    case Kind::kBait:
      return bait(task, candidates);
    case Kind::kLcmd:
      return lcmd(task, candidates);
    case Kind::kRandom:
    case Kind::kVariance:
    case Kind::kPairwise:
    case Kind::kMonteCarlo:
      break;  // TopChooser's
  }
  fail("acquisition '{}' scores each row by itself", acquisition.text());
}

}  // namespace

std::span<const AcquisitionInfo> acquisitions() { return kMethods; }

Acquisition Acquisition::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  Acquisition result;
  result.info_ = &find_method(text.substr(0, colon));
  const AcquisitionInfo& info = *result.info_;
  result.text_ = info.name;
  if (info.kind == Kind::kPairwise || info.kind == Kind::kJoint) {
    const std::string_view name = info.name.substr(0, info.name.find('-'));
    result.divergence_.kind = std::ranges::find(divergences(), name, &DivergenceInfo::name)->kind;
  }
  if (info.parameter.empty()) {
    check(colon == std::string_view::npos, "acquisition: '{}' takes no parameter; write '{}'", info.name, info.name);
    return result;
  }
  const bool samples = info.parameter == "K";
  check(colon != std::string_view::npos, "acquisition: '{}' needs a number, as in '{}:{}'", info.name, info.name,
        samples ? "5000" : "0.3");
  const std::string_view number = text.substr(colon + 1);
  if (samples) {
    result.num_samples_ = parse_number<std::size_t>(number, text, 1, 10'000'000, "a whole number from 1 to 10000000");
    result.text_ += fmt::format(":{}", result.num_samples_);
  } else {
    constexpr double kLeast = 1e-6;
    result.divergence_.alpha =
        parse_number<double>(number, text, kLeast, 1 - kLeast, "a number between 0 and 1, both excluded");
    result.text_ += fmt::format(":{}", result.divergence_.alpha);
  }
  return result;
}

void Acquisition::check_components(std::size_t num_components) const {
  const bool any_number =
      kind() == Kind::kRandom || kind() == Kind::kBadge || kind() == Kind::kBait || kind() == Kind::kLcmd;
  check(any_number || num_components >= 2,
        "acquisition '{}' needs at least two components, for it looks at where they differ; there is {}", text_,
        num_components);
}

std::size_t Acquisition::default_candidates(std::size_t num_outputs) const {
  return kind() == Kind::kMonteCarlo && num_outputs >= kManyOutputs ? kManyOutputsCandidates : info_->candidates;
}

Choice choose(const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> candidates) {
  const std::size_t C = task.model.num_inputs();
  acquisition.check_components(task.model.num_components());
  check_finite(task.model, "candidate", candidates, 0);
  check_finite(task.model, "training", task.training.inputs, 0);
  check(task.batch > 0, "choose: a batch of 0; at least one row must be chosen");
  check(task.batch <= candidates.size() / C,
        "choose: a batch of {} from {} candidates; there must be as many candidates as picks", task.batch,
        candidates.size() / C);
  if (task.utilities != nullptr) {
    task.utilities->clear();
  }
  if (acquisition.streams()) {
    TopChooser chooser(acquisition, task);
    chooser.offer(candidates);
    Choice choice = chooser.finish();
    if (task.utilities != nullptr) {
      repeat_scores(chooser.scored(), choice, *task.utilities);
    }
    return choice;
  }
  Choice choice = choose_together(acquisition, task, candidates);
  if (task.utilities != nullptr) {
    const std::size_t num_rows = candidates.size() / C;
    for (std::size_t k = 0; k < choice.rows.size(); ++k) {  // methods compare in less precision than they report
      (*task.utilities)[k * num_rows + choice.rows[k]] = choice.scores[k];
    }
  }
  describe(task, pick_rows(candidates, C, choice.rows), choice);
  return choice;
}

Choice choose_streaming(const Acquisition& acquisition, const AcquisitionTask& task, const RowSource& source) {
  check(acquisition.streams(), "acquisition '{}' needs all candidates at once; it cannot stream", acquisition.text());
  acquisition.check_components(task.model.num_components());
  check(task.batch > 0, "choose: a batch of 0; at least one row must be chosen");
  const std::size_t C = task.model.num_inputs();
  TopChooser chooser(acquisition, task);
  std::vector<double> block(kReadRows * C);
  std::size_t first_row = 0;
  while (const std::size_t count = source(block)) {
    const std::span<const double> rows = std::span(block).first(count * C);
    check_finite(task.model, "candidate", rows, first_row);
    chooser.offer(rows);
    first_row += count;
  }
  return chooser.finish();
}

std::vector<std::size_t> draw_candidates(std::size_t pool_size, std::size_t count, const Stream& stream) {
  std::vector<std::size_t> rows;
  if (count == 0 || count >= pool_size) {
    rows.resize(pool_size);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
  }
  // Floyd's sampling: each new number is uniform below k, and k itself where that is taken already.
  Stream draw = stream.substream(kCandidateDraw);
  std::unordered_set<std::size_t> taken;
  for (std::size_t k = pool_size - count; k < pool_size; ++k) {
    const std::size_t row = draw.below(k + 1);
    taken.insert(taken.contains(row) ? k : row);
  }
  rows.assign(taken.begin(), taken.end());
  std::ranges::sort(rows);
  return rows;
}

}  // namespace dissent
