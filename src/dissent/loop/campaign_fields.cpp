// The fields of a campaign's records: the one place that lists them.
#include "dissent/loop/campaign.hpp"

namespace dissent {
namespace {

// A computed number: any value is allowed, also infinite and NaN, and an empty one is NaN.
template <class S>
Field<S> computed(std::string_view name, double S::*member, FieldTraits traits) {
  Field<S> result{{name, FieldType::kNumber, true, std::move(traits)}, {}, {}};
  result.get = [member](const S& from) { return Value(from.*member); };
  result.set = [member](S& to, const Value& value) { to.*member = as_number(value); };
  return result;
}

}  // namespace

template <>
std::span<const Field<ChosenRow>> fields() {
  using S = ChosenRow;
  static const std::vector<Field<S>> list{
      field("round", &S::round, {.help = "The round that chose it, from 1"}),
      field("row", &S::row, {.help = "Its number in the pool, from 0"}),
      computed("score", &S::score, {.help = "By which it was chosen"}),
      computed("epistemic", &S::epistemic, {.help = "Epistemic uncertainty, nats"}),
      computed("aleatoric", &S::aleatoric, {.help = "Aleatoric uncertainty, nats"}),
  };
  return list;
}

template <>
std::span<const Field<RoundRecord>> fields() {
  using S = RoundRecord;
  static const std::vector<Field<S>> list{
      field("round", &S::round, {.help = "From 1"}),
      field("labelled", &S::labelled, {.help = "Rows that the model was fitted on"}),
      computed("rmse", &S::rmse, {.help = "On the test rows"}),
      computed("rmse_paper", &S::rmse_paper, {.help = "On the test rows, as the paper computes it"}),
      computed("log_likelihood", &S::log_likelihood, {.help = "Mean over the test rows, nats"}),
      computed("chosen_epistemic", &S::chosen_epistemic, {.help = "Mean over the rows chosen, nats"}),
      computed("fit_seconds", &S::fit_seconds, {.help = "Of fit and evaluation", .varies = true}),
      computed("score_seconds", &S::score_seconds, {.help = "Of the choice", .varies = true}),
      computed("scoring_seconds", &S::scoring_seconds,
               {.help = "Of scoring the candidates alone, without checks and copies", .varies = true}),
      computed("expert_share", &S::expert_share,
               {.help = "Of the rows chosen, where the problem knows whose they are"}),
  };
  return list;
}

}  // namespace dissent
