// Pages: texts stay texts whatever they hold, and every number is there.
#include <gtest/gtest.h>

#include <limits>

#include "dissent/report/html.hpp"
#include "dissent/report/page_html.hpp"
#include "dissent/report/page_text.hpp"

namespace dissent::report {
namespace {

const std::string kHostile = "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">&amp; ' `|*";

Page hostile_page() {
  Chart chart{.id = "c", .title = kHostile, .caption = kHostile};
  chart.spec = {{"description", kHostile}};
  chart.data = {{{"x", kHostile}}, {{kHostile}, {1.5}, {nullptr}}};
  TableBlock table{.id = "t", .title = kHostile, .note = kHostile, .grid = {{{"a", kHostile}}, {{kHostile}}}};
  return {kHostile,
          kHostile,
          {{"s", kHostile, {Paragraph{kHostile}, KeyNumbers{{{kHostile, kHostile, kHostile}}}, table, chart}}}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Html, EscapesWhatMarkupIsMadeOf) {
  EXPECT_EQ(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escaped("naïve ☃"), "naïve ☃");
  EXPECT_EQ(escaped(""), "");
}

TEST(Html, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(escaped("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(escaped(std::string_view("a\0z", 3)), "a\xEF\xBF\xBDz");
  EXPECT_EQ(script_json(std::string("\xFF")), "\"\xEF\xBF\xBD\"");
}

TEST(Html, JsonInAScriptCannotEndIt) {
  const Json value{{"</script>", "<!--<script>\xE2\x80\xA8 & \xE2\x80\xA9"}};
  const std::string text = script_json(value);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xA8"), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xA9"), std::string::npos);
  EXPECT_EQ(Json::parse(text), value);
}

TEST(Html, NumbersThatAreNotFiniteAreNull) {
  EXPECT_EQ(script_json({1.5, std::numeric_limits<double>::infinity(), std::nan("")}), "[1.5,null,null]");
}

TEST(PageHtml, HostileTextsInjectNothing) {
  const std::string html = to_html(hostile_page(), {"", {"one();", "two();"}});
  EXPECT_EQ(count(html, "<script"), 3U);  // the data and two scripts
  EXPECT_EQ(count(html, "</script"), 3U);
  EXPECT_EQ(count(html, "<img"), 0U);
  EXPECT_EQ(count(html, "alert(1)"), count(html, "alert(1)&lt;/script") + count(html, "alert(1)\\u003c/script"));
}

TEST(PageHtml, ScriptsCarryTheWordOfThePolicyAndItFollowsFromTheContent) {
  Page page = hostile_page();
  const auto word = [](const std::string& html) {
    const std::size_t at = html.find("'nonce-") + 7;
    return html.substr(at, html.find('\'', at) - at);
  };
  const std::string html = to_html(page, {"", {"one();", "two();"}});
  EXPECT_EQ(word(html).size(), 32U);
  EXPECT_EQ(count(html, "<script nonce=\"" + word(html) + "\">"), 2U);
  page.sections[0].blocks.emplace_back(Paragraph{"more"});
  EXPECT_NE(word(to_html(page, {})), word(html));
}

TEST(PageHtml, CellsShowNumbersShortAndKeepThemWhole) {
  const TableBlock table{
      .id = "t", .title = "T", .grid = {{{"a", "A"}}, {{0.123456789}, {12345678}, {nullptr}, {std::nan("")}}}};
  const std::string html = to_html({"P", "", {{"s", "S", {table}}}}, {});
  EXPECT_NE(html.find("<data value=\"0.123456789\">0.1235</data>"), std::string::npos);
  EXPECT_NE(html.find("<data value=\"12345678\">12345678</data>"), std::string::npos);
  EXPECT_EQ(count(html, "<td class=\"n\">–</td>"), 2U);
  EXPECT_NE(html.find("<th scope=\"col\" class=\"n\">A</th>"), std::string::npos);
}

// On a narrow screen their cells stand below each other, each with its column's name.
TEST(PageHtml, TablesOfSentencesStack) {
  TableBlock table{.id = "t", .title = "T", .grid = {{{"a", "A"}, {"b", "B <i>"}, {"c", "C"}}, {{"x", "y", 1}}}};
  const auto html = [&] { return to_html({"P", "", {{"s", "S", {table}}}}, {}); };
  EXPECT_EQ(count(html(), "stacks") + count(html(), "data-title"), 0U);
  table.grid.rows.push_back({"x", std::string(50, 'y'), 2});
  EXPECT_EQ(count(html(), " class=\"stacks\">"), 1U);
  EXPECT_EQ(count(html(), "<td class=\"short\">x</td>"), 2U);  // the first is the heading of its row
  EXPECT_EQ(count(html(), " data-title=\"B &lt;i&gt;\">"), 2U);
  EXPECT_EQ(count(html(), "<td class=\"n\" data-title=\"C\">"), 2U);
}

TEST(PageHtml, LoadsNothing) {
  const std::string html = to_html(hostile_page(), {"", {}});
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(html.find("src=\"http"), std::string::npos);
  EXPECT_EQ(html.find("href=\"http"), std::string::npos);
}

TEST(PageText, MarkdownKeepsTablesTables) {
  const TableBlock table{.id = "t", .title = "T", .grid = {{{"a", "A|B"}, {"b", "B"}}, {{"x\ny|z", 0.5}}}};
  EXPECT_EQ(to_markdown({"P", "sub", {{"s", "S", {table}}}}),
            "# P\n\nsub\n\n## S\n\n### T\n\n| A\\|B | B |\n|---|---|\n| x y\\|z | 0.5 |\n\n");
}

TEST(PageText, CsvHasEveryCell) {
  const TableBlock table{.id = "t", .title = "T", .grid = {{{"a", "A"}, {"b", "B"}}, {{"x,y", 0.1}, {nullptr, 3}}}};
  Chart chart{.id = "c", .title = "C", .caption = ""};
  chart.data = {{{"z", "Z"}}, {{2.5}}};
  EXPECT_EQ(to_csv({"P", "", {{"s", "S", {chart, table}}}}),
            "table,row,column,value\nt,0,a,\"x,y\"\nt,0,b,0.1\nt,1,a,\nt,1,b,3\nc,0,z,2.5\n");
}

TEST(PageText, JsonHasTablesAndCharts) {
  const Json json = tables_json(hostile_page());
  EXPECT_EQ(json["tables"][0]["id"], "t");
  EXPECT_EQ(json["tables"][0]["rows"], Json::parse(Json(std::vector<std::vector<Json>>{{kHostile}}).dump()));
  EXPECT_EQ(json["charts"][0]["columns"], Json::array({"x"}));
  EXPECT_EQ(json["charts"][0]["rows"].size(), 3U);
}

}  // namespace
}  // namespace dissent::report
