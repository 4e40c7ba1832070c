#include "dissent/acquisition/uncertainty.hpp"

namespace dissent {

Uncertainty uncertainty(const MixtureView<double>& mixture, const Summary& summary, const UncertaintyOptions& options) {
  Uncertainty result = estimate(options.estimator, mixture, options.estimate);
  if (options.aleatoric) {
    result.set_aleatoric(summary.aleatoric);
  } else {
    result.aleatoric.clear();
    result.total.clear();
  }
  return result;
}

Uncertainty uncertainty(const Ensemble& model, std::span<const double> inputs, const UncertaintyOptions& options) {
  const Mixture<double> mixture = model.predict(inputs, options.estimate.executor);
  Summary summary;
  if (options.aleatoric) {
    SummaryOptions wanted;
    wanted.executor = options.estimate.executor;
    summary = summarise(model, inputs, mixture, wanted);
  }
  return uncertainty(mixture.view(), summary, options);
}

}  // namespace dissent
