// Values of a grid file: each read as its field wants it, errors with line and column. Internal.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/field.hpp"

namespace dissent {

class GridReader {
 public:
  explicit GridReader(const std::string& source) : source_(source) {}

  // Names of tables that may stand for problems.
  void set_tables(std::vector<std::string> tables) { tables_ = std::move(tables); }

  // "grid.toml:9:8"
  std::string place(const toml::source_region& region) const {
    return fmt::format("{}:{}:{}", source_, region.begin.line, region.begin.column);
  }

  template <class... Args>
  [[noreturn]] void fail_at(const toml::source_region& region, fmt::format_string<Args...> rule, Args&&... args) const {
    throw InputError(Fault{.source = place(region), .rule = fmt::format(rule, std::forward<Args>(args)...)});
  }

  // The field of a key. `others` are keys that may stand beside fields.
  const FieldInfo& info(const toml::key& key, const std::vector<std::string>& others = {}) const;
  void check_keys(const toml::table& table, const std::vector<std::string>& known) const;
  // The value of a field; InputErrors of the field's own rule get the place.
  Value value(const FieldInfo& field, const toml::node& node) const;

  // One value, several in a list, or "0-9" for seeds.
  std::vector<Value> values(const FieldInfo& field, const toml::node& node) const;
  std::string text(const toml::node& node, std::string_view what) const;
  std::vector<std::string> texts(const toml::node& node, std::string_view what) const;
  std::size_t count(const toml::node& node, std::string_view what) const;
  const toml::table& table(const toml::node& node, std::string_view what) const;

 private:
  Value raw_value(const FieldInfo& field, const toml::node& node) const;

  // Texts may look like numbers: candidates = 1000.
  Value whole_value(const FieldInfo& field, std::int64_t whole, const toml::node& node) const;
  Value list_value(const toml::array& list, const FieldInfo& field) const;
  std::vector<Value> seed_range(const toml::value<std::string>& node) const;

  const std::string& source_;
  std::vector<std::string> tables_;
};

}  // namespace dissent
