// Parts of Vega-Lite specifications that charts share: how they look, what can be switched, how they zoom.
//
// Colours are those of Okabe and Ito, which people without full colour vision can tell apart, and every colour has a
// shape of its own. Lines and texts are `currentColor`: the page's style decides, in light, in dark and in print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/report/page.hpp"

namespace dissent::report {

inline constexpr std::string_view kBlue = "#0072B2";
inline constexpr std::string_view kOrange = "#E69F00";
inline constexpr std::string_view kSkyBlue = "#56B4E9";
inline constexpr std::string_view kPurple = "#CC79A7";
inline constexpr std::string_view kGreen = "#009E73";
inline constexpr std::string_view kVermillion = "#D55E00";
inline constexpr std::string_view kGrey = "#8A8A8A";

// Points of one picture; more would hide each other, and make the page slow.
inline constexpr std::size_t kMostPoints = 2000;

// Rows to draw of `num_rows`, ascending: all, or `most` of them drawn at random, always the same.
std::vector<std::size_t> drawn_rows(std::size_t num_rows, std::size_t most = kMostPoints);
// "" or " 2000 of 10000 rows are drawn, taken at random."
std::string drawn_text(std::size_t num_drawn, std::size_t num_rows);

// A chart that fills the width of its place; `description` is its text alternative.
Json chart_spec(const std::string& description, Json layers);

// A number on an axis whose range follows the data.
Json axis(std::string_view field, const std::string& title, const Json& more = Json::object());

// A group that a point belongs to: its colour and shape, in one legend.
struct Group {
  std::string name;
  std::string_view colour;
  std::string shape;
};
void add_groups(Json& encoding, std::string_view field, const std::vector<Group>& groups);

// Shown when the pointer is over a mark.
Json tooltip(const std::vector<Heading>& columns);

// A control beside the chart. In expressions, `name` is the number of the option chosen.
Json choice(std::string_view name, const std::string& label, const std::vector<std::string>& options,
            bool as_list = false);
// Puts the field that `name` chooses into `shown`, and leaves out rows where it is not known.
Json chosen_field(std::string_view name, const std::vector<std::string>& fields);
// An axis title that follows the choice.
Json chosen_title(std::string_view name, const std::vector<std::string>& titles);

// The parameter of a layer that can be moved and zoomed.
Json zoomable();

// A dashed line at y.
Json line_at(double y);

}  // namespace dissent::report
