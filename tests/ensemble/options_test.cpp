// Options by the names of their fields, and what a model kind's row says of them.
#include "dissent/ensemble/options.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "dissent/ensemble/model_kind.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

Fault fault_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.fault();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(ModelKinds, AreFoundByTheirNames) {
  for (const ModelKind& kind : model_kinds()) {
    EXPECT_EQ(model_from_name(kind.name), kind.model);
    EXPECT_EQ(model_name(kind.model), kind.name);
    EXPECT_EQ(EnsembleOptions{.model = kind.model}.hidden_sizes(),
              std::vector<std::size_t>(kind.hidden.begin(), kind.hidden.end()));
  }
  const Fault fault = fault_of([] { model_from_name("flwo"); });
  EXPECT_EQ(fault.argument, "model");
  EXPECT_EQ(fault.value, "flwo");
  EXPECT_EQ(fault.rule, "there are: flow, pne, gp, auto; did you mean 'flow'?");
}

TEST(FitOptions, AnOptionOfTheFlowIsRefusedWithoutOne) {
  check_given(Model::kFlow, {{"bins", std::uint64_t{6}}, {"epochs", std::uint64_t{2}}});
  check_given(Model::kPne, {{"epochs", std::uint64_t{2}}, {"hidden", std::vector<std::uint64_t>{8}}});
  const Fault fault = fault_of([] {
    check_given(Model::kPne, {{"epochs", std::uint64_t{2}}, {"bins", std::uint64_t{6}}});
  });
  EXPECT_EQ(fault.argument, "bins");
  EXPECT_EQ(fault.value, "6");
  EXPECT_NE(fault.rule.find("has no flow"), std::string::npos);
}

TEST(FitOptions, EveryTransformCanBeChosen) {
  const test::SampleRows data = test::pairs(40);
  const TempDir folder;
  for (const std::string& name : transform_names()) {
    FitOptions options;
    options.ensemble.model = Model::kFlow;
    set_fields(options, {{"transform", name},
                         {"bins", std::uint64_t{6}},
                         {"tail_bound", 2.5},
                         {"components", std::uint64_t{2}},
                         {"epochs", std::uint64_t{2}}});
    const Ensemble model = fit(options, data.rows()).model;
    EXPECT_EQ(transform_name(model.output_map().layers().front().transform().kind), name);
    EXPECT_EQ(model.output_map().layers().front().transform().num_bins, 6);
    model.save(folder.file("model"));
    const Ensemble loaded = Ensemble::load(folder.file("model"));
    EXPECT_EQ(loaded.describe(), model.describe());
    EXPECT_EQ(loaded.log_density(data.x, data.y), model.log_density(data.x, data.y));
  }
  FitOptions options;
  EXPECT_EQ(fault_of([&] { set_fields(options, {{"transform", std::string("septic")}}); }).argument, "transform");
  EXPECT_EQ(fault_of([&] { set_fields(options, {{"bins", std::uint64_t{1}}}); }).argument, "bins");
  EXPECT_EQ(fault_of([&] { set_fields(options, {{"tail_bound", 0.0}}); }).argument, "tail_bound");
}

// So that whoever knows the table can name it.
TEST(FitErrors, NameRowAndColumnAndNoSource) {
  test::SampleRows data = test::pairs(20);
  const Ensemble model({}, data.columns());
  data.y[2 * 4 + 1] = std::numeric_limits<double>::infinity();
  Fault fault = fault_of([&] { fit(FitOptions(), data.rows()); });
  EXPECT_EQ(fault.source, "");
  EXPECT_EQ(fault.column, "v");
  EXPECT_EQ(fault.row, 4U);
  EXPECT_EQ(fault.value, "inf");
  data.x[2 * 3] = 1e300;
  fault = fault_of([&] { model.check_rows(data.x, "pool.csv", [](std::size_t row) { return 100 + row; }); });
  EXPECT_EQ(fault.text(), "pool.csv: column 'a' row 104: '1e+300' is too far from the rows of the fit to compute with");
}

}  // namespace
}  // namespace dissent
