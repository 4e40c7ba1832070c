// Every method with its function and traits, and how a method is parsed from its name.
#include <algorithm>
#include <array>
#include <utility>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/scorers.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"

namespace dissent {
namespace {

constexpr std::string_view kDeficit = "-ln(H(w) - estimate)";
constexpr std::string_view kBatchDeficit =
    "by how much it lowers ln(H(w) - estimate) of the picks before it; once that is told, nats that those leave";
constexpr std::string_view kAimGain = "what it adds to what the picks tell about a row of the aim, per cost";
constexpr std::string_view kJointSuffix = "-joint";
constexpr std::string_view kAimSuffix = "-aim";

constexpr std::array<std::pair<Ranking, std::string_view>, 2> kRankings{{
    {Ranking::kDeficit, "deficit"},
    {Ranking::kValue, "value"},
}};

constexpr std::size_t kManyOutputs = 257;
constexpr std::size_t kPaperCandidates = 10'000;
constexpr double kLeastAlpha = 1e-6;  // nearer to 0 or 1 all divergences are next to 0

constexpr Parameter kSamples{.letter = "K",
                             .whole = true,
                             .least = 1,
                             .most = 1e7,
                             .rule = "a whole number from 1 to 10000000",
                             .example = "5000"};

Parameter alpha_parameter(Parameter parameter) {
  if (!parameter.letter.empty()) {
    parameter.least = kLeastAlpha;
    parameter.most = 1 - kLeastAlpha;
    parameter.rule = "a number alpha from 0.000001 to 0.999999";
  }
  return parameter;
}

AcquisitionInfo pairwise_row(const DivergenceInfo& divergence) {
  return {.name = std::string(divergence.name),
          .parameter = alpha_parameter(divergence.parameter),
          .summary = fmt::format("the largest pairwise estimates over {}", divergence.title),
          .score = kDeficit,
          .divergence = &divergence,
          .candidates = 10'000,
          .needs_components = true,
          .estimates = true,
          .uses_cost = true,
          .scorer = pairwise_scorer,
          .choose_there = [](const Acquisition& acquisition, const PoolTask& task) {
            return choose_pairwise_there(acquisition.divergence(), task);
          }};
}

AcquisitionInfo joint_row(const DivergenceInfo& divergence) {
  return {.name = fmt::format("{}{}", divergence.name, kJointSuffix),
          .parameter = alpha_parameter(divergence.parameter),
          .summary = fmt::format("greedily the largest joint estimate of the batch over {}", divergence.title),
          .score = kBatchDeficit,
          .divergence = &divergence,
          .candidates = 10'000,
          .needs_components = true,
          .estimates = true,
          .choose = [](const Acquisition& acquisition, const AcquisitionTask& task,
                       std::span<const double> rows) { return choose_joint(acquisition.divergence(), task, rows); },
          .choose_there = [](const Acquisition& acquisition,
                             const PoolTask& task) { return choose_joint_there(acquisition.divergence(), task); }};
}

// The aim is a sample of the candidates unless one is given.
AcquisitionInfo aim_row(const DivergenceInfo& divergence) {
  return {.name = fmt::format("{}{}", divergence.name, kAimSuffix),
          .parameter = alpha_parameter(divergence.parameter),
          .summary =
              fmt::format("greedily what labels tell about the aim, by pairwise estimates over {}", divergence.title),
          .score = kAimGain,
          .divergence = &divergence,
          .candidates = 10'000,
          .needs_components = true,
          .uses_aim = true,
          .uses_cost = true,
          .choose = [](const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> rows) {
            return choose_aim(acquisition.divergence(), false, task, rows);
          }};
}

// Exact if the model has a posterior, else by the default divergence.
AcquisitionInfo best_aim_row() {
  return {.name = "aim",
          .summary = "greedily what labels tell about the aim: exactly by gp, else as kl-aim",
          .score = kAimGain,
          .candidates = 2'000,
          .needs_components = true,
          .uses_aim = true,
          .uses_cost = true,
          .choose = [](const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> rows) {
            return choose_aim(acquisition.divergence(), task.model.has_posterior(), task, rows);
          }};
}

AcquisitionInfo best_chernoff_row() {
  return {.name = "chernoff-best",
          .summary = "the largest lower bound: pairwise estimates over Chernoff, at each row's best alpha",
          .score = kDeficit,
          .candidates = 10'000,
          .needs_components = true,
          .estimates = true,
          .uses_cost = true,
          .scorer = best_chernoff_scorer};
}

void add_sampled(std::vector<AcquisitionInfo>& rows) {
  rows.push_back({.name = "mc",
                  .parameter = kSamples,
                  .summary = "the largest mutual information by K samples a row (MC-BALD)",
                  .score = kDeficit,
                  .candidates = 1'000,
                  .candidates_many_outputs = 100,
                  .needs_components = true,
                  .estimates = true,
                  .samples = true,
                  .uses_cost = true,
                  .scorer = monte_carlo_scorer});
  rows.push_back(
      {.name = "batchbald",
       .parameter = kSamples,
       .summary = "greedily the largest joint mutual information by K samples",
       .score = kBatchDeficit,
       .candidates = 1'000,
       .candidates_paper = kPaperCandidates,
       .needs_components = true,
       .estimates = true,
       .samples = true,
       .choose = [](const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> candidates) {
         return batchbald(acquisition.num_samples(), task, candidates);
       }});
}

// Turns a method without parameters into the function that a row holds.
template <Choice (*method)(const AcquisitionTask&, std::span<const double>)>
Choice without_parameters(const Acquisition&, const AcquisitionTask& task, std::span<const double> candidates) {
  return method(task, candidates);
}

void add_last_layer_methods(std::vector<AcquisitionInfo>& rows) {
  rows.push_back({.name = "badge",
                  .summary = "k-means++ on last-layer gradients at a sampled target",
                  .score = "squared distance to the nearest pick before",
                  .candidates = 10'000,
                  .needs_network = true,
                  .choose = without_parameters<badge>});
  rows.push_back({.name = "bait",
                  .summary = "forward and backward selection by Fisher information of the last layers",
                  .score = "decrease of the trace when picked",
                  .candidates = 1'000,
                  .candidates_paper = kPaperCandidates,
                  .uses_training = true,
                  .needs_network = true,
                  .choose = without_parameters<bait>});
  rows.push_back({.name = "lcmd",
                  .summary = "farthest row of the largest cluster, by last-layer features",
                  .score = "squared distance to the nearest centre",
                  .candidates = 10'000,
                  .uses_training = true,
                  .needs_network = true,
                  .choose = without_parameters<lcmd>});
  rows.push_back({.name = "lcmd-grad",
                  .summary = "farthest row of the largest cluster, by gradients with respect to all layers",
                  .score = "squared distance to the nearest centre",
                  .candidates = 10'000,
                  .uses_training = true,
                  .needs_network = true,
                  .choose = without_parameters<lcmd_grad>});
}

std::vector<AcquisitionInfo> all_rows() {
  std::vector<AcquisitionInfo> rows;
  rows.push_back(best_aim_row());
  for (const auto make : {pairwise_row, joint_row, aim_row}) {
    for (const DivergenceInfo& divergence : divergences()) {
      if (divergence.acquisition) {
        rows.push_back(make(divergence));
      }
    }
  }
  rows.push_back(best_chernoff_row());
  add_sampled(rows);
  add_last_layer_methods(rows);
  rows.push_back(
      {.name = "variance",
       .summary = "the largest variance of the components' means; of a flow, of its base means carried to outputs",
       .score = "variance of the means, scaled units",
       .candidates = 10'000,
       .needs_components = true,
       .scorer = variance_scorer});
  rows.push_back({.name = "random",
                  .summary = "uniformly at random",
                  .score = "a uniform draw",
                  .uses_model = false,
                  .scorer = random_scorer});
  return rows;
}

}  // namespace

const std::vector<AcquisitionInfo>& acquisitions() {
  static const std::vector<AcquisitionInfo> rows = all_rows();
  return rows;
}

Acquisition Acquisition::parse(std::string_view text) {
  const MethodText typed = split_method(text);
  Acquisition result;
  result.info_ = &find_method("acquisition", typed.name, acquisitions());
  const AcquisitionInfo& info = *result.info_;
  const double value = parse_parameter("acquisition", typed, info.parameter);
  if (info.divergence != nullptr) {
    result.divergence_.info = info.divergence;
    result.divergence_.alpha = typed.parameter ? value : result.divergence_.alpha;
  } else {
    result.num_samples_ = static_cast<std::size_t>(value);
  }
  result.text_ = method_text(info.name, info.parameter, value);
  return result;
}

void Acquisition::check_model(const ModelTraits& model) const {
  check(!info_->needs_components || model.num_components >= 2,
        "acquisition '{}' needs at least two components of weight > 0, for it looks at where they differ; there is {}",
        text_, model.num_components);
  check(!info_->needs_network || model.has_network,
        "acquisition '{}' looks at the last layer of a network, and this model has none; choose another", text_);
}

std::size_t Acquisition::default_candidates(std::size_t num_outputs) const {
  const bool fewer = num_outputs >= kManyOutputs && info_->candidates_many_outputs > 0;
  return fewer ? info_->candidates_many_outputs : info_->candidates;
}

std::size_t Acquisition::paper_candidates(std::size_t num_outputs) const {
  return info_->candidates_paper > 0 ? info_->candidates_paper : default_candidates(num_outputs);
}

std::string_view ranking_name(Ranking ranking) {
  return std::ranges::find(kRankings, ranking, [](const auto& entry) { return entry.first; })->second;
}

std::vector<std::string> ranking_names() {
  std::vector<std::string> names;
  for (const auto& [ranking, name] : kRankings) {
    names.emplace_back(name);
  }
  return names;
}

Ranking ranking_from_name(std::string_view name) {
  check_name("ranking", name, ranking_names());
  return std::ranges::find(kRankings, name, [](const auto& entry) { return entry.second; })->first;
}

}  // namespace dissent
