// Text tables as LaTeX, for the packages booktabs and longtable. Tables float, but for long ones, which break across
// pages. Columns of sentences wrap, and wide tables are set in a small size.
#include <fmt/format.h>

#include <algorithm>

#include "dissent/table/text_table_parts.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMostRows = 40;     // on one page
constexpr std::size_t kWidestCell = 30;   // characters on one line
constexpr std::size_t kUsualWidth = 75;   // of a page, in characters
constexpr double kCharacterWidth = 0.48;  // em, about

std::string latex_row(const std::vector<TextCell>& row) {
  std::vector<std::string> cells;
  for (const TextCell& cell : row) {
    const std::string shown = escape_latex(cell.text);
    cells.push_back(cell.best ? fmt::format("\\textbf{{{}}}", shown) : shown);
  }
  return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

std::string header_row(const TextTable& table) {
  std::vector<TextCell> header;
  for (const std::string& column : table.columns) {
    header.push_back({column});
  }
  return "\\toprule\n" + latex_row(header) + "\\midrule\n";
}

struct Layout {
  std::string columns;
  std::string size;  // a command, or nothing
};

Layout layout_of(const TextTable& table) {
  const std::vector<std::size_t> widths = column_widths(table);
  Layout layout;
  std::size_t total = 2 * widths.size();
  for (std::size_t k = 0; k < widths.size(); ++k) {
    if (widths[k] > kWidestCell) {
      layout.columns += fmt::format("p{{{:.1f}em}}", kCharacterWidth * kWidestCell);
    } else {
      layout.columns += k < table.num_labels ? 'l' : 'r';
    }
    total += std::min(widths[k], kWidestCell);
  }
  if (total > kUsualWidth) {
    layout.size = "\\scriptsize\\setlength{\\tabcolsep}{2pt}\n";
  }
  return layout;
}

std::string rows_of(const TextTable& table) {
  std::string text;
  for (const std::vector<TextCell>& row : table.rows) {
    text += latex_row(row);
  }
  return text;
}

std::string floating(const TextTable& table, const std::string& caption) {
  const Layout layout = layout_of(table);
  return fmt::format(
      "\\begin{{table}}[htbp]\n\\caption{{{}}}\n\\centering\n{}\\begin{{tabular}}{{{}}}\n{}{}\\bottomrule\n"
      "\\end{{tabular}}\n\\end{{table}}\n",
      caption, layout.size, layout.columns, header_row(table), rows_of(table));
}

std::string breaking(const TextTable& table, const std::string& caption) {
  const Layout layout = layout_of(table);
  const std::string header = header_row(table);
  return fmt::format(
      "{{{}\\begin{{longtable}}{{{}}}\n\\caption{{{}}}\\\\\n{}\\endfirsthead\n{}\\endhead\n\\bottomrule\n"
      "\\endfoot\n{}\\end{{longtable}}}}\n",
      layout.size, layout.columns, caption, header, header, rows_of(table));
}

}  // namespace

std::string as_latex(const TextTable& table) {
  std::string notes;
  for (const std::string& note : notes_of(table)) {
    notes += ' ';
    notes += escape_latex(note);
  }
  if (table.columns.empty()) {
    return fmt::format("\\paragraph{{{}}}{}\n", escape_latex(table.title), notes);
  }
  const std::string caption = fmt::format("{}.{}", escape_latex(table.title), notes);
  return table.rows.size() > kMostRows ? breaking(table, caption) : floating(table, caption);
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

}  // namespace dissent
