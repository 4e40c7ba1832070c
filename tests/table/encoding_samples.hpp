// Tables as texts, what becomes of them, and what is said of those that are refused.
#pragma once

#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/encoding_fit.hpp"
#include "support/temp_dir.hpp"

namespace dissent::test {

using Names = std::vector<std::string>;

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline Table table_of(const std::string& text, const std::string& source = "t.csv") { return parse_csv(text, source); }

inline FittedEncoding fitted(const std::string& text, const ColumnOptions& options = {.targets = {"y"}}) {
  return fit_encoding(options, table_of(text));
}

inline std::string refusal(const std::string& text, const ColumnOptions& options = {.targets = {"y"}}) {
  return message_of<InputError>([&] { fitted(text, options); });
}

}  // namespace dissent::test
