#include "dissent/table/pool_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

// The system may map two megabytes around each item read, in each column of an array in Fortran order; scattered rows
// would soon bring the whole file into memory.
constexpr std::size_t kItemsBetweenReleases = 16;
constexpr std::size_t kRowsAtATime = 8192;

void check_finite(double value, const std::string& source, std::size_t row, const std::string& name) {
  if (!std::isfinite(value)) [[unlikely]] {
    throw InputError(Fault{.source = source,
                           .value = fmt::format("{}", value),
                           .rule = "is not a finite number",
                           .column = name,
                           .row = row});
  }
}

}  // namespace

PoolFile::PoolFile(const std::string& path) : source_(path) {
  if (path.ends_with(".npz")) {
    open_archive(path);
  } else {
    table_ = read_table(path);
    num_rows_ = table_->num_rows;
  }
  check_in(source_, num_rows_ > 0, "has no rows");
}

void PoolFile::open_archive(const std::string& path) {
  const NpzFile archive(path);
  std::vector<std::string> names;
  for (const std::string& name : archive.names()) {
    NpyFile array = archive.open(name);
    const std::size_t axes = array.shape().size();
    check_in(array.source(), axes == 1 || axes == 2, "has shape {}; columns need one axis, or two",
             shape_text(array.shape()));
    check_in(array.source(), arrays_.empty() || array.num_rows() == num_rows_,
             "has {} rows, '{}' has {}; all must have as many", array.num_rows(), names.empty() ? "" : names.front(),
             num_rows_);
    num_rows_ = array.num_rows();
    for (std::size_t k = 0; k < array.row_size(); ++k) {
      names.push_back(axes == 1 ? name : fmt::format("{}{}", name, k));
      columns_.push_back({names.back(), arrays_.size(), k});
    }
    arrays_.push_back(std::move(array));
  }
  check_column_names(names, path);
}

template <class Visit>
void PoolFile::visit(std::size_t array, std::span<const std::size_t> rows, const Visit& visit) const {
  const NpyFile& file = arrays_[array];
  std::vector<double> buffer;
  std::size_t num_items = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    visit(k, file.rows<double>(rows[k], rows[k] + 1, buffer));
    num_items += file.row_size();
    if (num_items >= kItemsBetweenReleases || k + 1 == rows.size()) {
      file.release(0, num_rows_);
      num_items = 0;
    }
  }
}

bool PoolFile::has(const std::string& name) const {
  return table_ ? table_->has(name) : std::ranges::find(columns_, name, &ArrayColumn::name) != columns_.end();
}

void PoolFile::encode(const TableEncoding& encoding, std::vector<std::string>& told) {
  const bool plain = encoding.is_plain();
  if (plain && !table_) {
    return;
  }
  if (!table_) {
    table_ = read_table(source_);
    arrays_.clear();
    columns_.clear();
  }
  const std::vector<std::string> names = encoding.sources();
  const auto needs_filling = [](const Column* column) { return has_missing(*column); };
  if (!plain || std::ranges::any_of(table_->find(names), needs_filling)) {
    features_ = encoding.features_of(*table_, &told);
  } else {
    told.insert(told.end(), table_->notes.begin(), table_->notes.end());
  }
}

void PoolFile::check_columns(const std::vector<std::string>& names) const {
  if (table_) {
    (features_ ? *features_ : *table_).find(names);
    return;
  }
  find(names);
}

std::vector<const PoolFile::ArrayColumn*> PoolFile::find(const std::vector<std::string>& names) const {
  std::unordered_map<std::string_view, const ArrayColumn*> by_name;
  for (const ArrayColumn& column : columns_) {
    by_name.emplace(column.name, &column);
  }
  std::vector<const ArrayColumn*> found;
  for (const std::string& name : names) {
    const auto column = by_name.find(name);
    if (column == by_name.end()) {
      std::vector<std::string> known;
      for (const ArrayColumn& other : columns_) {
        known.push_back(other.name);
      }
      throw InputError(Fault{.source = source_, .rule = missing_column_text({&name, 1}, known)});
    }
    found.push_back(column->second);
  }
  return found;
}

