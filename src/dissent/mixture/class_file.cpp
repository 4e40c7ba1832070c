#include "dissent/mixture/class_file.hpp"

#include <filesystem>
#include <utility>

#include "dissent/array/npz.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file_kind.hpp"
#include "dissent/mixture/mixture_file.hpp"

namespace dissent {
namespace {

constexpr const char* kProbabilities = "probabilities";

// If a table or a model is given in place of predictions, says so, rather than how an archive should end.
void check_archive(const std::string& path) {
  const FileLook look = look_at_file(path);
  const bool other = look.kind == FileKind::kText || look.kind == FileKind::kGzip || look.kind == FileKind::kSqlite ||
                     look.kind == FileKind::kSafetensors;  // but not kOther: an archive is one
  check(!other,
        "{}: it looks like {}; give predictions of an ensemble: an archive (.npz) with arrays 'mean' and 'stddev', or "
        "'MEAN.npy,STDDEV.npy'{}",
        path, look.name,
        look.kind == FileKind::kSafetensors ? "; 'dissent predict' makes them of a model and inputs" : "");
}

}  // namespace

bool has_classes(const std::string& input) {
  std::error_code none;
  if (input.ends_with(".npy") || !std::filesystem::is_regular_file(input, none)) {
    return false;  // two files, or none that exists
  }
  check_archive(input);
  const NpzFile file(input);
  return file.contains(kProbabilities) && !file.contains("mean");
}

ClassFile open_classes(const std::string& path, bool with_weights) {
  const NpzFile archive(path);
  NpyFile array = archive.open(kProbabilities);
  const Shape shape = array.shape();
  check_in(array.source(), shape.size() == 3, "has shape {}; it must be [N, M, K] (inputs, components, classes)",
           shape_text(shape));
  check_in(array.source(), shape[1] > 0 && shape[2] > 1,
           "has shape {}; at least 1 component and 2 classes are required", shape_text(shape));
  ClassFile file{std::move(array), shape[0], shape[1], shape[2], Weights::uniform(shape[1])};
  if (with_weights) {
    file.weights = archive_weights(archive, file.num_components);
  }
  return file;
}

CategoricalView ClassReader::view() const {
  const std::size_t M = file_.num_components;
  const std::size_t K = file_.num_classes;
  return {own_.size() / (M * K), M, K, own_.data(), &file_.weights};
}

CategoricalView ClassReader::read(std::size_t begin, std::size_t end) {
  const double* values = file_.probabilities.rows(begin, end, buffer_);
  own_.assign(values, values + (end - begin) * file_.num_components * file_.num_classes);
  in_source(file_.probabilities.source(),
            [&] { normalise_probabilities(own_, file_.num_components, file_.num_classes, begin); });
  return view();
}

CategoricalView ClassReader::read(const std::vector<std::size_t>& inputs) {
  std::vector<double> all;
  for (const std::size_t input : inputs) {
    read(input, input + 1);
    all.insert(all.end(), own_.begin(), own_.end());
  }
  own_ = std::move(all);
  return view();
}

}  // namespace dissent
