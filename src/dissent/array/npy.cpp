#include "dissent/array/npy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "dissent/base/check_in.hpp"

namespace dissent {
namespace {

// Walks the trailing indices (all axes but the first) of a Fortran-order array in C order. offset() is where their
// column along axis 0 begins in the file, counted in items.
class FortranColumns {
 public:
  explicit FortranColumns(const Shape& shape) : shape_(shape), strides_(shape.size()), index_(shape.size(), 0) {
    std::size_t stride = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      strides_[axis] = stride;
      stride *= shape[axis];
    }
  }

  std::size_t offset() const { return offset_; }

  void advance() {
    for (std::size_t axis = shape_.size(); axis-- > 1;) {
      offset_ += strides_[axis];
      if (++index_[axis] < shape_[axis]) {
        return;
      }
      offset_ -= index_[axis] * strides_[axis];
      index_[axis] = 0;
    }
  }

 private:
  const Shape& shape_;
  std::vector<std::size_t> strides_;
  std::vector<std::size_t> index_;
  std::size_t offset_ = 0;
};

// Rows are transposed this many at a time: their columns fill whole cache lines of the file, and the rows written to
// are few enough to stay in the first-level cache.
constexpr std::size_t kTransposeRows = 16;

// Calls body(first_row, num_rows, column, file_offset) for each piece of a column of each block of rows [begin, end).
template <class Body>
void for_fortran_pieces(const Shape& shape, std::size_t row_size, std::size_t begin, std::size_t end, Body&& body) {
  if (row_size == 0) {
    return;  // a header may claim 2^60 rows of nothing
  }
  for (std::size_t row = begin; row < end; row += kTransposeRows) {
    const std::size_t count = std::min(kTransposeRows, end - row);
    FortranColumns columns(shape);
    for (std::size_t column = 0; column < row_size; ++column, columns.advance()) {
      body(row, count, column, columns.offset() + row);
    }
  }
}

template <class Word>
void transpose_words(const Shape& shape, std::size_t num_rows, std::size_t row_size, const std::byte* from,
                     std::byte* to) {
  for_fortran_pieces(shape, row_size, 0, num_rows,
                     [&](std::size_t row, std::size_t count, std::size_t column, std::size_t offset) {
                       for (std::size_t k = 0; k < count; ++k) {
                         std::memcpy(to + ((row + k) * row_size + column) * sizeof(Word),
                                     from + (offset + k) * sizeof(Word), sizeof(Word));
                       }
                     });
}

void transpose(const NpyHeader& header, std::size_t num_rows, std::size_t row_size, const std::byte* from,
               std::byte* to) {
  switch (item_size(header.dtype)) {
    case 1:
      return transpose_words<std::uint8_t>(header.shape, num_rows, row_size, from, to);
    case 2:
      return transpose_words<std::uint16_t>(header.shape, num_rows, row_size, from, to);
    case 4:
      return transpose_words<std::uint32_t>(header.shape, num_rows, row_size, from, to);
    default:
      return transpose_words<std::uint64_t>(header.shape, num_rows, row_size, from, to);
  }
}

bool is_aligned(const std::byte* data, std::size_t size) { return reinterpret_cast<std::uintptr_t>(data) % size == 0; }

NpyFile map_npy(const std::string& path) {
  auto file = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  return NpyFile(parse_npy_header(bytes, bytes.size(), path), file, bytes.data(), file, path);
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : NpyFile(map_npy(path)) {}

NpyFile::NpyFile(NpyHeader header, std::shared_ptr<const void> owner, const std::byte* data,
                 std::shared_ptr<const MappedFile> file, std::string source)
    : header_(std::move(header)),
      num_rows_(header_.shape.empty() ? 1 : header_.shape[0]),
      row_size_(1),
      owner_(std::move(owner)),
      data_(data),
      file_(std::move(file)),
      source_(std::move(source)) {
  for (std::size_t axis = 1; axis < header_.shape.size(); ++axis) {
    row_size_ *= header_.shape[axis];
  }
  // With at most one axis both orders are the same bytes.
  header_.fortran_order = header_.fortran_order && header_.shape.size() > 1;
}

template <class T>
const T* NpyFile::rows(std::size_t begin, std::size_t end, std::vector<T>& buffer) const {
  check_in(source_, begin <= end && end <= num_rows_, "rows [{}, {}) are not within its {} rows", begin, end,
           num_rows_);
  const std::size_t size = item_size(header_.dtype);
  const std::byte* first = items() + begin * row_size_ * size;
  if (is_c_order() && header_.dtype == dtype_of<T>() && is_aligned(first, size)) {
    return reinterpret_cast<const T*>(first);
  }
  const std::size_t count = (end - begin) * row_size_;
  buffer.resize(count);
  const auto check_range = [&](std::size_t done, std::size_t wanted, std::size_t row) {
    check_in(source_, done == wanted, "row {} holds a value too large for {}", row, dtype_name(dtype_of<T>()));
  };
  if (is_c_order()) {
    const std::size_t done = convert_items(header_.dtype, first, count, buffer.data());
    check_range(done, count, begin + (row_size_ == 0 ? 0 : done / row_size_));
  } else {
    for_fortran_pieces(header_.shape, row_size_, begin, end,
                       [&](std::size_t row, std::size_t rows, std::size_t column, std::size_t offset) {
                         const std::size_t done =
                             convert_items(header_.dtype, items() + offset * size, rows,
                                           buffer.data() + (row - begin) * row_size_ + column, row_size_);
                         check_range(done, rows, row + done);
                       });
  }
  return buffer.data();
}

template const float* NpyFile::rows(std::size_t, std::size_t, std::vector<float>&) const;
template const double* NpyFile::rows(std::size_t, std::size_t, std::vector<double>&) const;

void NpyFile::release(std::size_t begin, std::size_t end) const {
  check_in(source_, begin <= end && end <= num_rows_, "rows [{}, {}) are not within its {} rows", begin, end,
           num_rows_);
  if (file_ == nullptr) {
    return;
  }
  if (!is_c_order()) {
    begin = 0;
    end = num_rows_;
  }
  const std::size_t row_bytes = row_size_ * item_size(header_.dtype);
  const std::size_t origin = static_cast<std::size_t>(items() - file_->bytes().data());
  file_->release(origin + begin * row_bytes, origin + end * row_bytes);
}

Array NpyFile::load() const {
  const std::size_t size = item_size(header_.dtype);
  if (is_c_order() && is_aligned(items(), size)) {
    return Array(header_.dtype, header_.shape, owner_, items(), source_);
  }
  const std::size_t num_bytes = num_rows_ * row_size_ * size;
  const std::shared_ptr<std::byte[]> copy = allocate_bytes(num_bytes, source_);
  if (is_c_order()) {
    std::copy_n(items(), num_bytes, copy.get());
  } else {
    transpose(header_, num_rows_, row_size_, items(), copy.get());
  }
  return Array(header_.dtype, header_.shape, copy, copy.get(), source_);
}

Array read_npy(const std::string& path) { return NpyFile(path).load(); }

Array parse_npy(std::span<const std::byte> bytes, const std::string& source) {
  NpyHeader header = parse_npy_header(bytes, bytes.size(), source);
  const std::shared_ptr<std::byte[]> copy = allocate_bytes(bytes.size(), source);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  return NpyFile(std::move(header), copy, copy.get(), nullptr, source).load();
}

NpyWriter::NpyWriter(const std::string& path, DType dtype, const Shape& shape) : file_(path), dtype_(dtype) {
  const std::string header = format_npy_header(dtype, shape);
  final_size_ = header.size() + num_elements(shape) * item_size(dtype);
  file_.write(header);
}

void NpyWriter::write_bytes(DType dtype, std::span<const std::byte> bytes) {
  check_in(file_.path(), dtype == dtype_, "values of {} do not fit into an array of {}", dtype_name(dtype),
           dtype_name(dtype_));
  check_in(file_.path(), file_.size() + bytes.size() <= final_size_, "more values were written than its shape holds");
  file_.write(bytes);
}

void NpyWriter::commit() {
  check_in(file_.path(), file_.size() == final_size_, "{} bytes of values are missing from its shape",
           final_size_ - file_.size());
  file_.commit();
}

void write_npy(const std::string& path, const ArrayView& array) {
  AtomicFile file(path);
  file.write(format_npy_header(array.dtype(), array.shape()));
  file.write(array.bytes());
  file.commit();
}

}  // namespace dissent
