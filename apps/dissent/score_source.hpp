// What `dissent score` reads: Gaussians, or a classifier's probabilities. Either is scored a chunk of inputs at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/mixture/mixture.hpp"
#include "score_rows.hpp"

namespace dissent {
class ScoreDevice;
}

namespace dissent::cli {

struct ScoreOptions {
  std::string input;
  std::vector<std::string> estimators = {};  // empty: kl, or exact for classes
  std::string weights = {};
  std::optional<std::size_t> top = {};
  std::string output = {};
  int threads = 0;
  std::string device = "cpu";
  std::uint64_t seed = 0;
  bool json = false;
  bool quiet = false;
};

struct ScoreShape {
  std::size_t num_inputs = 0;
  std::size_t num_components = 0;
  std::size_t num_outputs = 0;  // of Gaussians
  std::size_t num_classes = 0;  // of a classifier; else 0
  bool full = false;            // covariances
  Space space = Space::kOutput;
  Weights weights = {};
};

class ScoreSource {
 public:
  // Takes the results of the inputs from `begin` on, one per method. Called in the order of the inputs.
  using Take = std::function<void(std::size_t begin, const std::vector<Uncertainty>& results)>;

  virtual ~ScoreSource() = default;
  // A device, if not null, runs what it has kernels for.
  virtual void run(Executor& executor, ScoreDevice* device, const Take& take) = 0;

  const ScoreShape& shape() const { return shape_; }
  const std::vector<ScoreMethod>& methods() const { return methods_; }
  const std::vector<std::string>& arrays() const { return arrays_; }  // "FILE.npz[mean]", ...

 protected:
  ScoreShape shape_ = {};
  std::vector<ScoreMethod> methods_ = {};
  std::vector<std::string> arrays_ = {};
};

// The source for what the input holds. InputError for options that do not suit it.
std::unique_ptr<ScoreSource> gaussian_source(const ScoreOptions& options);
std::unique_ptr<ScoreSource> class_source(const ScoreOptions& options);

// The number of inputs in a chunk: as many as fit, a multiple of what estimators take at a time.
std::size_t chunk_size(std::size_t bytes_per_input, bool slow);

}  // namespace dissent::cli
