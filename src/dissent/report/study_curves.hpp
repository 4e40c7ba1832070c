// Learning curves of a study: the median over seeds by the number of labelled rows, between the quartiles.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dissent/report/page.hpp"
#include "dissent/study/results.hpp"

namespace dissent::report {

// Fields of RoundRecord that are known for some round: how good its model is, what it chose, how long that took.
enum class Metrics { kQuality, kChoice, kTime };
std::vector<Heading> known_metrics(const StudyResults& results, Metrics which);

// One curve for each method; problem, model, metric and methods can be chosen. There is at least one metric.
Chart curve_chart(const StudyResults& results, const std::string& id, const std::string& title,
                  const std::vector<Heading>& metrics);

}  // namespace dissent::report
