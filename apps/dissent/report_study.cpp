#include "report_study.hpp"

#include "dissent/base/error.hpp"
#ifdef DISSENT_HAS_STUDIES
#include "dissent/report/study_page.hpp"
#include "dissent/study/sources.hpp"
#endif

namespace dissent::cli {

#ifdef DISSENT_HAS_STUDIES
report::Page study_report(const std::vector<std::string>& sources, const std::vector<std::string>& studies) {
  return report::study_page(read_sources(sources, studies));
}
#else
report::Page study_report(const std::vector<std::string>& sources, const std::vector<std::string>&) {
  fail("{}: this program was built without studies; 'dissent study' says what it lacks", sources.front());
}
#endif

}  // namespace dissent::cli
