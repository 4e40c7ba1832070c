#include "dissent/mixture/mixture_file.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

constexpr const char* kBaseSpace = "base_space";

// [N, M] is [N, M, 1].
Shape with_outputs(Shape shape) {
  if (shape.size() == 2) {
    shape.push_back(1);
  }
  return shape;
}

MixtureFile combine(NpyFile mean, NpyFile spread, bool full) {
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
  return {std::move(mean), std::move(spread), full, shape[0], shape[1], shape[2], Weights::uniform(shape[1])};
}

Weights read_weights(const Array& array, std::size_t num_components) {
  check(array.shape().size() == 1, "{}: weights has shape {}; it must be [M]", array.source(),
        shape_text(array.shape()));
  check(array.size() == num_components, "{}: has {} weights for {} components; give one per component", array.source(),
        array.size(), num_components);
  try {
    return Weights::from(array.to<double>(), num_components);
  } catch (const InputError& error) {
    Fault fault = error.fault();
    fault.argument.clear();  // the source says which array it is
    fault.source = array.source();
    throw InputError(std::move(fault));
  }
}

Space read_space(const Array& array) {
  check(array.size() == 1, "{}: has shape {}; it must be one number, 0 or 1", array.source(),
        shape_text(array.shape()));
  return array.to<double>()[0] == 0 ? Space::kOutput : Space::kBase;
}

MixtureFile open_npz(const std::string& path, bool with_weights) {
  const NpzFile file(path);
  const bool has_stddev = file.contains("stddev");
  const bool has_covariance = file.contains("covariance");
  const std::string names = file.names().empty() ? "none" : fmt::format("{}", fmt::join(file.names(), ", "));
  const bool like_classes = file.contains("prob") || file.contains("probs");
  check(file.contains("mean"), "{}: has no array 'mean'; it has: {}{}", path, names,
        like_classes ? " (a classifier's array is named 'probabilities')" : "");
  check(has_stddev || has_covariance, "{}: has neither 'stddev' nor 'covariance'; it has: {}", path, names);
  check(!has_stddev || !has_covariance, "{}: has both 'stddev' and 'covariance'; leave one out", path);
  NpyFile mean = file.open("mean");
  NpyFile spread = file.open(has_covariance ? "covariance" : "stddev");
  MixtureFile mixture = combine(std::move(mean), std::move(spread), has_covariance);
  if (with_weights) {
    mixture.weights = archive_weights(file, mixture.num_components);
  }
  if (file.contains(kBaseSpace)) {
    mixture.space = read_space(file.load(kBaseSpace));
  }
  return mixture;
}

}  // namespace

Weights archive_weights(const NpzFile& file, std::size_t num_components) {
  return file.contains("weights") ? read_weights(file.load("weights"), num_components)
                                  : Weights::uniform(num_components);
}

MixtureFile open_mixture(const std::string& input, bool with_weights) {
  const std::size_t comma = input.find(',');
  std::error_code none;
  if (comma == std::string::npos || std::filesystem::exists(input, none)) {
    check(!input.ends_with(".npy"), "{}: is one array; give mean and stddev (or covariance) as 'MEAN.npy,STDDEV.npy'",
          input);
    return open_npz(input, with_weights);
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

void write_mixture(const std::string& path, const Mixture<double>& mixture) {
  const MixtureView<double> view = mixture.view();  // checks the sizes
  Shape shape{mixture.num_inputs, mixture.num_components, mixture.num_outputs};
  std::vector<std::pair<std::string, ArrayView>> arrays{
      {"mean", ArrayView(std::span<const double>(mixture.mean), shape)}};
  if (view.diagonal()) {
    arrays.emplace_back("stddev", ArrayView(std::span<const double>(mixture.stddev), shape));
  } else {
    shape.push_back(mixture.num_outputs);
    arrays.emplace_back("covariance", ArrayView(std::span<const double>(mixture.covariance), shape));
  }
  if (view.weights != nullptr) {
    arrays.emplace_back("weights", ArrayView(view.weights->value));
  }
  constexpr std::array<std::int64_t, 1> kTrue{1};
  if (mixture.space == Space::kBase) {
    arrays.emplace_back(kBaseSpace, ArrayView(std::span<const std::int64_t>(kTrue), {}));
  }
  write_npz(path, arrays);
}

template <class T>
MixtureView<T> MixtureReader<T>::read(std::size_t begin, std::size_t end) {
  MixtureView<T> view{end - begin, file_.num_components, file_.num_outputs};
  view.mean = file_.mean.rows(begin, end, mean_);
  const T* spread = file_.spread.rows(begin, end, spread_);
  (file_.full ? view.covariance : view.stddev) = spread;
  view.space = file_.space;
  view.weights = &file_.weights;
  return view;
}

template <class T>
void MixtureReader<T>::release(std::size_t begin, std::size_t end) const {
  file_.mean.release(begin, end);
  file_.spread.release(begin, end);
}

template <class T>
void MixtureReader<T>::validate(const MixtureView<T>& part, std::size_t begin) const {
  InputComponents components;
  for (std::size_t n = 0; n < part.num_inputs; ++n) {
    in_source(file_.mean.source(), [&] { components.load_means(part, n, begin + n); });
    in_source(file_.spread.source(), [&] { components.load_spread(part, n, begin + n); });
  }
}

template class MixtureReader<float>;
template class MixtureReader<double>;

}  // namespace dissent
