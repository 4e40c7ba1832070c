// What a study has found, as a page: verdicts, results beside the paper's, curves, comparisons over problems, side
// studies, and where its campaigns ran. A study that is not done yet gets a page of what there is.
#pragma once

#include <span>

#include "dissent/report/page.hpp"
#include "dissent/study/results.hpp"

namespace dissent::report {

Page study_page(const StudyResults& results);
// Several on one page: judged together, and drawn in the same charts (pooled() in study/sources.hpp).
Page study_page(std::span<const StudyResults> studies);

}  // namespace dissent::report
