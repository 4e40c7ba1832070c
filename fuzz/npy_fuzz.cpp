// Arbitrary bytes as an NPY file. What parses must read the same as a whole and row by row.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "dissent/array/npy.hpp"
#include "dissent/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dissent;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    const NpyFile file(parse_npy_header(bytes, size, "fuzz"), nullptr, bytes.data(), nullptr, "fuzz");
    const std::vector<double> whole = parse_npy(bytes, "fuzz").to<double>();
    std::vector<double> buffer;
    std::size_t at = 0;
    // A header may claim 2^60 rows of nothing; going over those one by one would prove nothing.
    for (std::size_t row = 0; row < file.num_rows() && file.row_size() > 0; ++row) {
      const double* values = file.rows(row, row + 1, buffer);
      for (std::size_t k = 0; k < file.row_size(); ++k, ++at) {
        if (!(values[k] == whole[at] || (std::isnan(values[k]) && std::isnan(whole[at])))) {
          std::abort();
        }
      }
      file.release(row, row + 1);
    }
    if (at != whole.size()) {
      std::abort();
    }
    std::vector<float> narrow;
    file.rows(0, file.num_rows(), narrow);
  } catch (const InputError&) {
  }
  return 0;
}
