// The divergences of pairs of diagonal Gaussians as sums over outputs, in the forms of divergence/*_kernel.cpp; those
// files say why. score_form.hpp says what a form has.
#pragma once

#include "dissent/device/score_bhattacharyya_form.hpp"
#include "dissent/device/score_chernoff_form.hpp"
#include "dissent/device/score_form.hpp"
#include "dissent/device/score_kl_form.hpp"
#include "dissent/device/score_wasserstein_form.hpp"

namespace dissent::score {

// The form for sums in double of mixtures of T.
template <class T, class Form>
DISSENT_BOTH auto careful(const Form& form) {
  if constexpr (sizeof(T) == 4 && Form::kSplitsMeans) {
    return MixedKlForm{};
  } else {
    return form;
  }
}

}  // namespace dissent::score
