// What the charts of a study share: names in the order of the grid, how a method looks wherever it is drawn, and the
// controls that choose a problem, a model and methods.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/report/page.hpp"
#include "dissent/study/results.hpp"

namespace dissent::report {

struct StudyNames {
  std::vector<std::string> problems;
  std::vector<std::string> models;
  std::vector<std::string> methods;
};
StudyNames study_names(const StudyResults& results);

// Each name once, in the order of first use.
std::vector<std::string> distinct(const std::vector<std::string>& names);

// The different texts of a column.
std::vector<std::string> texts_of(const Grid& grid, std::string_view column);

// Colour of each series, with the shape of its points or the dashes of its lines, in one legend. For a line with
// points, the legend shows the points.
enum class Mark { kLine, kPoint, kArea, kLineWithPoints };
void add_series(Json& encoding, std::string_view field, const std::vector<std::string>& names, Mark mark);

// A list that keeps only rows whose `field` has the chosen name; nothing if there is only one name.
void add_filter(Chart& chart, std::string_view field, const std::string& label, const std::vector<std::string>& names);

// A tick box for each name, which keeps only rows of the ticked ones; nothing if there is only one name.
void add_boxes(Chart& chart, std::string_view field, const std::vector<std::string>& names);

// An axis of names, in their order, and the height of a chart that gives each of them `step` pixels.
Json names_axis(std::string_view field, const std::vector<std::string>& names);
inline int height_of(const std::vector<std::string>& names, int step) { return step * static_cast<int>(names.size()); }

// The title of an axis, above the chart because it would not fit beside it on a phone.
Json small_title(const std::string& text);

// Names as a list in a Vega expression, whatever they are made of.
std::string expression_list(const std::vector<std::string>& names);

}  // namespace dissent::report
