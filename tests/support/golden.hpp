// Golden arrays for tests: `.npz` files in the folder that the environment variable DISSENT_GOLDEN_DIR names, their
// numbers widened to double. A test without the folder skips itself:
//     DISSENT_REQUIRE_GOLDEN();
//     const auto golden = dissent::test::Golden::open("spline_cubic.npz");
//     const auto& inputs = golden["inputs"];  // inputs.shape, inputs.data, inputs(n, k)
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "dissent/array/npz.hpp"

// For the body of a test: skips it where the golden folder is not given.
#define DISSENT_REQUIRE_GOLDEN()                                            \
  do {                                                                      \
    if (dissent::test::golden_directory().empty()) {                        \
      GTEST_SKIP() << "DISSENT_GOLDEN_DIR does not name the golden folder"; \
    }                                                                       \
  } while (false)

namespace dissent::test {

struct GoldenArray {
  std::vector<std::size_t> shape;  // empty for a scalar
  std::vector<double> data;        // row-major

  std::size_t size() const { return data.size(); }
  double scalar() const { return data.at(0); }

  // Element at (i, j, ...), one index per dimension.
  template <class... Index>
  double operator()(Index... index) const {
    if (sizeof...(index) != shape.size()) {
      throw std::out_of_range("GoldenArray: as many indices as dimensions are needed");
    }
    std::size_t offset = 0;
    std::size_t axis = 0;
    ((offset = offset * shape.at(axis++) + static_cast<std::size_t>(index)), ...);
    return data.at(offset);
  }

  // The contiguous values at leading indices (i, ...), e.g. row(n) of a matrix.
  template <class... Index>
  std::vector<double> row(Index... index) const {
    std::size_t offset = 0;
    std::size_t axis = 0;
    ((offset = offset * shape.at(axis++) + static_cast<std::size_t>(index)), ...);
    std::size_t length = 1;
    for (std::size_t rest = axis; rest < shape.size(); ++rest) {
      length *= shape[rest];
    }
    return {data.begin() + static_cast<std::ptrdiff_t>(offset * length),
            data.begin() + static_cast<std::ptrdiff_t>((offset + 1) * length)};
  }

  // A copy in another precision; float32 values come back exactly.
  template <class T>
  std::vector<T> as() const {
    return std::vector<T>(data.begin(), data.end());
  }
};

inline std::string golden_directory() {
  const char* directory = std::getenv("DISSENT_GOLDEN_DIR");
  return directory == nullptr ? std::string() : std::string(directory);
}

class Golden {
 public:
  // An array is read when it is first asked for; InputError when the file or the array is missing or damaged.
  static Golden open(const std::string& file) { return Golden(golden_directory() + "/" + file); }

  bool contains(const std::string& name) const { return file_.contains(name); }

  const GoldenArray& operator[](const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found != arrays_.end()) {
      return found->second;
    }
    const Array array = file_.load(name);
    return arrays_.emplace(name, GoldenArray{array.shape(), array.to<double>()}).first->second;
  }

 private:
  explicit Golden(const std::string& path) : file_(path) {}

  NpzFile file_;
  mutable std::map<std::string, GoldenArray> arrays_;
};

}  // namespace dissent::test
