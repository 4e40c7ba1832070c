// Golden arrays for tests: reads `.npz` files (zip archives of `.npy`, as numpy writes them) from the folder that the
// environment variable DISSENT_GOLDEN_DIR names. Row-major arrays of float32, float64, int64, uint8 and bool are read
// and widened to double; fixed-width text ('<U..') is read as strings. A test without the folder skips itself:
//     DISSENT_REQUIRE_GOLDEN();
//     const auto golden = dissent::test::Golden::open("spline_cubic.npz");
//     const auto& inputs = golden["inputs"];  // inputs.shape, inputs.data, inputs(n, k)
#pragma once

#include <gtest/gtest.h>
#include <zip.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

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
  std::vector<double> data;        // row-major; empty for text
  std::vector<std::string> text;   // one entry per element; empty for numbers

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

namespace golden_detail {

template <class T>
std::vector<double> widen(const char* bytes, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t k = 0; k < count; ++k) {
    T value;
    std::memcpy(&value, bytes + k * sizeof(T), sizeof(T));
    values[k] = static_cast<double>(value);
  }
  return values;
}

// The text after `key` in the header's Python dictionary, up to one of the characters in `ends`.
inline std::string header_field(const std::string& header, const std::string& key, const char* ends) {
  const std::size_t begin = header.find(key);
  if (begin == std::string::npos) {
    throw std::runtime_error("npy: header lacks " + key);
  }
  const std::size_t value = begin + key.size();
  return header.substr(value, header.find_first_of(ends, value) - value);
}

// numpy's '<U' text: `width` code points of four bytes, padded with zeros. Only ASCII occurs.
inline std::vector<std::string> read_text(const char* bytes, std::size_t count, std::size_t width) {
  std::vector<std::string> text(count);
  for (std::size_t k = 0; k < count * width; ++k) {
    if (bytes[4 * k] != '\0') {
      text[k / width].push_back(bytes[4 * k]);
    }
  }
  return text;
}

inline GoldenArray parse_npy(const std::string& bytes) {
  if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0) {
    throw std::runtime_error("npy: not an array");
  }
  const bool first_version = bytes[6] == 1;
  std::uint32_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + 8, first_version ? 2 : 4);
  const std::size_t header_begin = first_version ? 10 : 12;
  const std::string header = bytes.substr(header_begin, header_size);
  if (header.find("'fortran_order': False") == std::string::npos) {
    throw std::runtime_error("npy: only row-major arrays are read");
  }
  GoldenArray array;
  const std::string shape = header_field(header, "'shape': (", ")");
  std::size_t count = 1;
  for (std::size_t at = 0; at < shape.size();) {
    const std::size_t digits = shape.find_first_of("0123456789", at);
    if (digits == std::string::npos) {
      break;
    }
    std::size_t used = 0;
    array.shape.push_back(std::stoul(shape.substr(digits), &used));
    count *= array.shape.back();
    at = digits + used;
  }
  const std::string type = header_field(header, "'descr': '", "'");
  const bool is_text = type.rfind("<U", 0) == 0;
  const std::size_t width = is_text ? std::stoul(type.substr(2)) : 0;
  const std::size_t item_size = is_text ? 4 * width : std::stoul(type.substr(2));
  if (bytes.size() < header_begin + header_size + count * item_size) {
    throw std::runtime_error("npy: data is cut short");
  }
  const char* values = bytes.data() + header_begin + header_size;
  if (type == "<f4") {
    array.data = widen<float>(values, count);
  } else if (type == "<f8") {
    array.data = widen<double>(values, count);
  } else if (type == "<i8") {
    array.data = widen<std::int64_t>(values, count);
  } else if (type == "|b1" || type == "|u1") {
    array.data = widen<std::uint8_t>(values, count);
  } else if (is_text) {
    array.text = read_text(values, count, width);
  } else {
    throw std::runtime_error("npy: type " + type + " is not read");
  }
  return array;
}

}  // namespace golden_detail

class Golden {
 public:
  // Reads every array of the archive; throws std::runtime_error when it is missing or damaged.
  static Golden open(const std::string& file) {
    const std::string path = golden_directory() + "/" + file;
    int error = 0;
    const std::unique_ptr<zip_t, int (*)(zip_t*)> archive(zip_open(path.c_str(), ZIP_RDONLY, &error), zip_close);
    if (!archive) {
      throw std::runtime_error("golden: cannot open " + path);
    }
    Golden golden;
    const zip_int64_t num_entries = zip_get_num_entries(archive.get(), 0);
    for (zip_int64_t entry = 0; entry < num_entries; ++entry) {
      zip_stat_t stat;
      if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(entry), 0, &stat) != 0) {
        throw std::runtime_error("golden: damaged entry in " + path);
      }
      const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> member(
          zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(entry), 0), zip_fclose);
      std::string bytes(stat.size, '\0');
      if (!member || zip_fread(member.get(), bytes.data(), stat.size) != static_cast<zip_int64_t>(stat.size)) {
        throw std::runtime_error("golden: damaged entry " + std::string(stat.name) + " in " + path);
      }
      std::string name = stat.name;
      name.resize(name.size() - 4);  // ".npy"
      golden.arrays_[name] = golden_detail::parse_npy(bytes);
    }
    return golden;
  }

  bool contains(const std::string& name) const { return arrays_.contains(name); }

  const GoldenArray& operator[](const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) {
      throw std::runtime_error("golden: no array named " + name);
    }
    return found->second;
  }

 private:
  std::map<std::string, GoldenArray> arrays_;
};

}  // namespace dissent::test
