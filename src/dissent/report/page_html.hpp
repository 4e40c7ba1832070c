// A page as one HTML file that needs nothing else: style, scripts and data are inside, and its policy lets the browser
// connect to nothing and run only the scripts given here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dissent/report/page.hpp"

namespace dissent::report {

// What the browser needs besides the page's own text.
struct PageFiles {
  std::string_view style;                 // CSS
  std::vector<std::string_view> scripts;  // in the order they are run: libraries first
};

std::string to_html(const Page& page, const PageFiles& files);

// As a server shows it: the page asks the server now and then for its `version`, and reloads when that has changed. Its
// policy lets it connect only to that server.
std::string to_live_html(const Page& page, const PageFiles& files, const std::string& version);

// A number as people read it: whole ones in full, others with `digits` significant digits; "–" for null.
std::string shown(const Json& cell, int digits = 4);

}  // namespace dissent::report
