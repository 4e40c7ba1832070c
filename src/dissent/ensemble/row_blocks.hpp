// Rows in the user's units on their way into a model: in blocks of fixed size, scaled and packed as panels
// (matrix/panel.hpp). C input columns; matrices are row-major.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/matrix/panel.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

inline constexpr std::size_t kModelBlock = 256;  // rows a thread takes at a time

// Scales and packs up to kModelBlock rows; for one thread.
class RowPacker {
 public:
  explicit RowPacker(const Scaling& scaling);  // which must outlive it

  // panel[c][b] = rows[b][c], scaled, zero in the padding columns; valid until the next call.
  Panel<const float> pack(std::span<const double> rows);
  // The same for rows [begin, end) of a matrix that repeats every row of `rows` `times` times.
  Panel<const float> pack_repeated(std::span<const double> rows, std::size_t times, std::size_t begin, std::size_t end);

 private:
  const Scaling& scaling_;
  std::vector<float> scaled_;
  PanelBuffer<float> panel_;
};

// A block of inputs, both as they were given and as networks take them.
struct RowBlock {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::span<const double> inputs;  // [count][C], in the user's units
  Panel<const float> scaled;       // C rows
};

// Calls body(const RowBlock&, scratch) for the blocks of `inputs`; make() gives a thread its scratch on first use.
template <class Make, class Body>
void for_row_blocks(const Scaling& scaling, std::span<const double> inputs, Executor* executor, const Make& make,
                    const Body& body) {
  struct Scratch {
    RowPacker packer;
    decltype(make()) own;
  };
  const std::size_t C = scaling.num_columns();
  for_blocks(
      executor, inputs.size() / C, kModelBlock,
      [&] {
        return Scratch{RowPacker(scaling), make()};
      },
      [&](std::size_t begin, std::size_t end, Scratch& scratch) {
        const std::span<const double> rows = inputs.subspan(begin * C, (end - begin) * C);
        body(RowBlock{begin, end - begin, rows, scratch.packer.pack(rows)}, scratch.own);
      });
}

}  // namespace dissent
