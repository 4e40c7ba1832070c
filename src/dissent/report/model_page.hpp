// What a model is, and how good it is on rows that it has not seen.
#pragma once

#include <string>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/report/held_out.hpp"
#include "dissent/report/page.hpp"

namespace dissent::report {

// Key numbers, pictures and tables of the model on those rows.
std::vector<Section> held_out_sections(const Ensemble& model, const HeldOut& held_out);

// What it is, and its columns; with the range of the held-out rows, if there are any.
Section model_section(const Ensemble& model, const HeldOut* held_out = nullptr);

// `name` is the model's file.
Page model_page(const std::string& name, const Ensemble& model, const HeldOut* held_out = nullptr);

}  // namespace dissent::report
