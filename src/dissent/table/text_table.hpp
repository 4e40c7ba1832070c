// Tables for people, as text, Markdown or LaTeX. A cell's text is shown as it is, whatever its characters mean to the
// format.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

struct TextCell {
  std::string text;
  bool best = false;  // in bold, if that can be shown
};

struct TextTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<TextCell>> rows = {};  // each as long as the columns
  std::vector<std::string> notes = {};           // sentences below
  std::size_t num_labels = 1;                    // columns of words, to the left; the others are numbers
  std::string best = {};                         // what bold cells are, for a note in formats that show bold
};

enum class TableFormat { kText, kMarkdown, kLatex };

std::string format_table(const TextTable& table, TableFormat format);
std::string format_tables(std::span<const TextTable> tables, TableFormat format);

// Any text as one line, escaped so that it means nothing to the format.
std::string escape_markdown(std::string_view text);
std::string escape_latex(std::string_view text);

}  // namespace dissent
