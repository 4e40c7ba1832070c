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
            "\\begin{table}\n"
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

TEST(TextTable, SeveralStandApart) {
  const TextTable table{.title = "A", .columns = {}};
  EXPECT_EQ(format_tables(std::vector{table, table}, TableFormat::kText), "A\n\nA\n");
}

}  // namespace
}  // namespace dissent
