// How numbers stood in the text they were read from, where that is not how they are written: 01, 1.50, +1, or more
// digits than a double holds. Codes and identifiers must not lose that. Few bytes for each, and none for other cells.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

class Spellings {
 public:
  // Rows ascend.
  void add(std::size_t row, std::string_view text);
  std::optional<std::string_view> of(std::size_t row) const;

 private:
  std::vector<std::size_t> rows_;
  std::vector<std::size_t> ends_;  // in text_
  std::string text_;
};

// Whether a finite number, read from this text, would be written otherwise. A fraction of more than 15 digits or with
// an exponent is a measurement, nobody's code: its spelling does not count.
bool is_spelled_otherwise(std::string_view text, double value);

}  // namespace dissent
