// The tables of a page for other programs: Markdown, LaTeX, CSV, JSON. Charts are tables in the last two.
#pragma once

#include <string>

#include "dissent/report/page.hpp"

namespace dissent::report {

// Titles, texts, key numbers, tables, and the captions of charts.
std::string to_markdown(const Page& page);

// Only the tables, as table/text_table.hpp writes them.
std::string to_latex(const Page& page);

// One line per cell of every table, and of the data of every chart: table, row (from 0), column, value.
std::string to_csv(const Page& page);

// {"tables": [{"id", "title", "columns", "rows"}], "charts": [...]}
Json tables_json(const Page& page);

}  // namespace dissent::report
