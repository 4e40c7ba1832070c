// Tables as LaTeX. What LaTeX would take for a command is escaped; letters beyond ASCII are left to its UTF-8 input.
#include <fmt/format.h>

#include "dissent/report/html.hpp"
#include "dissent/report/page_html.hpp"
#include "dissent/report/page_text.hpp"

namespace dissent::report {
namespace {

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '<':
        out += "\\textless{}";
        break;
      case '>':
        out += "\\textgreater{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += '\\';
        out += c;
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out = valid_utf8(text);
  for (char& c : out) {
    c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out;
}

template <class Cells, class Text>
std::string line_of(const Cells& cells, const Text& text) {
  std::string out;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    out += (k > 0 ? " & " : "") + plain(text(cells[k]));
  }
  return out + " \\\\\n";
}

std::string latex(const TableBlock& table) {
  std::string columns;
  for (std::size_t k = 0; k < table.grid.columns.size(); ++k) {
    columns += !table.grid.rows.empty() && table.grid.rows.front()[k].is_number() ? 'r' : 'l';
  }
  std::string out = fmt::format("% {}\n", one_line(table.title));
  if (!table.note.empty()) {
    out += fmt::format("% {}\n", one_line(table.note));
  }
  out += fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n", columns);
  out += line_of(table.grid.columns, [](const Heading& heading) { return heading.title; }) + "\\midrule\n";
  for (const auto& row : table.grid.rows) {
    out += line_of(row, [](const Json& cell) { return shown(cell); });
  }
  return out + "\\bottomrule\n\\end{tabular}\n\n";
}

}  // namespace

std::string to_latex(const Page& page) {
  std::string out =
      fmt::format("% {}\n% {}\n% Needs \\usepackage{{booktabs}}.\n\n", one_line(page.title), one_line(page.subtitle));
  for (const TableBlock* table : blocks_of<TableBlock>(page)) {
    out += latex(*table);
  }
  return out;
}

}  // namespace dissent::report
