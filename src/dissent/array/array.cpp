#include "dissent/array/array.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little endian and are read without swapping");
static_assert(sizeof(bool) == 1);

struct DTypeFacts {
  std::string_view name;
  std::string_view descr;
  std::size_t size;
};

// In the order of DType.
constexpr std::array<DTypeFacts, 11> kFacts{{{"float32", "<f4", 4},
                                             {"float64", "<f8", 8},
                                             {"int8", "|i1", 1},
                                             {"int16", "<i2", 2},
                                             {"int32", "<i4", 4},
                                             {"int64", "<i8", 8},
                                             {"uint8", "|u1", 1},
                                             {"uint16", "<u2", 2},
                                             {"uint32", "<u4", 4},
                                             {"uint64", "<u8", 8},
                                             {"bool", "|b1", 1}}};

const DTypeFacts& facts(DType dtype) { return kFacts[static_cast<std::size_t>(dtype)]; }

// Calls body with a value of the C++ type that `dtype` stands for.
template <class Body>
decltype(auto) visit_dtype(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kFloat32:
      return body(float{});
    case DType::kFloat64:
      return body(double{});
    case DType::kInt8:
      return body(std::int8_t{});
    case DType::kInt16:
      return body(std::int16_t{});
    case DType::kInt32:
      return body(std::int32_t{});
    case DType::kInt64:
      return body(std::int64_t{});
    case DType::kUint8:
      return body(std::uint8_t{});
    case DType::kUint16:
      return body(std::uint16_t{});
    case DType::kUint32:
      return body(std::uint32_t{});
    case DType::kUint64:
      return body(std::uint64_t{});
    case DType::kBool:
      break;
  }
  return body(bool{});
}

// At any alignment. A bool is true for any byte but 0, as in numpy; reading a byte other than 0 or 1 as a C++ bool
// would be undefined.
template <class From>
From load_item(const std::byte* at) {
  if constexpr (std::is_same_v<From, bool>) {
    return *at != std::byte{0};
  } else {
    From value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
}

}  // namespace

std::string_view dtype_name(DType dtype) { return facts(dtype).name; }
std::string_view dtype_descr(DType dtype) { return facts(dtype).descr; }
std::size_t item_size(DType dtype) { return facts(dtype).size; }

std::size_t num_elements(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    count *= extent;
  }
  return count;
}

std::string shape_text(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::shared_ptr<std::byte[]> allocate_bytes(std::size_t count, const std::string& source) {
  try {
    return std::shared_ptr<std::byte[]>(new std::byte[count]);
  } catch (const std::bad_alloc&) {
    fail_system("{}: out of memory: {} bytes are needed", source, count);
  }
}

template <class T>
std::size_t convert_items(DType dtype, const std::byte* items, std::size_t count, T* out, std::size_t out_stride) {
  return visit_dtype(dtype, [&](auto zero) {
    using From = decltype(zero);
    for (std::size_t k = 0; k < count; ++k) {
      const From value = load_item<From>(items + k * sizeof(From));
      if constexpr (sizeof(From) > sizeof(T) && std::is_floating_point_v<From>) {
        // Half an ulp above the largest float is where rounding to nearest turns into infinity.
        if (std::isfinite(value) && std::abs(value) >= 0x1.ffffffp127) [[unlikely]] {
          return k;
        }
      }
      out[k * out_stride] = static_cast<T>(value);
    }
    return count;
  });
}

ArrayView::ArrayView(DType dtype, Shape shape, std::span<const std::byte> bytes)
    : dtype_(dtype), shape_(std::move(shape)), bytes_(bytes) {
  check(num_elements(shape_) * item_size(dtype_) == bytes_.size(),
        "ArrayView: {} values do not fill shape {}; their number must be the product of the shape",
        bytes_.size() / item_size(dtype_), shape_text(shape_));
}

Array::Array(DType dtype, Shape shape, std::shared_ptr<const void> owner, const std::byte* data, std::string source)
    : dtype_(dtype),
      shape_(std::move(shape)),
      size_(num_elements(shape_)),
      owner_(std::move(owner)),
      data_(data),
      source_(std::move(source)) {}

void Array::require_dtype(DType wanted) const {
  check_in(source_, dtype_ == wanted, "holds {}, not {}; convert it with to<T>()", dtype_name(dtype_),
           dtype_name(wanted));
}

template <class T>
std::vector<T> Array::to() const {
  std::vector<T> out(size_);
  const std::size_t done = convert_items(dtype_, data_, size_, out.data());
  check_in(source_, done == size_, "element {} of shape {} is too large for {}", done, shape_text(shape_),
           dtype_name(dtype_of<T>()));
  return out;
}

template std::vector<float> Array::to<float>() const;
template std::vector<double> Array::to<double>() const;
template std::size_t convert_items(DType, const std::byte*, std::size_t, float*, std::size_t);
template std::size_t convert_items(DType, const std::byte*, std::size_t, double*, std::size_t);

}  // namespace dissent
