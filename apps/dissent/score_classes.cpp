// A classifier's probabilities for `dissent score`: BALD exactly, and the pairwise forms.
#include <algorithm>

#include "dissent/estimator/categorical.hpp"
#include "dissent/mixture/class_file.hpp"
#include "score_source.hpp"
#include "score_weights.hpp"

namespace dissent::cli {
namespace {

ClassEstimator parse_class_estimator(const std::string& text) {
  try {
    return ClassEstimator::parse(text);
  } catch (const InputError& error) {
    fail("--estimator: {}", error.what());
  }
}

class ClassSource : public ScoreSource {
 public:
  explicit ClassSource(const ScoreOptions& options) : file_(open_classes(options.input, options.weights.empty())) {
    for (const std::string& text :
         options.estimators.empty() ? std::vector<std::string>{"exact"} : options.estimators) {
      const ClassEstimator& estimator = estimators_.emplace_back(parse_class_estimator(text));
      methods_.push_back({.name = estimator.name(), .bound = estimator.bound()});
    }
    if (!options.weights.empty()) {
      file_.weights = read_weights(options.weights, file_.num_components);
    }
    shape_ = {.num_inputs = file_.num_inputs,
              .num_components = file_.num_components,
              .num_classes = file_.num_classes,
              .weights = file_.weights};
    arrays_ = {file_.probabilities.source()};
  }

  void run(Executor& executor, ScoreDevice*, const Take& take) override {
    ClassReader reader(file_);
    const std::size_t step = chunk_size(file_.bytes_per_input(), false);
    for (std::size_t begin = 0; begin < file_.num_inputs;) {
      const std::size_t end = begin + std::min(step, file_.num_inputs - begin);
      const CategoricalView chunk = reader.read(begin, end);
      std::vector<Uncertainty> results;
      for (const ClassEstimator& estimator : estimators_) {
        results.push_back(estimate(estimator, chunk, {.executor = &executor}));
      }
      take(begin, results);
      reader.release(begin, end);
      begin = end;
    }
  }

 private:
  ClassFile file_;
  std::vector<ClassEstimator> estimators_;
};

}  // namespace

std::unique_ptr<ScoreSource> class_source(const ScoreOptions& options) {
  return std::make_unique<ClassSource>(options);
}

}  // namespace dissent::cli
