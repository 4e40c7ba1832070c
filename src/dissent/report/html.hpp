// The one place where texts become markup.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dissent::report {

// Any bytes as UTF-8: invalid ones become U+FFFD.
std::string valid_utf8(std::string_view bytes);

// For the content of an element, or between the double quotes of an attribute.
std::string escaped(std::string_view text);

// JSON as content of a <script>: no '<', '>' or '&' is left that could end it or open a comment, and no line separator
// that some parsers take for the end of a line. Numbers that are not finite are null.
std::string script_json(const nlohmann::ordered_json& value);

}  // namespace dissent::report
