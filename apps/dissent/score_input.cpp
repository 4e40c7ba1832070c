#include "score_input.hpp"

#include <unistd.h>

#include <string_view>
#include <utility>

#include "dissent/array/npz.hpp"
#include "dissent/table/csv.hpp"

namespace dissent::cli {
namespace {

// "mixture: stddev[3, 0, 0] ..." -> "stddev[3, 0, 0] ..."
std::string_view without_prefix(std::string_view message) {
  const std::size_t colon = message.find(": ");
  return colon == std::string_view::npos ? message : message.substr(colon + 2);
}

// [N, M] is [N, M, 1].
Shape with_outputs(Shape shape) {
  if (shape.size() == 2) {
    shape.push_back(1);
  }
  return shape;
}

ScoreInput combine(NpyFile mean, NpyFile spread, bool full) {
  const Shape shape = with_outputs(mean.shape());
  check(shape.size() == 3,
        "{}: mean has shape {}; it must be [N, M, D] (inputs, components, outputs), or [N, M] for D = 1", mean.source(),
        shape_text(mean.shape()));
  Shape wanted = shape;
  if (full) {
    wanted.push_back(shape[2]);
  }
  const bool agrees = full ? spread.shape() == wanted : with_outputs(spread.shape()) == wanted;
  check(agrees, "{}: {} has shape {}, but the mean {} of {} needs {}", spread.source(), full ? "covariance" : "stddev",
        shape_text(spread.shape()), shape_text(mean.shape()), mean.source(), shape_text(wanted));
  check(shape[1] > 0, "{}: mean has shape {}: M = 0; a mixture needs at least one component", mean.source(),
        shape_text(mean.shape()));
  check(shape[2] > 0, "{}: mean has shape {}: D = 0; a mixture needs at least one output", mean.source(),
        shape_text(mean.shape()));
  return {std::move(mean), std::move(spread), full, shape[0], shape[1], shape[2], {}, {}};
}

ScoreInput open_npz(const std::string& path) {
  const NpzFile file(path);
  const bool has_stddev = file.contains("stddev");
  const bool has_covariance = file.contains("covariance");
  const std::string names = file.names().empty() ? "none" : fmt::format("{}", fmt::join(file.names(), ", "));
  check(file.contains("mean"), "{}: has no array 'mean'; it has: {}", path, names);
  check(has_stddev || has_covariance, "{}: has neither 'stddev' nor 'covariance'; it has: {}", path, names);
  check(!has_stddev || !has_covariance, "{}: has both 'stddev' and 'covariance'; leave one out", path);
  NpyFile mean = file.open("mean");
  NpyFile spread = file.open(has_covariance ? "covariance" : "stddev");
  ScoreInput input = combine(std::move(mean), std::move(spread), has_covariance);
  if (file.contains("weights")) {
    const Array weights = file.load("weights");
    check(weights.shape().size() == 1, "{}: weights has shape {}; it must be [M]", weights.source(),
          shape_text(weights.shape()));
    input.weights = weights.to<double>();
    input.weights_source = weights.source();
    check(input.weights.size() == input.num_components, "{}: has {} weights for {} components; give one per component",
          input.weights_source, input.weights.size(), input.num_components);
  }
  return input;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::vector<double> read_weights_csv(const std::string& path) {
  const Table table = read_csv(path);
  check(table.columns.size() == 1, "{}: has {} columns; weights are one column with a header, a row per component",
        path, table.columns.size());
  const std::vector<std::string> names{table.columns[0].name};
  return table.matrix(names);
}

std::vector<double> read_weights_npy(const std::string& path) {
  const Array array = read_npy(path);
  check(array.shape().size() == 1, "{}: has shape {}; weights must be [M]", path, shape_text(array.shape()));
  return array.to<double>();
}

}  // namespace

ScoreInput open_score_input(const std::string& input) {
  const std::size_t comma = input.find(',');
  if (comma == std::string::npos || exists(input)) {
    check(!input.ends_with(".npy"), "{}: is one array; give mean and stddev (or covariance) as 'MEAN.npy,STDDEV.npy'",
          input);
    return open_npz(input);
  }
  const std::string first = input.substr(0, comma);
  const std::string second = input.substr(comma + 1);
  check(!first.empty() && !second.empty() && second.find(',') == std::string::npos,
        "'{}': two files are expected, as in 'MEAN.npy,STDDEV.npy'", input);
  NpyFile mean(first);
  NpyFile spread(second);
  const bool full = spread.shape().size() == 4;
  return combine(std::move(mean), std::move(spread), full);
}

template <class T>
MixtureView<T> MixtureReader<T>::read(std::size_t begin, std::size_t end) {
  MixtureView<T> view{end - begin, input_.num_components, input_.num_outputs};
  view.mean = input_.mean.rows(begin, end, mean_);
  const T* spread = input_.spread.rows(begin, end, spread_);
  (input_.full ? view.covariance : view.stddev) = spread;
  return view;
}

template <class T>
void MixtureReader<T>::release(std::size_t begin, std::size_t end) const {
  input_.mean.release(begin, end);
  input_.spread.release(begin, end);
}

template class MixtureReader<float>;
template class MixtureReader<double>;

InputError in_file(const ScoreInput& input, const InputError& error) {
  const std::string_view message = error.what();
  const std::string_view rest = without_prefix(message);
  if (!message.starts_with("mixture: ")) {
    return error;  // names its file already, or is no matter of the data
  }
  const std::string& source = rest.starts_with("mean") ? input.mean.source() : input.spread.source();
  return InputError(fmt::format("{}: {}", source, rest));
}

std::vector<double> parse_weights(const std::string& text) {
  if (text.ends_with(".csv")) {
    return read_weights_csv(text);
  }
  if (text.ends_with(".npy")) {
    return read_weights_npy(text);
  }
  std::vector<double> weights;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string field = text.substr(begin, end - begin);
    double value = 0;
    check(parse_number(field, value) == NumberText::kNumber,
          "--weights: '{}' is not a number; give one per component, as in 0.5,0.3,0.2, or a .npy or .csv file", field);
    weights.push_back(value);
    begin = end + 1;
  }
  return weights;
}

Weights checked_weights(const std::vector<double>& given, std::size_t num_components, const std::string& source) {
  try {
    check(source.empty() || !given.empty(), "weights: there are none; give one per component");
    return Weights::from(given, num_components);
  } catch (const InputError& error) {
    fail("{}: {}", source, without_prefix(error.what()));
  }
}

}  // namespace dissent::cli
