// NPY, numpy's file format for one array: versions 1.0, 2.0 and 3.0 are read, 1.0 is written.
//
// Layout: "\x93NUMPY", version (2 bytes), header length (2 or 4 bytes), an ASCII Python dict such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, then the items. Reads bool, signed and unsigned integers
// of 8 to 64 bits, float32 and float64, little endian, in C or Fortran order. Nothing in the header is trusted until it
// agrees with the number of bytes that really follow. A broken rule is an InputError that names the file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/array/array.hpp"
#include "dissent/base/file.hpp"

namespace dissent {

struct NpyHeader {
  DType dtype = DType::kFloat64;
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;  // of the first item, from the start of the file
};

// A longer header is refused; numpy's own limit for safe reading is 10,000 bytes.
inline constexpr std::size_t kMaxNpyHeaderBytes = std::size_t{1} << 20;

// `start` holds the first bytes of a file of `total_bytes`: all of them, or at least kMaxNpyHeaderBytes.
NpyHeader parse_npy_header(std::span<const std::byte> start, std::uint64_t total_bytes, const std::string& source);

// All bytes before the first item, as numpy.save writes them; a multiple of 64 long.
std::string format_npy_header(DType dtype, const Shape& shape);

// The whole array in C order. A file's items are mapped, not copied, if order and alignment allow it.
Array read_npy(const std::string& path);
Array parse_npy(std::span<const std::byte> bytes, const std::string& source);

void write_npy(const std::string& path, const ArrayView& array);

// An array on disk, read a few rows (entries along axis 0) at a time, so that its length does not matter:
//
//     NpyFile file("mean.npy");
//     std::vector<float> buffer;
//     for (std::size_t begin = 0; begin < file.num_rows(); begin += 1024) {
//       const std::size_t end = std::min(begin + 1024, file.num_rows());
//       const float* rows = file.rows<float>(begin, end, buffer);
//       ...
//       file.release(begin, end);
//     }
//
// A scalar counts as one row. Copies share the mapping. Reading from several threads is safe with a buffer each.
class NpyFile {
 public:
  explicit NpyFile(const std::string& path);

  // Items kept alive by `owner`, in the layout of `header`, data[0] being the first byte of the file. `file` is the
  // mapping that holds them, or null if they are in memory.
  NpyFile(NpyHeader header, std::shared_ptr<const void> owner, const std::byte* data,
          std::shared_ptr<const MappedFile> file, std::string source);

  DType dtype() const { return header_.dtype; }
  const Shape& shape() const { return header_.shape; }
  const std::string& source() const { return source_; }
  std::size_t num_rows() const { return num_rows_; }
  std::size_t row_size() const { return row_size_; }  // items per row

  // Rows [begin, end), row-major, as T = float or double: a pointer into the file when dtype, order and alignment allow
  // it, else into `buffer`, which is resized and filled by the rule of Array::to. Valid until `buffer` changes.
  template <class T>
  const T* rows(std::size_t begin, std::size_t end, std::vector<T>& buffer) const;

  // Gives the memory of rows already used back to the system. In Fortran order a row is scattered over the whole file,
  // so everything is given back.
  void release(std::size_t begin, std::size_t end) const;

  // All of it, in C order.
  Array load() const;

 private:
  bool is_c_order() const { return !header_.fortran_order; }
  const std::byte* items() const { return data_ + header_.data_offset; }

  NpyHeader header_;
  std::size_t num_rows_;
  std::size_t row_size_;
  std::shared_ptr<const void> owner_;
  const std::byte* data_;
  std::shared_ptr<const MappedFile> file_;
  std::string source_;
};

extern template const float* NpyFile::rows(std::size_t, std::size_t, std::vector<float>&) const;
extern template const double* NpyFile::rows(std::size_t, std::size_t, std::vector<double>&) const;

// Writes an array of known shape piece by piece, in C order; the file appears on commit(). InputError for more values
// than the shape holds, when they are written, and for fewer, on commit().
class NpyWriter {
 public:
  NpyWriter(const std::string& path, DType dtype, const Shape& shape);

  template <class T>
  void write(std::span<const T> values) {
    write_bytes(dtype_of<T>(), std::as_bytes(values));
  }
  void commit();

 private:
  void write_bytes(DType dtype, std::span<const std::byte> bytes);

  AtomicFile file_;
  DType dtype_;
  std::uint64_t final_size_;
};

}  // namespace dissent