void PoolFile::read(const std::vector<std::string>& names, std::size_t begin, std::size_t end,
                    std::span<double> out) const {
  for (; begin < end; begin += std::min(kRowsAtATime, end - begin)) {
    const std::size_t count = std::min(kRowsAtATime, end - begin);
    read_values(names, begin, begin + count, out);
    if (check_) {
      check_(out.first(count * names.size()), [&](std::size_t k) { return begin + k; });
    }
    out = out.subspan(count * names.size());
  }
}

void PoolFile::read_values(const std::vector<std::string>& names, std::size_t begin, std::size_t end,
                           std::span<double> out) const {
  const std::size_t C = names.size();
  if (table_) {
    std::vector<std::size_t> rows(end - begin);
    std::iota(rows.begin(), rows.end(), begin);
    std::ranges::copy(pick_values(names, rows), out.begin());
    return;
  }
  const std::vector<const ArrayColumn*> columns = find(names);
  std::vector<double> buffer;
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    const NpyFile& array = arrays_[a];
    const double* values = nullptr;
    for (std::size_t c = 0; c < C; ++c) {
      if (columns[c]->array != a) {
        continue;
      }
      values = values != nullptr ? values : array.rows<double>(begin, end, buffer);
      for (std::size_t row = begin; row < end; ++row) {
        const double value = values[(row - begin) * array.row_size() + columns[c]->offset];
        check_finite(value, source_, row, names[c]);
        out[(row - begin) * C + c] = value;
      }
    }
    if (values != nullptr) {
      array.release(0, end);  // reading rows maps the pages before them again
    }
  }
}

std::vector<double> PoolFile::pick(const std::vector<std::string>& names, std::span<const std::size_t> rows) const {
  std::vector<double> out = pick_values(names, rows);
  if (check_) {
    check_(out, [&](std::size_t k) { return rows[k]; });
  }
  return out;
}

std::vector<double> PoolFile::pick_values(const std::vector<std::string>& names,
                                          std::span<const std::size_t> rows) const {
  std::vector<double> out(rows.size() * names.size());
  if (table_) {
    in_source(source_, [&] {
      const std::vector<const Column*> columns = (features_ ? *features_ : *table_).find(names);
      for (std::size_t c = 0; c < names.size(); ++c) {
        const Column& column = *columns[c];
        column.check_numbers();
        for (std::size_t k = 0; k < rows.size(); ++k) {
          out[k * names.size() + c] = column.finite_number(rows[k]);
        }
      }
    });
    return out;
  }
  const std::vector<const ArrayColumn*> columns = find(names);
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    if (std::ranges::find(columns, a, &ArrayColumn::array) == columns.end()) {
      continue;
    }
    visit(a, rows, [&](std::size_t k, const double* values) {
      for (std::size_t c = 0; c < names.size(); ++c) {
        if (columns[c]->array == a) {
          const double value = values[columns[c]->offset];
          check_finite(value, source_, rows[k], names[c]);
          out[k * names.size() + c] = value;
        }
      }
    });
  }
  return out;
}

const Table& PoolFile::with_columns(const std::vector<std::string>& names) {
  if (table_) {
    return *table_;
  }
  std::vector<double> block(std::min(kRowsAtATime, num_rows_) * names.size());
  columns_read_ = {source_, num_rows_, {}};
  for (const std::string& name : names) {
    columns_read_.columns.emplace_back().name = name;
    columns_read_.columns.back().values.resize(num_rows_);
  }
  for (std::size_t begin = 0; begin < num_rows_; begin += kRowsAtATime) {
    const std::size_t count = std::min(kRowsAtATime, num_rows_ - begin);
    read_values(names, begin, begin + count, block);
    for (std::size_t k = 0; k < count * names.size(); ++k) {
      columns_read_.columns[k % names.size()].values[begin + k / names.size()] = block[k];
    }
  }
  return columns_read_;
}

Table PoolFile::table(std::span<const std::size_t> rows) const {
  if (table_) {
    return picked_rows(*table_, rows);
  }
  Table part{source_, rows.size(), {}};
  for (const ArrayColumn& column : columns_) {
    part.columns.emplace_back().name = column.name;
    part.columns.back().values.resize(rows.size());
  }
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    visit(a, rows, [&](std::size_t k, const double* values) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (columns_[c].array == a) {
          part.columns[c].values[k] = values[columns_[c].offset];
        }
      }
    });
  }
  return part;
}

}  // namespace dissent
