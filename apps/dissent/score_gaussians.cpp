// Gaussians for `dissent score`: the estimators of the registry on a mixture in a file.
#include <algorithm>
#include <utility>

#include "dissent/base/names.hpp"
#include "dissent/mixture/mixture_file.hpp"
#include "score_source.hpp"
#include "score_weights.hpp"

namespace dissent::cli {
namespace {

Estimator parse_name(const std::string& text, const ScoreOptions& options) {
  if (text == "refine" && options.top) {
    return parse_estimator(fmt::format("refine:{}", *options.top));
  }
  check(text != "refine",
        "--estimator: 'refine' needs the number of inputs to rank: write 'refine:10' or add --top 10");
  std::vector<std::string> known;
  for (const EstimatorInfo& info : estimators()) {
    known.push_back(info.name);
  }
  const std::string stem = text.substr(0, text.find(':'));
  check(std::ranges::find(known, stem) != known.end(),
        "--estimator: '{}' is not known{} ('dissent estimators' lists all)", text, did_you_mean(stem, known));
  return parse_estimator(text);
}

class GaussianSource : public ScoreSource {
 public:
  explicit GaussianSource(const ScoreOptions& options) : seed_(options.seed) {
    for (const std::string& text : options.estimators.empty() ? std::vector<std::string>{"kl"} : options.estimators) {
      const Estimator& estimator = estimators_.emplace_back(parse_name(text, options));
      const EstimatorInfo& info = *estimator.info;
      methods_.push_back({estimator.name(), info.bound, info.extras, info.ranks_inputs});
    }
    file_.emplace(open_mixture(options.input, options.weights.empty()));
    if (!options.weights.empty()) {
      file_->weights = read_weights(options.weights, file_->num_components);
    }
    shape_ = {.num_inputs = file_->num_inputs,
              .num_components = file_->num_components,
              .num_outputs = file_->num_outputs,
              .full = file_->full,
              .space = file_->space,
              .weights = file_->weights};
    arrays_ = {file_->mean.source(), file_->spread.source()};
  }

  void run(Executor& executor, ScoreDevice* device, const Take& take) override {
    if (file_->single_precision()) {
      run_chunks<float>(executor, device, take);
    } else {
      run_chunks<double>(executor, device, take);
    }
  }

 private:
  // An estimator that ranks inputs needs all of them.
  std::size_t inputs_at_a_time() const {
    if (std::ranges::any_of(estimators_, [](const Estimator& e) { return e.info->ranks_inputs; })) {
      return std::max<std::size_t>(1, file_->num_inputs);
    }
    return chunk_size(file_->bytes_per_input(),
                      std::ranges::any_of(estimators_, [](const Estimator& e) { return !e.info->by_pairs; }));
  }

  template <class T>
  void run_chunks(Executor& executor, ScoreDevice* device, const Take& take) {
    MixtureReader<T> reader(*file_);
    const std::size_t step = inputs_at_a_time();
    for (std::size_t begin = 0; begin < file_->num_inputs;) {
      const std::size_t end = begin + std::min(step, file_->num_inputs - begin);
      const MixtureView<T> chunk = reader.read(begin, end);
      std::vector<Uncertainty> results;
      try {
        for (const Estimator& estimator : estimators_) {
          results.push_back(estimate(estimator, chunk, {&executor, seed_, begin, device}));
        }
      } catch (const InputError&) {
        // With several threads the first error in time wins; this names the first in the file instead.
        reader.validate(chunk, begin);
        throw;
      }
      take(begin, results);
      reader.release(begin, end);
      begin = end;
    }
  }

  std::uint64_t seed_;
  std::vector<Estimator> estimators_;
  std::optional<MixtureFile> file_;
};

}  // namespace

std::unique_ptr<ScoreSource> gaussian_source(const ScoreOptions& options) {
  return std::make_unique<GaussianSource>(options);
}

}  // namespace dissent::cli
