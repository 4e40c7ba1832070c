#include "dissent/table/unread_cells.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <regex>
#include <string>

#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

// What comes before numbers: signs, currencies, marks for at most, at least, about, plus or minus; and a typeset minus.
constexpr std::string_view kBeforeNumbers[] = {"<",      ">",      "=",      "~",      "+",      "-",      "$",     " ",
                                               "\u2264", "\u2265", "\u2248", "\u00b1", "\u2212", "\u20ac", "\u00a3"};

// Units as people write them after numbers, and parts of units like mg/L or m2.
constexpr std::string_view kUnits[] = {
    "%",       "\u2030", "\u00b0", "\u00b0C", "\u00b0F", "\u20ac",  "$",       "\u00a3", "EUR",  "USD",  "GBP", "CHF",
    "ppm",     "ppb",    "nm",     "um",      "\u00b5m", "\u03bcm", "mm",      "cm",     "dm",   "m",    "km",  "in",
    "ft",      "mi",     "ug",     "\u00b5g", "mg",      "g",       "kg",      "t",      "lb",   "oz",   "ns",  "us",
    "ms",      "s",      "sec",    "min",     "h",       "hr",      "hrs",     "d",      "day",  "days", "yr",  "K",
    "C",       "F",      "Pa",     "hPa",     "kPa",     "MPa",     "GPa",     "bar",    "mbar", "atm",  "psi", "N",
    "kN",      "MN",     "Nm",     "J",       "kJ",      "MJ",      "cal",     "kcal",   "eV",   "keV",  "W",   "kW",
    "MW",      "kWh",    "V",      "mV",      "kV",      "A",       "mA",      "Hz",     "kHz",  "MHz",  "GHz", "rpm",
    "l",       "L",      "ml",     "mL",      "ul",      "\u00b5l", "\u00b5L", "mol",    "mmol", "M",    "mM",  "nM",
    "\u00b5M", "dB",     "deg",    "rad",     "pH",      "px",      "kB",      "MB",     "GB",   "mPa",  "cP",  "cSt"};

// Whether a text is made of units: "mg/L", "kg m-3", "m\u00b2".
bool is_unit(std::string_view text) {
  constexpr std::string_view kBetween = " /*.^-123";  // 1 to 3 for powers
  constexpr std::string_view kPowers[] = {"\u00b2", "\u00b3", "\u00b7", "\u207b", "\u00b9"};
  bool any = false;
  while (!text.empty()) {
    if (kBetween.find(text[0]) != std::string_view::npos) {
      text.remove_prefix(1);
      continue;
    }
    std::size_t length = 0;
    for (const std::string_view power : kPowers) {
      length = text.starts_with(power) ? power.size() : length;
    }
    if (length == 0) {
      for (const std::string_view unit : kUnits) {
        length = text.starts_with(unit) ? std::max(length, unit.size()) : length;
      }
      any = any || length > 0;
    }
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
    const bool in_word = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0;
    if (in_word) {
      return false;
    }
  }
  return any;
}

// A day and a month, in either order.
bool is_day_and_month(int a, int b) { return std::min(a, b) >= 1 && std::min(a, b) <= 12 && std::max(a, b) <= 31; }

// With @ in place of the names of months.
std::string with_months_marked(std::string_view text) {
  static const std::regex month(
      "jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec("
      "ember)?",
      std::regex::icase | std::regex::optimize);
  std::string plain;
  for (std::size_t k = 0; k < text.size();) {
    std::size_t end = k;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])) != 0) {
      ++end;
    }
    if (end > k && std::regex_match(text.begin() + static_cast<std::ptrdiff_t>(k),
                                    text.begin() + static_cast<std::ptrdiff_t>(end), month)) {
      plain += '@';
    } else {
      plain += text.substr(k, std::max<std::size_t>(1, end - k));
    }
    k = std::max(k + 1, end);
  }
  return plain;
}

}  // namespace

bool is_measurement(std::string_view text) {
  for (const std::string_view* before = std::begin(kBeforeNumbers); before != std::end(kBeforeNumbers);) {
    const bool found = text.starts_with(*before);
    text.remove_prefix(found ? before->size() : 0);
    before = found ? std::begin(kBeforeNumbers) : before + 1;
  }
  const std::size_t end = std::min(text.find_first_not_of("0123456789.,"), text.size());
  std::string number(text.substr(0, end));
  std::ranges::replace(number, ',', '.');
  const std::string_view behind = text.substr(end);
  const bool is_letter = behind.size() == 1 && behind[0] >= 'A' && behind[0] <= 'Z';
  double ignored = 0;
  return parse_cell(number, ignored) == NumberText::kNumber && (behind.empty() || (!is_letter && is_unit(behind)));
}

bool looks_like_time(std::string_view text) {
  static const std::regex pattern(
      R"(((\d\d?)[./-](\d\d?)[./-](\d\d|\d{4})|\d{4}[./-]\d\d?[./-]\d\d?|\d\d?[ ./-]*@[ ,./-]*\d{2,4}|@[ ./-]*\d\d?[ ,./-]+\d{2,4})?)"
      R"([ T,]*([0-2]?\d:[0-5]\d(:[0-5]\d(\.\d+)?)?)?( ?[ap]\.?m\.?)?( ?(Z|[+-]\d\d:?\d\d))?)",
      std::regex::icase | std::regex::optimize);
  constexpr std::size_t kLongest = 40;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() > kLongest || text.find_first_of(":./- ") == std::string_view::npos ||
      std::ranges::none_of(text, is_digit)) {
    return false;
  }
  const std::string plain = with_months_marked(text);
  std::smatch found;
  return std::regex_match(plain, found, pattern) &&
         (!found[2].matched || is_day_and_month(std::stoi(found[2]), std::stoi(found[3])));
}

}  // namespace dissent
