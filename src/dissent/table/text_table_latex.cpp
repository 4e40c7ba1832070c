// Text tables as LaTeX, for the packages booktabs and longtable. Tables float, except long ones, which break across
// pages. Columns of sentences wrap, and wide tables are set in a small size, so that they fit the lines of the class
// `article`.
#include <fmt/format.h>

#include <algorithm>

#include "dissent/table/text_table_parts.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMostLines = 40;        // of a table that stays on one page
constexpr std::size_t kComfortableLine = 20;  // characters of a sentence; with fewer, a smaller type is used

// What fits on a line of the class `article`, whose text is 345 pt wide. A size fits `characters` characters of plain
// words; between columns there are two spaces of `gap` characters each.
struct TypeSize {
  std::string_view command;
  std::size_t characters;
  double gap;
};
constexpr TypeSize kSizes[] = {
    {"", 66, 1.2},
    {"\\scriptsize\\setlength{\\tabcolsep}{2pt}\n", 84, 0.5},
    {"\\tiny\\setlength{\\tabcolsep}{1.2pt}\n", 98, 0.35},
};

constexpr std::size_t kWidestWord = 30;  // longer ones count as this wide

// How wide columns are at least and at most, in characters: a word does not break.
struct Widths {
  std::vector<std::size_t> words;
  std::vector<std::size_t> whole;
};

constexpr std::string_view kBreaks = " :=/_";  // a line may break after these

// Parts that do not break, each with the sign that it ends in.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t found = text.find_first_of(kBreaks, begin);
    const std::size_t end = found == std::string_view::npos ? text.size() : found + 1;
    parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

std::size_t widest_word(std::string_view text) {
  std::size_t widest = 0;
  for (const std::string_view part : parts_of(text)) {
    widest = std::max(widest, width_of(part) - (part.ends_with(' ') ? 1 : 0));
  }
  return std::min(widest, kWidestWord);
}

// With permission to break where TeX would not.
std::string breakable(std::string_view text) {
  std::string escaped;
  for (const std::string_view part : parts_of(text)) {
    escaped += escape_latex(part);
    escaped += part.data() + part.size() == text.data() + text.size() || part.ends_with(' ') ? "" : "\\allowbreak{}";
  }
  return escaped;
}

Widths widths_of(const TextTable& table) {
  Widths widths{.words = {}, .whole = column_widths(table)};
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    widths.words.push_back(widest_word(table.columns[k]));
    for (const std::vector<TextCell>& row : table.rows) {
      widths.words[k] = std::max(widths.words[k], widest_word(row[k].text));
    }
  }
  return widths;
}

// A column of more than `line` characters wraps, but not within words.
std::size_t column_width(const Widths& widths, std::size_t column, std::size_t line) {
  return std::max(widths.words[column], std::min(widths.whole[column], line));
}

// The longest line with which the table fits; 0 if words alone are too wide.
std::size_t longest_line(const Widths& widths, const TypeSize& size) {
  const auto total = [&](std::size_t line) {
    double sum = 2 * size.gap * static_cast<double>(widths.whole.size());
    for (std::size_t k = 0; k < widths.whole.size(); ++k) {
      sum += static_cast<double>(column_width(widths, k, line));
    }
    return sum;
  };
  std::size_t line = size.characters;
  while (line > 0 && total(line) > static_cast<double>(size.characters)) {
    --line;
  }
  return line;
}

struct Layout {
  std::string columns;
  std::string_view size;       // a command, or nothing
  std::vector<bool> wraps;     // whether a column does
  std::vector<bool> is_words;  // or it holds numbers, which are aligned right
  std::size_t num_lines = 0;   // that all rows take, about
};

bool has_sentence(const TextTable& table, std::size_t column) {
  return std::ranges::any_of(table.rows,
                             [&](const auto& row) { return width_of(row[column].text) > kComfortableLine; });
}

