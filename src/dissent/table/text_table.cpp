#include "dissent/table/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dissent {
namespace {

// Characters as they are seen: bytes that go on a character of UTF-8 do not count.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return left ? text + space : space + text;
}

// Line breaks and control characters would break a row apart.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return line;
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

// With what bold stands for, in formats that have it.
std::vector<std::string> notes_of(const TextTable& table) {
  std::vector<std::string> notes = table.notes;
  if (!table.best.empty()) {
    notes.insert(notes.begin(), fmt::format("Bold: {}.", table.best));
  }
  return notes;
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

std::string latex_row(const std::vector<TextCell>& row) {
  std::vector<std::string> cells;
  for (const TextCell& cell : row) {
    const std::string shown = escape_latex(cell.text);
    cells.push_back(cell.best ? fmt::format("\\textbf{{{}}}", shown) : shown);
  }
  return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

// Needs the package booktabs.
std::string as_latex(const TextTable& table) {
  std::string notes;
  for (const std::string& note : notes_of(table)) {
    notes += ' ';
    notes += escape_latex(note);
  }
  if (table.columns.empty()) {
    return fmt::format("\\paragraph{{{}}}{}\n", escape_latex(table.title), notes);
  }
  const std::string alignment =
      std::string(std::min(table.num_labels, table.columns.size()), 'l') +
      std::string(table.columns.size() - std::min(table.num_labels, table.columns.size()), 'r');
  std::vector<TextCell> header;
  for (const std::string& column : table.columns) {
    header.push_back({column});
  }
  std::string text =
      fmt::format("\\begin{{table}}\n\\caption{{{}.{}}}\n\\centering\n\\begin{{tabular}}{{{}}}\n\\toprule\n",
                  escape_latex(table.title), notes, alignment);
  text += latex_row(header) + "\\midrule\n";
  for (const std::vector<TextCell>& row : table.rows) {
    text += latex_row(row);
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

}  // namespace

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

std::string escape_latex(std::string_view text) {
  std::string escaped;
  const std::string line = one_line(text);
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (line.compare(k, 2, "±") == 0) {
      escaped += "\\ensuremath{\\pm}";
      ++k;
    } else if (c == '\\') {
      escaped += "\\textbackslash{}";
    } else if (c == '~') {
      escaped += "\\textasciitilde{}";
    } else if (c == '^') {
      escaped += "\\textasciicircum{}";
    } else if (c == '<' || c == '>' || c == '|') {
      escaped += fmt::format("\\ensuremath{{{}}}", c);
    } else if (c == '[' || c == ']') {
      escaped += fmt::format("{{{}}}", c);  // "\\" before one would take it for an argument
    } else if (c == '*') {
      escaped += "{*}";  // likewise
    } else {
      if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) {
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
  for (const TextTable& table : tables) {
    text += text.empty() ? "" : "\n";
    text += format_table(table, format);
  }
  return text;
}

}  // namespace dissent
