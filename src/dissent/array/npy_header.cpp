// The header of an NPY file: a Python dict literal, read by a parser that accepts only the values numpy writes there.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "dissent/array/npy.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMaxDimensions = 64;
constexpr std::string_view kMagic = "\x93NUMPY";

constexpr std::array kAllDTypes = {DType::kFloat32, DType::kFloat64, DType::kInt8,  DType::kInt16,
                                   DType::kInt32,   DType::kInt64,   DType::kUint8, DType::kUint16,
                                   DType::kUint32,  DType::kUint64,  DType::kBool};

// What a refused descr means, in words, by its kind letter.
std::string_view kind_in_words(char kind) {
  switch (kind) {
    case 'c':
      return "complex numbers";
    case 'f':
      return "floating point numbers of that size";
    case 'O':
      return "Python objects (pickled, unsafe to read)";
    case 'S':
    case 'a':
      return "byte strings";
    case 'U':
      return "text";
    case 'V':
      return "raw records";
    case 'M':
    case 'm':
      return "dates or time spans";
    default:
      return "an unknown type";
  }
}

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  void parse(NpyHeader& header) {
    for (const char c : text_) {
      check_in(source_, (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || c == '\r',
               "NPY header holds the byte 0x{:02x}; it must be printable ASCII", static_cast<unsigned char>(c));
    }
    expect('{');
    while (!accept('}')) {
      const std::string_view key = parse_string();
      expect(':');
      if (key == "descr") {
        set_once(has_descr_, key);
        header.dtype = parse_descr();
      } else if (key == "fortran_order") {
        set_once(has_order_, key);
        header.fortran_order = parse_bool();
      } else if (key == "shape") {
        set_once(has_shape_, key);
        header.shape = parse_shape();
      } else {
        fail_in(source_, "NPY header has an unknown key '{}'; it must have descr, fortran_order and shape", clip(key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    check_in(source_, at_ == text_.size(), "NPY header goes on after its closing brace: '{}'", clip(text_.substr(at_)));
    check_in(source_, has_descr_ && has_order_ && has_shape_,
             "NPY header lacks '{}'; it must have descr, fortran_order and "
             "shape",
             !has_descr_   ? "descr"
             : !has_order_ ? "fortran_order"
                           : "shape");
  }

 private:
  static std::string_view clip(std::string_view text) { return text.substr(0, 60); }

  void set_once(bool& seen, std::string_view key) {
    check_in(source_, !seen, "NPY header has '{}' twice", key);
    seen = true;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool accept(char c) {
    skip_space();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  void expect(char c) {
    check_in(source_, accept(c), "NPY header is malformed: expected '{}' at '{}'", c, clip(text_.substr(at_)));
  }

  std::string_view parse_string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    check_in(source_, quote == '\'' || quote == '"', "NPY header is malformed: expected a quoted string at '{}'",
             clip(text_.substr(at_)));
    const std::size_t begin = at_ + 1;
    const std::size_t end = text_.find(quote, begin);
    check_in(source_, end != std::string_view::npos, "NPY header is malformed: string without end at '{}'",
             clip(text_.substr(at_)));
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  DType parse_descr() {
    skip_space();
    check_in(source_, at_ < text_.size() && text_[at_] != '[',
             "has a structured dtype (named fields); save each field as an array of its own");
    const std::string_view descr = parse_string();
    const bool complete = descr.size() >= 3;
    check_in(source_, !complete || descr[0] != '>',
             "holds big-endian numbers ('{}'), only little-endian ones are read; "
             "convert it in numpy with array.astype('<{}')",
             clip(descr), complete ? clip(descr.substr(1)) : "");
    for (const DType dtype : kAllDTypes) {
      if (complete && (descr[0] == '<' || descr[0] == '|') && descr.substr(1) == dtype_descr(dtype).substr(1)) {
        return dtype;
      }
    }
    fail_in(source_,
            "has dtype '{}' ({}); bool, integers of 8 to 64 bits, float32 and float64 are read, so convert it in "
            "numpy, for instance with array.astype('<f4')",
            clip(descr), kind_in_words(complete ? descr[1] : '\0'));
  }

  bool parse_bool() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail_in(source_, "NPY header is malformed: fortran_order must be True or False, not '{}'", clip(text_.substr(at_)));
  }

  Shape parse_shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      skip_space();
      const std::string_view rest = text_.substr(at_);
      check_in(source_, !rest.starts_with('-'), "NPY header has the negative dimension '{}'",
               clip(rest.substr(0, rest.find_first_of(",) "))));
      std::size_t extent = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
      check_in(source_, error != std::errc::result_out_of_range,
               "NPY header has a dimension too large for this machine: '{}'",
               clip(rest.substr(0, rest.find_first_of(",) "))));
      check_in(source_, error == std::errc(), "NPY header is malformed: expected a dimension at '{}'", clip(rest));
      at_ += static_cast<std::size_t>(end - rest.data());
      accept('L');  // Python 2 wrote long integers this way
      check_in(source_, shape.size() < kMaxDimensions, "NPY header has more than {} dimensions", kMaxDimensions);
      shape.push_back(extent);
      if (!accept(',')) {
        // (3) without a comma is a number in Python, not a tuple.
        check_in(source_, shape.size() > 1, "NPY header is malformed: shape must be a tuple, such as (3,)");
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

// Bytes of all items, or nothing when that overflows. Zeros are left out of the product, as numpy does, so that every
// partial product of a legal shape fits as well.
std::optional<std::size_t> data_bytes(const NpyHeader& header) {
  std::size_t product = item_size(header.dtype);
  bool empty = false;
  for (const std::size_t extent : header.shape) {
    empty = empty || extent == 0;
    if (extent != 0 && (__builtin_mul_overflow(product, extent, &product) || product > PTRDIFF_MAX)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t k = bytes.size(); k-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[k]);
  }
  return value;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> start, std::uint64_t total_bytes, const std::string& source) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  check_in(source, !text.empty(), "is empty; an NPY file was expected");
  check_in(source, text.starts_with(kMagic), "is not an NPY file (it does not start with \\x93NUMPY)");
  check_in(source, text.size() >= 10, "ends inside its NPY header");
  const int version = static_cast<unsigned char>(text[6]);
  check_in(source, version >= 1 && version <= 3 && text[7] == 0, "has NPY version {}.{}; 1.0, 2.0 and 3.0 are read",
           version, static_cast<int>(static_cast<unsigned char>(text[7])));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  check_in(source, text.size() >= 8 + length_bytes, "ends inside its NPY header");
  const std::size_t length = little_endian(text.substr(8, length_bytes));
  const std::size_t offset = 8 + length_bytes + length;
  check_in(source, offset <= total_bytes, "says its NPY header has {} bytes, but the file ends after {}", length,
           total_bytes);
  check_in(source, offset <= kMaxNpyHeaderBytes && offset <= text.size(),
           "has an NPY header of {} bytes; at most {} are read", length, kMaxNpyHeaderBytes);
  NpyHeader header;
  header.data_offset = offset;
  HeaderParser(text.substr(8 + length_bytes, length), source).parse(header);
  const std::optional<std::size_t> expected = data_bytes(header);
  check_in(source, expected.has_value(), "shape {} of {} overflows; no file can hold that many bytes",
           shape_text(header.shape), dtype_name(header.dtype));
  const std::uint64_t present = total_bytes - offset;
  check_in(source, *expected <= present, "is truncated: shape {} of {} needs {} bytes, but {} follow the header",
           shape_text(header.shape), dtype_name(header.dtype), *expected, present);
  check_in(source, *expected >= present,
           "shape {} of {} needs {} bytes, but {} follow the header; the rest is unexplained", shape_text(header.shape),
           dtype_name(header.dtype), *expected, present);
  return header;
}

std::string format_npy_header(DType dtype, const Shape& shape) {
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", dtype_descr(dtype), shape_text(shape));
  if (!shape.empty()) {
    // numpy leaves room for the first dimension to grow to 21 digits in place; doing the same gives the same bytes.
    dict.append(21 - fmt::formatted_size("{}", shape[0]), ' ');
  }
  constexpr std::size_t kPrefix = 10;
  const std::size_t total = (kPrefix + dict.size() + 1 + 63) / 64 * 64;
  dict.append(total - kPrefix - dict.size() - 1, ' ');
  dict += '\n';
  check(dict.size() <= 0xFFFF, "NPY: shape {} has too many dimensions to be written", shape_text(shape));
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

}  // namespace dissent