std::size_t num_lines(const TextTable& table, const std::vector<std::size_t>& width) {
  std::size_t lines = 0;
  for (const std::vector<TextCell>& row : table.rows) {
    std::size_t most = 1;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::size_t own = std::max<std::size_t>(width[k], 1);
      most = std::max(most, (width_of(row[k].text) + own - 1) / own);
    }
    lines += most;
  }
  return lines;
}

// The usual type, unless it cuts sentences into short lines; else the largest in which words fit.
Layout layout_of(const TextTable& table) {
  const Widths widths = widths_of(table);
  const std::size_t comfortable = std::min(kComfortableLine, std::ranges::max(widths.whole));
  const TypeSize* size = std::begin(kSizes);
  if (longest_line(widths, *size) < comfortable) {
    const auto fits = [&](const TypeSize& one) { return longest_line(widths, one) > 0; };
    size = std::find_if(std::next(size), std::prev(std::end(kSizes)), fits);
  }
  const std::size_t line = longest_line(widths, *size);
  Layout layout;
  layout.size = size->command;
  std::vector<std::size_t> used;
  for (std::size_t k = 0; k < widths.whole.size(); ++k) {
    used.push_back(column_width(widths, k, line));
    layout.wraps.push_back(used[k] < widths.whole[k]);
    layout.is_words.push_back(k < table.num_labels || has_sentence(table, k));
    if (layout.wraps[k]) {
      layout.columns +=
          fmt::format("p{{{:.3f}\\linewidth}}", static_cast<double>(used[k]) / static_cast<double>(size->characters));
    } else {
      layout.columns += layout.is_words[k] ? 'l' : 'r';
    }
  }
  layout.num_lines = num_lines(table, used);
  return layout;
}

// Cells of columns that wrap are ragged, since justified lines of a few words would be torn apart. After them "\\\\"
// does not end a row.
std::string latex_row(const std::vector<TextCell>& row, const Layout& layout) {
  std::vector<std::string> cells;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const std::string shown = layout.wraps[k] ? breakable(row[k].text) : escape_latex(row[k].text);
    const std::string_view ragged = layout.is_words[k] ? "\\raggedright " : "\\raggedleft ";
    cells.push_back(
        fmt::format("{}{}", layout.wraps[k] ? ragged : "", row[k].best ? fmt::format("\\textbf{{{}}}", shown) : shown));
  }
  return fmt::format("{} {}\n", fmt::join(cells, " & "), layout.wraps.back() ? "\\tabularnewline" : "\\\\");
}

std::string header_row(const TextTable& table, const Layout& layout) {
  std::vector<TextCell> header;
  for (const std::string& column : table.columns) {
    header.push_back({column});
  }
  return "\\toprule\n" + latex_row(header, layout) + "\\midrule\n";
}

std::string rows_of(const TextTable& table, const Layout& layout) {
  std::string text;
  for (const std::vector<TextCell>& row : table.rows) {
    text += latex_row(row, layout);
  }
  return text;
}

std::string floating(const TextTable& table, const Layout& layout, const std::string& caption) {
  return fmt::format(
      "\\begin{{table}}[htbp]\n\\caption{{{}}}\n\\centering\n{}\\begin{{tabular}}{{{}}}\n{}{}\\bottomrule\n"
      "\\end{{tabular}}\n\\end{{table}}\n",
      caption, layout.size, layout.columns, header_row(table, layout), rows_of(table, layout));
}

std::string breaking(const TextTable& table, const Layout& layout, const std::string& caption) {
  const std::string header = header_row(table, layout);
  return fmt::format(
      "{{{}\\begin{{longtable}}{{{}}}\n\\caption{{{}}}\\\\\n{}\\endfirsthead\n{}\\endhead\n\\bottomrule\n"
      "\\endfoot\n{}\\end{{longtable}}}}\n",
      layout.size, layout.columns, caption, header, header, rows_of(table, layout));
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
  const Layout layout = layout_of(table);
  return layout.num_lines > kMostLines ? breaking(table, layout, caption) : floating(table, layout, caption);
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
