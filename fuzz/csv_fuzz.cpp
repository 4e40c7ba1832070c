// Arbitrary bytes as a CSV file. What parses must have columns of equal length.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dissent;
  try {
    const Table table = parse_csv({reinterpret_cast<const char*>(data), size}, "fuzz", {.max_record_bytes = 4096});
    for (const Column& column : table.columns) {
      const std::size_t length = column.is_text() ? column.text.size() : column.values.size();
      if (length != table.num_rows || column.name.empty() || column.missing_rows.size() > length) {
        std::abort();
      }
    }
  } catch (const InputError&) {
  }
  return 0;
}
