#include "dissent/report/html.hpp"

namespace dissent::report {
namespace {

std::string dumped(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  return nlohmann::ordered_json::parse(dumped(std::string(bytes))).get<std::string>();
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '\0':
        out += "\xEF\xBF\xBD";  // a parser would turn it into U+FFFD, and call it an error
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string script_json(const nlohmann::ordered_json& value) {
  const std::string text = dumped(value);
  std::string out;
  out.reserve(text.size());
  for (std::size_t k = 0; k < text.size(); ++k) {
    const std::string_view rest = std::string_view(text).substr(k);
    if (text[k] == '<' || text[k] == '>' || text[k] == '&') {
      out += text[k] == '<' ? "\\u003c" : text[k] == '>' ? "\\u003e" : "\\u0026";
    } else if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
      out += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      k += 2;
    } else {
      out += text[k];
    }
  }
  return out;
}

}  // namespace dissent::report
