#include "fit_options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "dissent/base/error.hpp"
#include "progress.hpp"

namespace dissent::cli {

void add_column_options(Command& command, ColumnOptions& options, Need need) {
  command.texts("-t,--targets", options.targets, {.help = "Columns to predict", .shown = "Y1,Y2"}, need);
  command.texts("-i,--inputs", options.inputs,
                {.help = "Columns to predict from; all others by default", .shown = "X1,X2"});
}

void add_fit_options(Command& command, FitOptions& options, Values& given) {
  command.fields(options, given, "Fit options");
}

Settings campaign_settings(const Values& given) {
  Settings settings;
  for (const Field<FitOptions>& field : fields<FitOptions>()) {
    const auto found = given.find(std::string(field.name));
    if (found != given.end()) {
      const std::string name = option_name(field, field.get(FitOptions()));
      check(FitSettings::has(name), "{} is for 'dissent fit'; a campaign does not keep it", name);
      settings[name] = field.type == FieldType::kSwitch ? "" : to_text(found->second);
    }
  }
  return settings;
}

std::string loss_text(const FitProgress& progress) {
  std::string text = fmt::format("epoch {}/{}, loss {:.3f}", progress.epoch, progress.epochs, progress.loss);
  return std::isnan(progress.validation_loss) ? text
                                              : text + fmt::format(", validation {:.3f}", progress.validation_loss);
}

void warn_diverged(const FitReport& report, const std::string& when) {
  if (!report.diverged.empty()) {
    fmt::print(stderr,
               "{}the loss of component{} {} diverged; the best parameters before that were kept; try a smaller "
               "--learning-rate\n",
               when, report.diverged.size() == 1 ? "" : "s", fmt::join(report.diverged, ", "));
  }
}

std::function<bool(const FitProgress&)> fit_bar(bool quiet) {
  return [bar = std::make_shared<std::optional<Progress>>(), quiet](const FitProgress& state) {
    if (!*bar) {
      bar->emplace("fit", state.epochs, quiet);
    }
    (*bar)->update(state.epoch, loss_text(state));
    return true;
  };
}

}  // namespace dissent::cli
