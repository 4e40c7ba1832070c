#include "dissent/report/page_text.hpp"

#include <fmt/format.h>

#include "dissent/report/html.hpp"
#include "dissent/report/page_html.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/text_table.hpp"

namespace dissent::report {
namespace {

// On one line, and without what Markdown would read as markup.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '\n' || c == '\r' || c == '\t') {
      out += ' ';
    } else {
      if (std::string_view("\\`*_{}[]<>#|~&").find(c) != std::string_view::npos) {
        out += '\\';
      }
      out += c;
    }
  }
  return out;
}

std::string markdown(const Grid& grid) {
  std::string out = "|";
  std::string line = "|";
  for (const Heading& heading : grid.columns) {
    out += fmt::format(" {} |", plain(heading.title));
    line += "---|";
  }
  out += "\n" + line + "\n";
  for (const auto& row : grid.rows) {
    out += "|";
    for (const Json& cell : row) {
      out += fmt::format(" {} |", plain(shown(cell)));
    }
    out += "\n";
  }
  return out + "\n";
}

std::string markdown_of(const Paragraph& block) { return plain(block.text) + "\n\n"; }

std::string markdown_of(const KeyNumbers& block) {
  std::string out;
  for (const KeyNumber& number : block.list) {
    out += fmt::format("- {}: {}{}\n", plain(number.name), plain(number.value),
                       number.note.empty() ? "" : " (" + plain(number.note) + ")");
  }
  return out + "\n";
}

std::string markdown_of(const TableBlock& block) {
  const std::string note = block.note.empty() ? "" : plain(block.note) + "\n\n";
  return fmt::format("### {}\n\n{}{}", plain(block.title), note, markdown(block.grid));
}

std::string markdown_of(const Chart& block) {
  return fmt::format("### {}\n\n{}\n\n", plain(block.title), plain(block.caption));
}

TextTable text_table(const TableBlock& block) {
  TextTable table{.title = valid_utf8(block.title), .columns = {}, .num_labels = 0};
  for (const Heading& heading : block.grid.columns) {
    table.columns.push_back(valid_utf8(heading.title));
  }
  for (const auto& row : block.grid.rows) {
    std::vector<TextCell> cells;
    for (const Json& cell : row) {
      cells.push_back({valid_utf8(shown(cell))});
    }
    table.rows.push_back(std::move(cells));
  }
  const auto is_label = [&](std::size_t k) {
    return !block.grid.rows.empty() && block.grid.rows.front()[k].is_string();
  };
  while (table.num_labels < table.columns.size() && is_label(table.num_labels)) {
    ++table.num_labels;
  }
  if (!block.note.empty()) {
    table.notes.push_back(valid_utf8(block.note));
  }
  return table;
}

void add_cells(CsvText& csv, const std::string& id, const Grid& grid) {
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    for (std::size_t k = 0; k < grid.columns.size(); ++k) {
      const Json& cell = grid.rows[row][k];
      csv.field(id);
      csv.field(row);
      csv.field(grid.columns[k].name);
      if (cell.is_number()) {
        csv.field(cell.get<double>());
      } else if (cell.is_string()) {
        csv.field(cell.get<std::string>());
      } else {
        csv.missing();
      }
      csv.end_row();
    }
  }
}

Json grid_json(const std::string& id, const std::string& title, const Grid& grid) {
  Json columns = Json::array();
  for (const Heading& heading : grid.columns) {
    columns.push_back(heading.name);
  }
  return {{"id", id}, {"title", title}, {"columns", columns}, {"rows", grid.rows}};
}

}  // namespace

std::string to_markdown(const Page& page) {
  std::string out = fmt::format("# {}\n\n{}\n\n", plain(page.title), plain(page.subtitle));
  for (const Section& section : page.sections) {
    out += fmt::format("## {}\n\n", plain(section.title));
    for (const Block& block : section.blocks) {
      out += std::visit([](const auto& kind) { return markdown_of(kind); }, block);
    }
  }
  return out;
}

std::string to_latex(const Page& page) {
  std::vector<TextTable> tables;
  for (const TableBlock* table : blocks_of<TableBlock>(page)) {
    tables.push_back(text_table(*table));
  }
  return format_tables(tables, TableFormat::kLatex);
}

std::string to_csv(const Page& page) {
  CsvText csv("report", {"table", "row", "column", "value"});
  for (const TableBlock* table : blocks_of<TableBlock>(page)) {
    add_cells(csv, table->id, table->grid);
  }
  for (const Chart* chart : blocks_of<Chart>(page)) {
    add_cells(csv, chart->id, chart->data);
  }
  return csv.text();
}

Json tables_json(const Page& page) {
  Json tables = Json::array();
  for (const TableBlock* table : blocks_of<TableBlock>(page)) {
    tables.push_back(grid_json(table->id, table->title, table->grid));
  }
  Json charts = Json::array();
  for (const Chart* chart : blocks_of<Chart>(page)) {
    charts.push_back(grid_json(chart->id, chart->title, chart->data));
  }
  return {{"tables", tables}, {"charts", charts}};
}

}  // namespace dissent::report
