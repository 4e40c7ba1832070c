// A report as plain values: a page of sections, each a list of texts, key numbers, tables and charts.
//
// Code that makes a page knows nothing about markup, and code that writes one (page_html.hpp, page_text.hpp) knows
// nothing about models or campaigns. Texts may hold anything, like the names of people's columns: the writers escape
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dissent::report {

using Json = nlohmann::ordered_json;

struct Heading {
  std::string name;   // in files, and in the expressions of charts; for charts only letters, digits and _
  std::string title;  // for people
};

// Cells are numbers, texts, or null for what is not known.
struct Grid {
  std::vector<Heading> columns = {};
  std::vector<std::vector<Json>> rows = {};
};

struct Paragraph {
  std::string text;
};

// The few numbers that a reader came for.
struct KeyNumber {
  std::string name;
  std::string value;
  std::string note = {};
};
struct KeyNumbers {
  std::vector<KeyNumber> list;
};

struct TableBlock {
  std::string id;  // letters, digits and -; unique on a page
  std::string title;
  std::string note = {};
  Grid grid = {};
};

// A Vega-Lite specification without its data, which are in `data`. The browser draws it.
struct Chart {
  std::string id;
  std::string title;
  std::string caption;  // what it says, with its key number: all that some readers get
  Json spec = {};
  Grid data = {};
  std::pair<std::string, std::string> zoom = {};  // fields on x and y that can be zoomed; empty: none
};

using Block = std::variant<Paragraph, KeyNumbers, TableBlock, Chart>;

struct Section {
  std::string id;
  std::string title;
  std::vector<Block> blocks = {};
};

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<Section> sections = {};
};

// All blocks of a kind, in the order of the page.
template <class Kind>
std::vector<const Kind*> blocks_of(const Page& page) {
  std::vector<const Kind*> found;
  for (const Section& section : page.sections) {
    for (const Block& block : section.blocks) {
      if (const auto* kind = std::get_if<Kind>(&block)) {
        found.push_back(kind);
      }
    }
  }
  return found;
}

}  // namespace dissent::report
