// Which form a pairwise estimate takes, and how its divergence follows from the form's values.
#pragma once

#include "dissent/device/score_combine.hpp"
#include "dissent/device/score_forms.hpp"

namespace dissent::score {

enum class FormKind : int { kKl, kBhattacharyya, kChernoff, kWasserstein };

struct PairwiseRule {
  FormKind form = FormKind::kKl;
  double alpha = 0.5;  // of Chernoff's form, in (0, 1)
  FinishRule finish = {};
};

// Calls body(form), on the host.
template <class Body>
void visit_form(const PairwiseRule& rule, const Body& body) {
  switch (rule.form) {
    case FormKind::kKl:
      return body(KlForm{});
    case FormKind::kBhattacharyya:
      return body(BhattacharyyaForm{});
    case FormKind::kChernoff:
      return body(ChernoffForm{rule.alpha});
    case FormKind::kWasserstein:
      return body(WassersteinForm{});
  }
}

}  // namespace dissent::score
