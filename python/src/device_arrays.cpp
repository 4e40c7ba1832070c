// Scores of arrays on a graphics card, by DLPack: means and standard deviations are read where they lie, and the
// results stay there until somebody asks for them.
#include <memory>
#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/device/device.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/estimator/score_device.hpp"
#include "dissent/mixture/mixture.hpp"
#include "dlpack.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

// One column of results on a card.
class DeviceArray {
 public:
  DeviceArray(std::shared_ptr<Device> device, std::shared_ptr<double> values, std::size_t size, int card)
      : device_(std::move(device)), values_(std::move(values)), size_(size), card_(card) {}

  std::size_t size() const { return size_; }
  py::tuple dlpack_device() const { return py::make_tuple(dlpack::kCuda, card_); }

  // The values are there already, so the stream of whoever takes them need not wait.
  py::capsule dlpack(const py::kwargs&) const {
    struct Owner {
      dlpack::ManagedTensor managed;
      std::int64_t shape;
      std::shared_ptr<Device> device;
      std::shared_ptr<double> values;
    };
    auto* owner = new Owner{{}, static_cast<std::int64_t>(size_), device_, values_};
    owner->managed = {.tensor = {.data = values_.get(),
                                 .device = {dlpack::kCuda, card_},
                                 .num_dimensions = 1,
                                 .type = {dlpack::kFloat, 64, 1},
                                 .shape = &owner->shape,
                                 .strides = nullptr,
                                 .byte_offset = 0},
                      .owner = owner,
                      .release = [](dlpack::ManagedTensor* self) { delete static_cast<Owner*>(self->owner); }};
    return dlpack::capsule_of(&owner->managed);
  }

  // The `count` most uncertain inputs, where this is the log deficit.
  std::vector<std::size_t> top(const DeviceArray& epistemic, std::size_t count) const {
    check(epistemic.size_ == size_ && epistemic.card_ == card_, "columns of different results");
    const py::gil_scoped_release release;
    return device_->scores().top_there(epistemic.values_.get(), values_.get(), size_, count);
  }

  py::object numpy() const {
    std::vector<double> host(size_);
    {
      const py::gil_scoped_release release;
      device_->scores().copy_to_host(values_.get(), size_, host.data());
    }
    return to_numpy(std::move(host));
  }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<double> values_;
  std::size_t size_;
  int card_;
};

std::string card_name(int card) { return fmt::format("cuda:{}", card); }

bool is_row_major(const dlpack::Tensor& tensor) {
  std::int64_t step = 1;
  for (int k = tensor.num_dimensions - 1; tensor.strides != nullptr && k >= 0; --k) {
    if (tensor.shape[k] > 1 && tensor.strides[k] != step) {
      return false;
    }
    step *= tensor.shape[k];
  }
  return true;
}

std::vector<std::size_t> shape_of(const dlpack::Tensor& tensor, std::string_view name) {
  check(is_row_major(tensor), "{} is not contiguous; pass {}.contiguous()", name, name);
  std::vector<std::size_t> shape(tensor.shape, tensor.shape + tensor.num_dimensions);
  if (shape.size() == 2) {
    shape.push_back(1);
  }
  check(shape.size() == 3, "{} has {} axes; it must be [N, M, D] (inputs, components, outputs), or [N, M] for D = 1",
        name, tensor.num_dimensions);
  return shape;
}

bool is_float(const dlpack::Tensor& tensor, int bits) {
  return tensor.type.code == dlpack::kFloat && tensor.type.bits == bits && tensor.type.lanes == 1;
}

template <class T>
const T* data_of(const dlpack::Tensor& tensor) {
  return reinterpret_cast<const T*>(static_cast<const std::byte*>(tensor.data) + tensor.byte_offset);
}

template <class T>
std::shared_ptr<double> estimate_tensors(Device& device, const Estimator& estimator, const dlpack::Tensor& mean,
                                         const dlpack::Tensor& stddev, const std::vector<std::size_t>& shape,
                                         const Weights& weights) {
  MixtureView<T> view{shape[0], shape[1], shape[2]};
  view.mean = data_of<T>(mean);
  view.stddev = data_of<T>(stddev);
  validate_shape(view);
  const py::gil_scoped_release release;
  return device.scores().estimate_there(estimator, view.weighted(weights));
}

py::dict estimate_there(const std::string& name, const py::capsule& mean_capsule, const py::capsule& stddev_capsule,
                        const std::vector<double>& weights) {
  const dlpack::Taken mean(mean_capsule);
  const dlpack::Taken stddev(stddev_capsule);
  const int card = mean->device.number;
  check(mean->device.type == dlpack::kCuda && stddev->device.type == dlpack::kCuda && stddev->device.number == card,
        "mean and stddev must lie on the same card");
  const std::vector<std::size_t> shape = shape_of(*mean, "mean");
  check(shape_of(*stddev, "stddev") == shape, "mean and stddev must have the same shape");
  check(shape[1] > 0 && shape[2] > 0, "mean has no components, or no outputs");
  const bool single = is_float(*mean, 32) && is_float(*stddev, 32);
  check(single || (is_float(*mean, 64) && is_float(*stddev, 64)),
        "mean and stddev must be both float32 or both float64");
  const Estimator estimator = parse_estimator(name);
  const Weights checked = Weights::from(weights, shape[1]);
  const std::shared_ptr<Device> device = open_device(card_name(card));
  const std::shared_ptr<double> columns =
      single ? estimate_tensors<float>(*device, estimator, *mean, *stddev, shape, checked)
             : estimate_tensors<double>(*device, estimator, *mean, *stddev, shape, checked);
  py::dict result;
  std::vector<std::string> names{"epistemic", "aleatoric", "total", "log_deficit"};
  names.insert(names.end(), estimator.info->extras.begin(), estimator.info->extras.end());
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::shared_ptr<double> column(columns, columns.get() + k * shape[0]);
    result[py::str(names[k])] = DeviceArray(device, column, shape[0], card);
  }
  return result;
}

}  // namespace

void bind_device_arrays(py::module_& module) {
  py::class_<DeviceArray>(module, "DeviceArray")
      .def("__len__", &DeviceArray::size)
      .def("__dlpack_device__", &DeviceArray::dlpack_device)
      .def("__dlpack__", &DeviceArray::dlpack)
      .def("top", &DeviceArray::top)
      .def("numpy", &DeviceArray::numpy);
  module.def("device_queue", [](int card) { return open_device(card_name(card))->scores().queue(); });
  module.def("estimate_there", &estimate_there);
}

}  // namespace dissent::python
