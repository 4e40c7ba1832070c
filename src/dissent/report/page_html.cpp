#include "dissent/report/page_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/digest.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/report/html.hpp"

namespace dissent::report {
namespace {

constexpr std::size_t kShortText = 20;
constexpr std::size_t kLongText = 40;   // characters of a cell that is given room to wrap
constexpr std::size_t kTallTable = 45;  // rows of a table that scrolls on a screen

// A column is aligned like numbers if it holds nothing else.
bool is_numeric(const Grid& grid, std::size_t column) {
  return std::ranges::all_of(grid.rows,
                             [&](const auto& row) { return row[column].is_number() || row[column].is_null(); });
}

bool is_finite(const Json& cell) { return cell.is_number() && std::isfinite(cell.get<double>()); }

std::string cell_html(const Json& cell) {
  const std::string text = escaped(shown(cell));
  return is_finite(cell) ? fmt::format("<data value=\"{}\">{}</data>", cell.dump(), text) : text;
}

// Texts of a few words stay on one line; long ones are given room.
std::string_view text_class(const Json& cell) {
  const std::size_t size = cell.get_ref<const std::string&>().size();
  return size > kLongText ? " class=\"long\"" : size <= kShortText ? " class=\"short\"" : "";
}

// Whether a table has sentences: if there is no room for its columns, its cells are stacked.
bool has_sentences(const Grid& grid) {
  return std::ranges::any_of(grid.rows, [](const auto& row) {
    return std::ranges::any_of(row, [](const Json& cell) {
      return cell.is_string() && cell.get_ref<const std::string&>().size() > kLongText;
    });
  });
}

std::string grid_html(const Grid& grid) {
  const bool stacks = has_sentences(grid);
  std::string out = "<thead><tr>";
  std::vector<std::string_view> kind;
  for (std::size_t k = 0; k < grid.columns.size(); ++k) {
    kind.emplace_back(is_numeric(grid, k) ? " class=\"n\"" : "");
    out += fmt::format("<th scope=\"col\"{}>{}</th>", kind[k], escaped(grid.columns[k].title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : grid.rows) {
    out += "<tr>";
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::string title =
          stacks && k > 0 ? fmt::format(" data-title=\"{}\"", escaped(grid.columns[k].title)) : "";
      out +=
          fmt::format("<td{}{}>{}</td>", row[k].is_string() ? text_class(row[k]) : kind[k], title, cell_html(row[k]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody>";
}

std::string html_of(const Paragraph& block) { return fmt::format("<p>{}</p>\n", escaped(block.text)); }

std::string html_of(const KeyNumbers& block) {
  std::string out = "<dl class=\"key-numbers\">\n";
  for (const KeyNumber& number : block.list) {
    const std::string note = number.note.empty() ? "" : fmt::format("<dd class=\"note\">{}</dd>", escaped(number.note));
    out += fmt::format("<div><dt>{}</dt><dd class=\"value\">{}</dd>{}</div>\n", escaped(number.name),
                       escaped(number.value), note);
  }
  return out + "</dl>\n";
}

// Wide tables scroll inside a region of their own, which the keyboard reaches.
std::string html_of(const TableBlock& block) {
  const std::string note = block.note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(block.note));
  return fmt::format(
      "<div class=\"table\" id=\"{0}\">\n<h3 id=\"{0}-title\">{1}</h3>\n{2}"
      "<div class=\"{4}\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{0}-title\">\n"
      "<table aria-labelledby=\"{0}-title\"{5}>\n{3}\n</table>\n</div>\n</div>\n",
      block.id, escaped(block.title), note, grid_html(block.grid),
      block.grid.rows.size() > kTallTable ? "scroll tall" : "scroll",
      has_sentences(block.grid) ? " class=\"stacks\"" : "");
}

std::string zoom_buttons(const Chart& chart) {
  if (chart.zoom.first.empty() && chart.zoom.second.empty()) {
    return "";
  }
  const std::string title = escaped(chart.title);
  const auto button = [&](const char* action, const char* sign, const char* words) {
    return fmt::format("<button type=\"button\" data-zoom=\"{0}\" aria-label=\"{2}: {3}\" title=\"{2}\">{1}</button>",
                       action, sign, words, title);
  };
  return fmt::format(
      "<div class=\"tools\" role=\"group\" aria-label=\"Zoom\">{}{}{}"
      "<span class=\"hint\">Drag to move. Ctrl and wheel to zoom.</span></div>\n",
      button("in", "+", "Zoom in"), button("out", "−", "Zoom out"), button("reset", "Reset", "Reset the zoom"));
}

// What the browser fills in: controls, the drawing, and the data when they are opened.
std::string html_of(const Chart& chart) {
  return fmt::format(
      "<figure class=\"chart\" id=\"{0}\" aria-labelledby=\"{0}-title\" aria-describedby=\"{0}-caption\">\n"
      "<h3 id=\"{0}-title\">{1}</h3>\n<form class=\"controls\"></form>\n<div class=\"drawing\"></div>\n{2}"
      "<figcaption id=\"{0}-caption\">{3}</figcaption>\n"
      "<details class=\"data\"><summary>Data of this chart ({4})</summary></details>\n</figure>\n",
      chart.id, escaped(chart.title), zoom_buttons(chart), escaped(chart.caption),
      counted(chart.data.rows.size(), "row"));
}

Json chart_json(const Chart& chart) {
  Json columns = Json::array();
  for (const Heading& heading : chart.data.columns) {
    columns.push_back({{"name", heading.name}, {"title", heading.title}});
  }
  return {{"id", chart.id},     {"title", chart.title},
          {"spec", chart.spec}, {"zoom", {chart.zoom.first, chart.zoom.second}},
          {"columns", columns}, {"rows", chart.data.rows}};
}

std::string charts_json(const Page& page) {
  Json list = Json::array();
  for (const Chart* chart : blocks_of<Chart>(page)) {
    list.push_back(chart_json(*chart));
  }
  return script_json(list);
}

std::string navigation(const Page& page) {
  std::string out = "<nav aria-label=\"Sections\"><ul>\n";
  for (const Section& section : page.sections) {
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escaped(section.title));
  }
  return out + "</ul></nav>\n";
}

std::string body(const Page& page) {
  std::string out;
  for (const Section& section : page.sections) {
    out += fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>\n",
                       section.id, escaped(section.title));
    for (const Block& block : section.blocks) {
      out += std::visit([](const auto& kind) { return html_of(kind); }, block);
    }
    out += "</section>\n";
  }
  return out;
}

// The nonce that scripts of this page carry. It depends on everything on the page, so no text there can name it.
std::string script_word(const std::string& content) {
  Digest backwards;
  backwards.add_bytes(std::string(content.rbegin(), content.rend()));
  return fmt::format("{:016x}{:016x}", digest(content), backwards.value());
}

// `version` is that of a live page; empty: none.
std::string head(const Page& page, const PageFiles& files, const std::string& word, const std::string& version) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"{4}>\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-{0}'; "
      "style-src 'unsafe-inline'; img-src data: blob:;{5} base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"dissent {1}\">\n"
      "<title>{2}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{3}</style>\n</head>\n",
      word, kVersion, escaped(page.title), files.style,
      version.empty() ? "" : fmt::format(" data-version=\"{}\"", escaped(version)),
      version.empty() ? "" : " connect-src 'self';");
}

std::string html_page(const Page& page, const PageFiles& files, const std::string& version) {
  const std::string content = body(page);
  const std::string charts = charts_json(page);
  const std::string word = script_word(content + charts);
  std::string out = head(page, files, word, version);
  out += fmt::format(
      "<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<h1>{}</h1>\n"
      "<p class=\"subtitle\">{}</p>\n{}</header>\n<noscript><p>Charts are drawn by a script that this page holds. "
      "Without "
      "scripts, captions and tables say what they show.</p></noscript>\n<main id=\"main\">\n{}</main>\n"
      "<footer><p>Written by dissent {}. {}</p></footer>\n"
      "<script type=\"application/json\" id=\"charts\">{}</script>\n",
      escaped(page.title), escaped(page.subtitle), navigation(page), content, kVersion,
      version.empty() ? "This file is complete: it loads nothing." : "This page loads itself again when there is more.",
      charts);
  for (const std::string_view script : files.scripts) {
    out += fmt::format("<script nonce=\"{}\">\n{}</script>\n", word, script);
  }
  return out + "</body>\n</html>\n";
}

}  // namespace

std::string shown(const Json& cell, int digits) {
  if (cell.is_string()) {
    return cell.get<std::string>();
  }
  if (cell.is_number_integer()) {
    return cell.dump();
  }
  return is_finite(cell) ? fmt::format("{:.{}g}", cell.get<double>(), digits) : "–";
}

std::string to_html(const Page& page, const PageFiles& files) { return html_page(page, files, ""); }

std::string to_live_html(const Page& page, const PageFiles& files, const std::string& version) {
  return html_page(page, files, version);
}

}  // namespace dissent::report
