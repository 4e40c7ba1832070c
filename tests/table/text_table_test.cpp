#include "dissent/table/text_table.hpp"

#include <gtest/gtest.h>

namespace dissent {
namespace {

const TextTable kTable{.title = "a_b & 100%",
                       .columns = {"method", "x|y"},
                       .rows = {{{"kl|b_a*"}, {"0.30 ± 0.03**", true}}, {{"<b>&\\$#{}~^"}, {"[1]\nnext"}}},
                       .notes = {"50% of `all`"}};

TEST(TextTable, Text) {
  EXPECT_EQ(format_table(kTable, TableFormat::kText),
            "a_b & 100%\n"
            "  method                  x|y\n"
            "  kl|b_a*       0.30 ± 0.03**\n"
            "  <b>&\\$#{}~^        [1] next\n"
            "  50% of `all`\n");
}

TEST(TextTable, Markdown) {
  EXPECT_EQ(format_table(kTable, TableFormat::kMarkdown),
            "### a\\_b &amp; 100%\n\n"
            "| method | x\\|y |\n"
            "|---|---:|\n"
            "| kl\\|b\\_a\\* | **0.30 ± 0.03\\*\\*** |\n"
            "| &lt;b>&amp;\\\\\\$\\#{}\\~^ | \\[1\\] next |\n"
            "\n50% of \\`all\\`\n");
}

TEST(TextTable, Latex) {
  EXPECT_EQ(format_table(kTable, TableFormat::kLatex),
            "\\begin{table}[htbp]\n"
            "\\caption{a\\_b \\& 100\\%. 50\\% of `all`}\n"
            "\\centering\n"
            "\\begin{tabular}{lr}\n"
            "\\toprule\n"
            "method & x\\ensuremath{|}y \\\\\n"
            "\\midrule\n"
            "kl\\ensuremath{|}b\\_a{*} & \\textbf{0.30 \\ensuremath{\\pm} 0.03{*}{*}} \\\\\n"
            "\\ensuremath{<}b\\ensuremath{>}\\&\\textbackslash{}\\$\\#\\{\\}\\textasciitilde{}\\textasciicircum{} & "
            "{[}1{]} next \\\\\n"
            "\\bottomrule\n"
            "\\end{tabular}\n"
            "\\end{table}\n");
}

// Environments and braces close in the order in which they opened; every row has as many cells as there are columns.
void expect_well_formed(const std::string& latex, std::size_t num_columns) {
  std::vector<std::string> open;
  std::size_t cells = 1;
  for (std::size_t k = 0; k < latex.size(); ++k) {
    const auto name_at = [&](std::size_t from) { return latex.substr(from, latex.find('}', from) - from); };
    if (latex.compare(k, 7, "\\begin{") == 0) {
      open.push_back(name_at(k + 7));
      k += 6 + open.back().size() + 1;
    } else if (latex.compare(k, 5, "\\end{") == 0) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), name_at(k + 5));
      k += 4 + open.back().size() + 1;
      open.pop_back();
    } else if (latex.compare(k, 2, "\\\\") == 0) {
      EXPECT_TRUE(cells == num_columns || latex[k - 1] == '}') << latex.substr(k < 80 ? 0 : k - 80, 80);  // a caption
      cells = 1;
      ++k;
    } else if (latex[k] == '\\') {
      ++k;
    } else if (latex[k] == '{') {
      open.emplace_back("{");
    } else if (latex[k] == '}') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), "{");
      open.pop_back();
    } else {
      cells += latex[k] == '&';
      EXPECT_EQ(std::string_view("#$%_^~").find(latex[k]), std::string_view::npos) << latex[k];
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(TextTable, LatexIsWellFormed) {
  const std::string hostile = "\\end{table} & 5% $x_1^2$ #1 ~{ } \\\\ } [*] ";
  for (const std::size_t num_rows : {0, 1, 40, 41, 500}) {
    TextTable table{.title = hostile, .columns = {"a", hostile, "c"}, .notes = {hostile}, .best = hostile};
    for (std::size_t row = 0; row < num_rows; ++row) {
      table.rows.push_back({{hostile}, {std::string(100, 'x') + hostile, true}, {"1"}});
    }
    const std::string latex = format_table(table, TableFormat::kLatex);
    expect_well_formed(latex, 3);
    EXPECT_EQ(latex.find("longtable") != std::string::npos, num_rows >= 40);
  }
}

std::string sentence(std::size_t num_words) {
  std::string text;
  for (std::size_t k = 0; k < num_words; ++k) {
    text += k == 0 ? "word" : " word";
  }
  return text;
}

// A sentence wraps, and what is wide is small. Lines of a few words are ragged, and then "\\" would not end their row.
TEST(TextTable, WideLatex) {
  TextTable table{.title = "T", .columns = {"a", "b"}, .rows = {{{sentence(40)}, {"1"}}}};
  const auto has = [&](const std::string& part) {
    return format_table(table, TableFormat::kLatex).find(part) != std::string::npos;
  };
  EXPECT_TRUE(has("\\begin{tabular}{p{0.9")) << format_table(table, TableFormat::kLatex);
  EXPECT_TRUE(has("\\raggedright word word"));
  EXPECT_TRUE(has("word & 1 \\\\\n"));
  EXPECT_FALSE(has("scriptsize"));
  table.columns.insert(table.columns.end(), 7, "a longer heading");
  table.rows[0].insert(table.rows[0].end(), 6, {"2"});
  table.rows[0].push_back({sentence(20)});
  EXPECT_TRUE(has("\\scriptsize"));
  EXPECT_TRUE(has("\\raggedleft a longer heading"));
  EXPECT_TRUE(has("word \\tabularnewline\n"));
}

// Widths of the columns that wrap, in lines, leave room for the others.
TEST(TextTable, LatexSharesTheLine) {
  TextTable table{.title = "T", .columns = {"claim", "rule", "where", "seeds"}};
  table.rows = {{{sentence(12)}, {sentence(60)}, {sentence(30)}, {"5"}}};
  const std::string latex = format_table(table, TableFormat::kLatex);
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t at = latex.find("p{"); at != std::string::npos; at = latex.find("p{", at + 1)) {
    sum += std::stod(latex.substr(at + 2));
    ++count;
  }
  EXPECT_EQ(count, 3u) << latex;
  EXPECT_GT(sum, 0.7);
  EXPECT_LT(sum, 0.95);
}

