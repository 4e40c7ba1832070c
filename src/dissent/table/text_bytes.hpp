// Text that is not UTF-8: spreadsheets on Windows save Windows-1252, which Latin-1 is a part of.
#pragma once

#include <string>
#include <string_view>

namespace dissent {

bool is_utf8(std::string_view text);

// Windows-1252 as UTF-8. The five bytes it leaves open become the control characters of their number, as on the web.
std::string utf8_of_windows(std::string_view text);

}  // namespace dissent
