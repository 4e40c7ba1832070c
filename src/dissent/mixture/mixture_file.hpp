// Mixtures on disk: mean [N, M, D] with stddev [N, M, D] or covariance [N, M, D, D], as an NPZ archive or as two NPY
// files "MEAN.npy,STDDEV.npy". With one output the last axis of mean and stddev may be left out: [N, M]. Arrays stay on
// disk and are read a few inputs at a time.
//
// An archive may have two more arrays. weights [M]; uniform if absent. base_space, one number or truth value: if it is
// not 0, means and spreads are in a flow's base space and not in the user's units, so only the epistemic uncertainty
// means anything. numpy.savez(..., base_space=True) writes one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dissent/array/npy.hpp"
#include "dissent/array/npz.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

struct MixtureFile {
  NpyFile mean;
  NpyFile spread;  // stddev or covariance
  bool full = false;
  std::size_t num_inputs = 0;
  std::size_t num_components = 0;
  std::size_t num_outputs = 0;
  Weights weights = {};  // uniform if the file has none
  Space space = Space::kOutput;

  // Values are computed in float32 if both arrays are; anything else goes through float64.
  bool single_precision() const { return mean.dtype() == DType::kFloat32 && spread.dtype() == DType::kFloat32; }
  std::size_t bytes_per_input() const {
    return mean.row_size() * item_size(mean.dtype()) + spread.row_size() * item_size(spread.dtype());
  }
};

// InputError names the file, the array and the rule. `input` is the archive's name, or "MEAN.npy,STDDEV.npy".
// with_weights = false ignores the file's weights, for a caller that has others.
MixtureFile open_mixture(const std::string& input, bool with_weights = true);

// The array `weights` [M] of an archive; uniform if it has none.
Weights archive_weights(const NpzFile& file, std::size_t num_components);

// An archive that open_mixture() reads: the same values, weights and space.
void write_mixture(const std::string& path, const Mixture<double>& mixture);

// Reads inputs of the file, which must outlive it.
template <class T>
class MixtureReader {
 public:
  explicit MixtureReader(const MixtureFile& file) : file_(file) {}

  // The inputs [begin, end) as a mixture; valid while the reader lives and until the next call.
  MixtureView<T> read(std::size_t begin, std::size_t end);
  // Gives their memory back.
  void release(std::size_t begin, std::size_t end) const;

  // validate() of what read(begin, ...) gave; the error names the array on disk.
  void validate(const MixtureView<T>& part, std::size_t begin) const;

 private:
  const MixtureFile& file_;
  std::vector<T> mean_;
  std::vector<T> spread_;
};

extern template class MixtureReader<float>;
extern template class MixtureReader<double>;

}  // namespace dissent
