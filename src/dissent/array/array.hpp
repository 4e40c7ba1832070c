// Array: an immutable n-dimensional array of numbers, as read from a file.
//
// C order (row-major), contiguous, aligned for its type, little endian. The bytes are shared: owned memory or a mapped
// file that stays mapped as long as any copy of the Array lives, so copies are cheap and arrays larger than memory
// work. A shape without dimensions is a scalar (one element); a dimension of 0 is legal and means no elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

enum class DType { kFloat32, kFloat64, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64, kBool };

std::string_view dtype_name(DType dtype);   // as numpy writes it: "float32"
std::string_view dtype_descr(DType dtype);  // as an NPY header writes it: "<f4"
std::size_t item_size(DType dtype);         // bytes per element

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::kFloat32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::kFloat64;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::kInt64;
}

using Shape = std::vector<std::size_t>;

std::size_t num_elements(const Shape& shape);
std::string shape_text(const Shape& shape);  // "(3, 4)", "(3,)", "()"

// An array to write: float32, float64 or int64 values in C order, not owned.
class ArrayView {
 public:
  // InputError when the number of values is not the product of the shape.
  template <class T>
  ArrayView(std::span<const T> values, Shape shape)
      : ArrayView(dtype_of<T>(), std::move(shape), std::as_bytes(values)) {}
  template <class T>
  explicit ArrayView(const std::vector<T>& values) : ArrayView(std::span<const T>(values), {values.size()}) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  ArrayView(DType dtype, Shape shape, std::span<const std::byte> bytes);

  DType dtype_;
  Shape shape_;
  std::span<const std::byte> bytes_;
};

class Array {
 public:
  // `data` points at num_elements(shape) items, aligned for dtype, kept alive by `owner`. `source` names them in
  // errors.
  Array(DType dtype, Shape shape, std::shared_ptr<const void> owner, const std::byte* data, std::string source);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::size_t size() const { return size_; }
  const std::string& source() const { return source_; }
  std::span<const std::byte> bytes() const { return {data_, size_ * item_size(dtype_)}; }

  // The values in place, without a copy; only for the array's own type (InputError otherwise).
  template <class T>
  std::span<const T> values() const {
    require_dtype(dtype_of<T>());
    return {reinterpret_cast<const T*>(data_), size_};
  }

  // The values as float or double: each is rounded to the nearest number of the new type (integers beyond 2^24 or 2^53
  // lose low bits, tiny values become 0), bool gives 0 or 1. A finite value too large for float is an InputError.
  template <class T>
  std::vector<T> to() const;

 private:
  void require_dtype(DType wanted) const;

  DType dtype_;
  Shape shape_;
  std::size_t size_;
  std::shared_ptr<const void> owner_;
  const std::byte* data_;
  std::string source_;
};

// Memory for items of any type, not initialised. SystemError, naming `source`, when memory runs out.
std::shared_ptr<std::byte[]> allocate_bytes(std::size_t count, const std::string& source);

// Converts `count` items, at any alignment, to out[0], out[out_stride], ... by the rule of Array::to. Returns how many
// were converted: fewer than `count` if the next item is finite but too large for T.
template <class T>
std::size_t convert_items(DType dtype, const std::byte* items, std::size_t count, T* out, std::size_t out_stride = 1);

extern template std::vector<float> Array::to<float>() const;
extern template std::vector<double> Array::to<double>() const;
extern template std::size_t convert_items(DType, const std::byte*, std::size_t, float*, std::size_t);
extern template std::size_t convert_items(DType, const std::byte*, std::size_t, double*, std::size_t);

}  // namespace dissent
