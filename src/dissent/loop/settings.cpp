#include "dissent/loop/settings.hpp"

#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/ensemble/model_kind.hpp"

namespace dissent {
namespace {

constexpr double kMostRows = 1e9;

// A number is taken as well as its text.
Field<CampaignSettings> candidates_field() {
  using S = CampaignSettings;
  Field<S> result{
      {"candidates",
       FieldType::kText,
       true,
       {.help = "Rows drawn from the pool to choose among, or 'all'; by default what suits the method", .shown = "N"}},
      {},
      {}};
  result.get = [](const S& from) {
    const bool given = !std::holds_alternative<MethodDefault>(from.candidates);
    return given ? Value(candidates_text(from.candidates)) : Value();
  };
  result.set = [](S& to, const Value& value) { to.candidates = parse_candidates(to_text(value)); };
  return result;
}

}  // namespace

Candidates parse_candidates(std::string_view text) {
  if (text.empty()) {
    return MethodDefault();
  }
  if (text == "all") {
    return All();
  }
  const std::size_t count = parse_whole(text).value_or(0);
  check_argument(count >= 1, "candidates", text, "it must be a whole number >= 1, or 'all'");
  return count;
}

std::string candidates_text(const Candidates& candidates) {
  const auto* count = std::get_if<std::size_t>(&candidates);
  return count != nullptr ? std::to_string(*count) : std::holds_alternative<All>(candidates) ? "all" : "";
}

void check_candidates(const Candidates& candidates, std::size_t batch) {
  if (const auto* count = std::get_if<std::size_t>(&candidates)) {
    check_argument(*count >= batch, "candidates", *count,
                   "fewer than the `batch` of {} that is chosen among them; give at least as many, or 'all'", batch);
  }
}

std::size_t num_candidates(const Candidates& candidates, const Acquisition& acquisition, std::size_t num_outputs,
                           std::size_t num_rows) {
  if (const auto* count = std::get_if<std::size_t>(&candidates)) {
    return *count;
  }
  if (std::holds_alternative<All>(candidates)) {
    return num_rows;
  }
  const std::size_t usual = acquisition.default_candidates(num_outputs);  // 0: all
  return usual == 0 ? num_rows : usual;
}

void CampaignSettings::check_values() const {
  fit.check_values();
  const Model model = fit.ensemble.model;
  acquisition.check_model({fit.ensemble.components(), model == Model::kAuto || model_kind(model).has_network});
}

template <>
std::span<const Field<CampaignSettings>> fields() {
  using S = CampaignSettings;
  static const std::vector<Field<S>> list = [] {
    std::vector<Field<S>> all{
        named_field<S, Acquisition>(
            "acquisition", &S::acquisition, [](const Acquisition& method) { return method.text(); },
            [](const std::string& text) { return Acquisition::parse(text); },
            {.help = "How rows are chosen", .shown = "NAME", .short_name = "a"}),
        field("batch", &S::batch,
              {.help = "Rows to choose at a time", .shown = "B", .short_name = "b", .least = 1, .most = kMostRows}),
        candidates_field(),
    };
    add_fields(all, &S::fit);
    return all;
  }();
  return list;
}

CampaignSettings changed_settings(const CampaignSettings& begun, const Values& given) {
  CampaignSettings settings = begun;
  Values rest = given;
  if (const auto preset = rest.extract("preset"); preset && preset.mapped() != Value(begun.fit.preset)) {
    const FitOptions usual = fit_preset(begun.fit.preset);
    find_field<FitOptions>("preset")->set(settings.fit, preset.mapped());
    for (const Field<FitOptions>& field : fields<FitOptions>()) {
      if (field.name != "preset" && field.get(begun.fit) != field.get(usual)) {
        field.set(settings.fit, field.get(begun.fit));
      }
    }
  }
  set_fields(settings, rest);
  return settings;
}

}  // namespace dissent
