// Arbitrary bytes as a model file: what loads must predict.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/ensemble/ensemble.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dissent;
  try {
    const Ensemble model = Ensemble::parse({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    const Mixture<double> mixture = model.predict(std::vector<double>(model.num_input_columns(), 0.5));
    if (mixture.mean.size() != model.num_components() * model.num_outputs()) {
      std::abort();
    }
  } catch (const InputError&) {
  }
  return 0;
}
