// Text tables as text and as Markdown, and the choice of the format.
#include <fmt/format.h>

#include <algorithm>

#include "dissent/table/text_table_parts.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMostFloats = 10;  // that LaTeX can hold back, with no text between them

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return left ? text + space : space + text;
}

std::string text_row(const TextTable& table, std::span<const std::size_t> widths,
                     const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    line += k == 0 ? "  " : "   ";
    line += padded(cells[k], widths[k], k < table.num_labels);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::vector<std::string> plain_cells(const std::vector<TextCell>& row) {
  std::vector<std::string> cells;
  for (const TextCell& cell : row) {
    cells.push_back(one_line(cell.text));
  }
  return cells;
}

std::string as_text(const TextTable& table) {
  const std::vector<std::size_t> widths = column_widths(table);
  std::string text = one_line(table.title) + "\n";
  if (!table.columns.empty()) {
    text += text_row(table, widths, table.columns);
  }
  for (const std::vector<TextCell>& row : table.rows) {
    text += text_row(table, widths, plain_cells(row));
  }
  for (const std::string& note : table.notes) {
    text += fmt::format("  {}\n", one_line(note));
  }
  return text;
}

std::string as_markdown(const TextTable& table) {
  std::string text = fmt::format("### {}\n\n", escape_markdown(table.title));
  if (!table.columns.empty()) {
    std::string rule = "|";
    text += "|";
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      text += fmt::format(" {} |", escape_markdown(table.columns[k]));
      rule += k < table.num_labels ? "---|" : "---:|";
    }
    text += fmt::format("\n{}\n", rule);
  }
  for (const std::vector<TextCell>& row : table.rows) {
    text += "|";
    for (const TextCell& cell : row) {
      const std::string shown = escape_markdown(cell.text);
      text += cell.best ? fmt::format(" **{}** |", shown) : fmt::format(" {} |", shown);
    }
    text += "\n";
  }
  for (const std::string& note : notes_of(table)) {
    text += fmt::format("\n{}\n", escape_markdown(note));
  }
  return text;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::size_t> column_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    widths.push_back(width_of(table.columns[k]));
    for (const std::vector<TextCell>& row : table.rows) {
      widths[k] = std::max(widths[k], width_of(row[k].text));
    }
  }
  return widths;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return line;
}

std::vector<std::string> notes_of(const TextTable& table) {
  std::vector<std::string> notes = table.notes;
  if (!table.best.empty()) {
    notes.insert(notes.begin(), fmt::format("Bold: {}.", table.best));
  }
  return notes;
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~#$").find(c) != std::string_view::npos) {
        escaped += '\\';
      }
      escaped += c;
    }
  }
  return escaped;
}

std::string format_table(const TextTable& table, TableFormat format) {
  switch (format) {
    case TableFormat::kMarkdown:
      return as_markdown(table);
    case TableFormat::kLatex:
      return as_latex(table);
    case TableFormat::kText:
      break;
  }
  return as_text(table);
}

std::string format_tables(std::span<const TextTable> tables, TableFormat format) {
  std::string text;
  for (std::size_t k = 0; k < tables.size(); ++k) {
    text += k == 0 ? "" : "\n";
    if (format == TableFormat::kLatex && k > 0 && k % kMostFloats == 0) {
      text += "\\clearpage\n";
    }
    text += format_table(tables[k], format);
  }
  return text;
}

}  // namespace dissent
