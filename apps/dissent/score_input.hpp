// What `dissent score` reads: mean [N, M, D] with stddev [N, M, D] or covariance [N, M, D, D], as an NPZ archive or as
// two NPY files "MEAN.npy,STDDEV.npy". With one output the last axis of mean and stddev may be left out: [N, M].
// Arrays stay on disk and are read a few inputs at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/mixture/mixture.hpp"
#include "dissent/array/npy.hpp"

namespace dissent::cli {

struct ScoreInput {
  NpyFile mean;
  NpyFile spread;  // stddev or covariance
  bool full = false;
  std::size_t num_inputs = 0;
  std::size_t num_components = 0;
  std::size_t num_outputs = 0;
  std::vector<double> weights;  // of the archive; empty if it has none
  std::string weights_source;

  // Values are computed in float32 where both arrays are; anything else goes through float64.
  bool single_precision() const { return mean.dtype() == DType::kFloat32 && spread.dtype() == DType::kFloat32; }
  std::size_t bytes_per_input() const {
    return mean.row_size() * item_size(mean.dtype()) + spread.row_size() * item_size(spread.dtype());
  }
};

// InputError names the file, the array and the rule.
ScoreInput open_score_input(const std::string& input);

// The inputs [begin, end) as a mixture; valid while the reader lives and until the next call.
template <class T>
class MixtureReader {
 public:
  explicit MixtureReader(const ScoreInput& input) : input_(input) {}

  MixtureView<T> read(std::size_t begin, std::size_t end);
  void release(std::size_t begin, std::size_t end) const;

 private:
  const ScoreInput& input_;
  std::vector<T> mean_;
  std::vector<T> spread_;
};

// The error of the library ("mixture: stddev[17, 2, 0] = 0 is not positive; ...") under the name of the file it is in.
InputError in_file(const ScoreInput& input, const InputError& error);

// "0.5,0.3,0.2", or a .npy or .csv file with one column.
std::vector<double> parse_weights(const std::string& text);

// Weights::from, with errors under the name of where they came from.
Weights checked_weights(const std::vector<double>& given, std::size_t num_components, const std::string& source);

extern template class MixtureReader<float>;
extern template class MixtureReader<double>;

}  // namespace dissent::cli
