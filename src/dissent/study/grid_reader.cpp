#include "dissent/study/grid_reader.hpp"

#include <algorithm>

#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/study/grid_cells.hpp"

namespace dissent {
namespace {

constexpr std::uint64_t kMostSeeds = 100'000;

}  // namespace

const FieldInfo& GridReader::info(const toml::key& key, const std::vector<std::string>& others) const {
  if (const FieldInfo* found = find_grid_field(key.str())) {
    return *found;
  }
  std::vector<std::string> names = grid_field_names();
  names.insert(names.end(), others.begin(), others.end());
  fail_at(key.source(), "'{}' is not known{}", key.str(), did_you_mean(key.str(), names));
}

void GridReader::check_keys(const toml::table& table, const std::vector<std::string>& known) const {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) == known.end()) {
      fail_at(key.source(), "'{}' is not known{} (known: {})", key.str(), did_you_mean(key.str(), known),
              fmt::join(known, ", "));
    }
  }
}

Value GridReader::value(const FieldInfo& field, const toml::node& node) const {
  try {
    const Value raw = raw_value(field, node);
    check_grid_value(field, raw, tables_);
    return raw;
  } catch (const InputError& error) {
    Fault fault = error.fault();
    if (fault.source.empty()) {
      fault.source = place(node.source());
    }
    throw InputError(fault);
  }
}

std::vector<Value> GridReader::values(const FieldInfo& field, const toml::node& node) const {
  if (field.name == "seed" || field.name == "data_seed") {
    if (const auto* text = node.as_string()) {
      return seed_range(*text);
    }
  }
  const toml::array* list = node.as_array();
  const bool of_lists = field.type == FieldType::kWholes || field.type == FieldType::kNumbers;
  if (list == nullptr || (of_lists && !list->empty() && !list->front().is_array())) {
    return {value(field, node)};
  }
  std::vector<Value> all;
  for (const toml::node& item : *list) {
    Value one = value(field, item);
    if (std::ranges::find(all, one) != all.end()) {
      fail_at(item.source(), "'{}' is there twice", to_text(one));
    }
    all.push_back(std::move(one));
  }
  if (all.empty()) {
    fail_at(node.source(), "'{}' has no value", field.name);
  }
  return all;
}

std::string GridReader::text(const toml::node& node, std::string_view what) const {
  const auto* text = node.as_string();
  if (text == nullptr || text->get().empty()) {
    fail_at(node.source(), "{} must be a text that is not empty", what);
  }
  return text->get();
}

std::vector<std::string> GridReader::texts(const toml::node& node, std::string_view what) const {
  std::vector<std::string> all;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) {
      all.push_back(text(item, what));
    }
  } else {
    all.push_back(text(node, what));
  }
  return all;
}

std::size_t GridReader::count(const toml::node& node, std::string_view what) const {
  const auto* number = node.as_integer();
  if (number == nullptr || number->get() < 1) {
    fail_at(node.source(), "{} must be a whole number >= 1", what);
  }
  return static_cast<std::size_t>(number->get());
}

const toml::table& GridReader::table(const toml::node& node, std::string_view what) const {
  const toml::table* found = node.as_table();
  if (found == nullptr) {
    fail_at(node.source(), "{} must be a table", what);
  }
  return *found;
}

Value GridReader::raw_value(const FieldInfo& field, const toml::node& node) const {
  if (const auto* text = node.as_string()) {
    return parse_value(field, text->get());
  }
  if (const auto* flag = node.as_boolean()) {
    return flag->get();
  }
  if (const auto* whole = node.as_integer()) {
    return whole_value(field, whole->get(), node);
  }
  if (const auto* number = node.as_floating_point()) {
    return number->get();
  }
  if (const toml::array* list = node.as_array()) {
    if (field.type != FieldType::kWholes && field.type != FieldType::kNumbers) {
      fail_at(node.source(), "'{}' has one value here; a list of values to compare belongs under [grid]", field.name);
    }
    return list_value(*list, field);
  }
  fail_at(node.source(), "'{}' cannot be a {}", field.name, node.is_table() ? "table" : "date");
}

Value GridReader::whole_value(const FieldInfo& field, std::int64_t whole, const toml::node& node) const {
  if (field.type == FieldType::kText) {
    return std::to_string(whole);
  }
  if (field.type == FieldType::kNumber) {
    return static_cast<double>(whole);
  }
  if (whole < 0) {
    fail_at(node.source(), "'{}' = {}; it must not be negative", field.name, whole);
  }
  return static_cast<std::uint64_t>(whole);
}

Value GridReader::list_value(const toml::array& list, const FieldInfo& field) const {
  std::vector<double> numbers;
  std::vector<std::uint64_t> wholes;
  for (const toml::node& item : list) {
    const auto number = item.value<double>();
    if (!number) {
      fail_at(item.source(), "'{}' must be a list of numbers", field.name);
    }
    numbers.push_back(*number);
    if (const auto whole = item.value_exact<std::int64_t>(); whole && *whole >= 0) {
      wholes.push_back(static_cast<std::uint64_t>(*whole));
    }
  }
  if (field.type == FieldType::kWholes && wholes.size() == numbers.size()) {
    return wholes;
  }
  return numbers;
}

std::vector<Value> GridReader::seed_range(const toml::value<std::string>& node) const {
  const std::string& text = node.get();
  const std::size_t dash = text.find('-');
  const auto first = parse_whole(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos ? first : parse_whole(std::string_view(text).substr(dash + 1));
  if (!first || !last || *last < *first) {
    fail_at(node.source(), "'{}' is no range of seeds; give one such as \"0-9\"", text);
  }
  if (*last - *first >= kMostSeeds) {
    fail_at(node.source(), "'{}' has more than {} seeds, which is the limit", text, kMostSeeds);
  }
  std::vector<Value> seeds;
  for (std::uint64_t seed = *first; seed <= *last; ++seed) {
    seeds.emplace_back(seed);
  }
  return seeds;
}

}  // namespace dissent
