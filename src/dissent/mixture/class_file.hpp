// A classifier's probabilities on disk: an NPZ archive with an array `probabilities` [N, M, K] of N inputs, M
// components and K classes, and perhaps weights [M]. They stay on disk and are read a few inputs at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dissent/array/npy.hpp"
#include "dissent/mixture/categorical.hpp"

namespace dissent {

struct ClassFile {
  NpyFile probabilities;
  std::size_t num_inputs = 0;
  std::size_t num_components = 0;
  std::size_t num_classes = 0;
  Weights weights = {};  // uniform if the file has none

  std::size_t bytes_per_input() const { return num_components * num_classes * sizeof(double); }  // in memory
};

// Whether `input`, as open_mixture() takes it, is an archive of probabilities and not of Gaussians.
bool has_classes(const std::string& input);

// InputError names the file, the array and the rule. with_weights as in open_mixture().
ClassFile open_classes(const std::string& path, bool with_weights = true);

// Reads inputs of the file, which must outlive it.
class ClassReader {
 public:
  explicit ClassReader(const ClassFile& file) : file_(file) {}

  // The inputs [begin, end), normalised; valid while the reader lives and until the next call. InputError for values
  // that are not probabilities.
  CategoricalView read(std::size_t begin, std::size_t end);
  // The inputs with these numbers, ascending.
  CategoricalView read(const std::vector<std::size_t>& inputs);
  // Gives their memory back.
  void release(std::size_t begin, std::size_t end) const { file_.probabilities.release(begin, end); }

 private:
  CategoricalView view() const;

  const ClassFile& file_;
  std::vector<double> own_;
  std::vector<double> buffer_;
};

}  // namespace dissent
