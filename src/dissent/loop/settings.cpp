#include "dissent/loop/settings.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/table/row_condition.hpp"

namespace dissent {
namespace {

constexpr double kMostRows = 1e9;
constexpr std::string_view kNestedPrefix = "nested:";

std::optional<std::size_t> number_given(const Candidates& candidates) {
  if (const auto* nested = std::get_if<Nested>(&candidates)) {
    return nested->count;
  }
  const auto* count = std::get_if<std::size_t>(&candidates);
  return count == nullptr ? std::nullopt : std::optional(*count);
}

// Accepts a number as well as its text.
Field<CampaignSettings> candidates_field() {
  using S = CampaignSettings;
  Field<S> result{{"candidates",
                   FieldType::kText,
                   true,
                   {.help = "Rows drawn from the pool: N, nested:N, 'all', 'paper'; by default what suits the method",
                    .shown = "N"}},
                  {},
                  {}};
  result.get = [](const S& from) {
    const bool given = !std::holds_alternative<MethodDefault>(from.candidates);
    return given ? Value(candidates_text(from.candidates)) : Value();
  };
  result.set = [](S& to, const Value& value) { to.candidates = parse_candidates(to_text(value)); };
  return result;
}

// A text that may be empty, which means none.
Field<CampaignSettings> text_field(std::string_view name, std::string CampaignSettings::*member, FieldTraits traits,
                                   void (*check_text)(std::string_view name, std::string_view text)) {
  using S = CampaignSettings;
  Field<S> result{{name, FieldType::kText, true, std::move(traits)}, {}, {}};
  result.get = [member](const S& from) { return (from.*member).empty() ? Value() : Value(from.*member); };
  result.set = [member, name, check_text](S& to, const Value& value) {
    const std::string text = to_text(value);
    check_text(name, text);
    to.*member = text;
  };
  return result;
}

void check_conditions(std::string_view name, std::string_view text) { parse_conditions(name, text); }
void check_any(std::string_view, std::string_view) {}

std::vector<std::string> methods_with(bool AcquisitionInfo::*use) {
  std::vector<std::string> names;
  for (const AcquisitionInfo& info : acquisitions()) {
    if (info.*use) {
      names.push_back(info.typed_name());
    }
  }
  return names;
}

// The preset of the fit, which here sets more than the fit. Settings that presets do not cover stay.
Field<CampaignSettings> preset_field() {
  using S = CampaignSettings;
  return field<S>(
      *find_field<FitOptions>("preset"), [](const S& from) { return Value(from.fit.preset); },
      [](S& to, const Value& value) {
        CampaignSettings preset = campaign_preset(std::get<std::string>(value));
        to.acquisition = preset.acquisition;
        to.candidates = preset.candidates;
        to.ranking = preset.ranking;
        to.fit = std::move(preset.fit);
      });
}

}  // namespace

std::string_view default_acquisition() { return "aim"; }

Candidates parse_candidates(std::string_view text) {
  if (text.empty()) {
    return MethodDefault();
  }
  if (text == "all") {
    return All();
  }
  if (text == "paper") {
    return PaperNumber();
  }
  const bool nested = text.starts_with(kNestedPrefix);
  const std::size_t count = parse_whole(nested ? text.substr(kNestedPrefix.size()) : text).value_or(0);
  check_argument(count >= 1, "candidates", text, "it must be a whole number >= 1, 'all', 'paper' or 'nested:N'");
  return nested ? Candidates(Nested{count}) : Candidates(count);
}

std::string candidates_text(const Candidates& candidates) {
  struct Text {
    std::string operator()(MethodDefault) const { return ""; }
    std::string operator()(PaperNumber) const { return "paper"; }
    std::string operator()(All) const { return "all"; }
    std::string operator()(std::size_t count) const { return std::to_string(count); }
    std::string operator()(Nested nested) const { return fmt::format("{}{}", kNestedPrefix, nested.count); }
  };
  return std::visit(Text(), candidates);
}

void check_candidates(const Candidates& candidates, std::size_t batch) {
  if (const std::optional<std::size_t> count = number_given(candidates)) {
    check_argument(*count >= batch, "candidates", *count,
                   "fewer than the `batch` of {} that is chosen among them; give at least as many, or 'all'", batch);
  }
}

std::size_t num_candidates(const Candidates& candidates, const Acquisition& acquisition, std::size_t num_outputs,
                           std::size_t num_rows) {
  if (const std::optional<std::size_t> count = number_given(candidates)) {
    return *count;
  }
  if (std::holds_alternative<All>(candidates)) {
    return num_rows;
  }
  const std::size_t usual = std::holds_alternative<PaperNumber>(candidates)
                                ? acquisition.paper_candidates(num_outputs)
                                : acquisition.default_candidates(num_outputs);  // 0: all
  return usual == 0 ? num_rows : usual;
}

std::vector<std::size_t> draw_candidates(const Candidates& candidates, std::size_t count, std::size_t num_rows,
                                         const std::function<std::size_t(std::size_t)>& row_of, const Stream& stream) {
  const bool nested = std::holds_alternative<Nested>(candidates);
  std::vector<std::size_t> rows = draw_candidates(num_rows, nested ? num_rows : count, stream);
  std::ranges::transform(rows, rows.begin(), row_of);
  return nested ? draw_nested(rows, count, stream) : rows;
}

void CampaignSettings::check_values() const {
  fit.check_values();
  const Model model = fit.ensemble.model;
  acquisition.check_model({fit.ensemble.components(), model == Model::kAuto || model_kind(model).has_network});
}

void check_uses(const Acquisition& acquisition, bool has_aim, bool has_cost) {
  const auto refuse = [&](std::string_view what, const std::vector<std::string>& others) {
    fail("acquisition '{}' does not look at {}; use one that does: {}", acquisition.text(), what,
         fmt::join(others, ", "));
  };
  if (has_aim && !acquisition.info().uses_aim) {
    refuse("an aim", methods_with(&AcquisitionInfo::uses_aim));
  }
  if (has_cost && !acquisition.info().uses_cost) {
    refuse("costs", methods_with(&AcquisitionInfo::uses_cost));
  }
}

CampaignSettings campaign_preset(std::string_view name) {
  CampaignSettings settings;
  settings.fit = fit_preset(name);
  if (name == "paper") {
    settings.acquisition = Acquisition::parse("kl");
    settings.candidates = PaperNumber();
    settings.ranking = Ranking::kValue;
  }
  return settings;
}

template <>
std::span<const Field<CampaignSettings>> fields() {
  using S = CampaignSettings;
  static const std::vector<Field<S>> list = [] {
    std::vector<Field<S>> all{
        preset_field(),
        named_field<S, Acquisition>(
            "acquisition", &S::acquisition, [](const Acquisition& method) { return method.text(); },
            [](const std::string& text) { return Acquisition::parse(text); },
            {.help = "How rows are chosen", .shown = "NAME", .short_name = "a"}),
        field("batch", &S::batch,
              {.help = "Rows to choose at a time", .shown = "B", .short_name = "b", .least = 1, .most = kMostRows}),
        candidates_field(),
        named_field<S, Ranking>(
            "ranking", &S::ranking, [](const Ranking& ranking) { return std::string(ranking_name(ranking)); },
            [](const std::string& name) { return ranking_from_name(name); },
            {.help = "By the estimate's deficit, which never ties, or by its value, as in the paper",
             .shown = "NAME",
             .names = ranking_names}),
        text_field("cost", &S::cost,
                   {.help = "Column of the pool with the cost of each label: choose by information per cost",
                    .shown = "COLUMN"},
                   check_any),
        text_field(
            "require", &S::require,
            {.help = "Choose only rows of the pool that meet it: depth<=70, site=A, kind!=test", .shown = "COND"},
            check_conditions),
        text_field("exclude", &S::exclude, {.help = "Choose no row of the pool that meets it", .shown = "COND"},
                   check_conditions),
        field("skip_outliers", &S::skip_outliers, {.help = "Choose no row of the pool that looks like an error"}),
    };
    std::vector<Field<S>> of_fit;
    add_fields(of_fit, &S::fit);
    std::ranges::copy_if(of_fit, std::back_inserter(all), [](const Field<S>& field) { return field.name != "preset"; });
    return all;
  }();
  return list;
}

CampaignSettings changed_settings(const CampaignSettings& begun, const Values& given) {
  CampaignSettings settings = begun;
  Values rest = given;
  if (const auto preset = rest.extract("preset"); preset && preset.mapped() != Value(begun.fit.preset)) {
    const CampaignSettings usual = campaign_preset(begun.fit.preset);
    find_field<CampaignSettings>("preset")->set(settings, preset.mapped());
    for (const Field<CampaignSettings>& field : fields<CampaignSettings>()) {
      if (field.name != "preset" && field.get(begun) != field.get(usual)) {
        field.set(settings, field.get(begun));
      }
    }
  }
  set_fields(settings, rest);
  return settings;
}

}  // namespace dissent