// What would not fit on a page breaks across pages, by its lines and not by its rows.
TEST(TextTable, LatexOfManyLinesBreaks) {
  TextTable table{.title = "T", .columns = {"claim", "rule"}};
  for (int row = 0; row < 12; ++row) {
    table.rows.push_back({{"a"}, {sentence(10)}});
  }
  EXPECT_EQ(format_table(table, TableFormat::kLatex).find("longtable"), std::string::npos);
  for (std::vector<TextCell>& row : table.rows) {
    row[1].text = sentence(80);
  }
  EXPECT_NE(format_table(table, TableFormat::kLatex).find("longtable"), std::string::npos);
}

TEST(TextTable, BoldIsExplainedWhereItIsSeen) {
  TextTable table = kTable;
  table.best = "the best mean";
  EXPECT_EQ(format_table(table, TableFormat::kText), format_table(kTable, TableFormat::kText));
  EXPECT_NE(format_table(table, TableFormat::kMarkdown).find("\n\nBold: the best mean.\n\n50%"), std::string::npos);
  EXPECT_NE(format_table(table, TableFormat::kLatex).find("100\\%. Bold: the best mean. 50"), std::string::npos);
}

TEST(TextTable, OfSentencesAlone) {
  const TextTable table{.title = "Power", .columns = {}, .notes = {"So it is."}};
  EXPECT_EQ(format_table(table, TableFormat::kText), "Power\n  So it is.\n");
  EXPECT_EQ(format_table(table, TableFormat::kMarkdown), "### Power\n\n\nSo it is.\n");
  EXPECT_EQ(format_table(table, TableFormat::kLatex), "\\paragraph{Power} So it is.\n");
}

// LaTeX gives up on too many tables with no text between them.
TEST(TextTable, ManyLatexTablesLeaveRoom) {
  const std::vector<TextTable> many(25, {.title = "A", .columns = {"a"}});
  const std::string latex = format_tables(many, TableFormat::kLatex);
  std::size_t pages = 0;
  for (std::size_t at = latex.find("\\clearpage\n"); at != std::string::npos;
       at = latex.find("\\clearpage\n", at + 1)) {
    ++pages;
  }
  EXPECT_EQ(pages, 2U);
}

TEST(TextTable, SeveralStandApart) {
  const TextTable table{.title = "A", .columns = {}};
  EXPECT_EQ(format_tables(std::vector{table, table}, TableFormat::kText), "A\n\nA\n");
}

}  // namespace
}  // namespace dissent
