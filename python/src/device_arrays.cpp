// Scores of arrays on a graphics card, through DLPack: means and standard deviations are read in place, and the results
// stay there until somebody asks for them.
#include <algorithm>
#include <cstdint>
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

  // The values are already there, so the stream of whoever takes them need not wait. They are handed out in place:
  // BufferError for a copy or another device, as the protocol says.
  py::capsule dlpack(const py::kwargs& how) const {
    refuse_other(how);
    struct Owner {
      dlpack::ManagedTensor managed;
      std::int64_t shape;
      std::int64_t stride;
      std::shared_ptr<Device> device;
      std::shared_ptr<double> values;
    };
    auto* owner = new Owner{{}, static_cast<std::int64_t>(size_), 1, device_, values_};
    owner->managed = {.tensor = {.data = values_.get(),
                                 .device = {dlpack::kCuda, card_},
                                 .num_dimensions = 1,
                                 .type = {dlpack::kFloat, 64, 1},
                                 .shape = &owner->shape,
                                 .strides = &owner->stride,
                                 .byte_offset = 0},
                      .owner = owner,
                      .release = [](dlpack::ManagedTensor* self) { delete static_cast<Owner*>(self->owner); }};
    return dlpack::capsule_of(&owner->managed);
  }

  // The `count` most uncertain inputs, if this is the log deficit.
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
  void refuse_other(const py::kwargs& how) const {
    const bool copies = how.contains("copy") && !how["copy"].is_none() && py::cast<bool>(how["copy"]);
    const bool moves =
        how.contains("dl_device") && !how["dl_device"].is_none() && !dlpack_device().equal(py::tuple(how["dl_device"]));
    if (copies || moves) {
      throw py::buffer_error("scores are handed out where they lie; numpy() copies them to the host");
    }
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<double> values_;
  std::size_t size_;
  int card_;
};

bool is_row_major(const dlpack::Tensor& tensor) {
  if (tensor.strides == nullptr || std::count(tensor.shape, tensor.shape + tensor.num_dimensions, 0) > 0) {
    return true;
  }
  std::int64_t step = 1;
  for (int k = tensor.num_dimensions - 1; k >= 0; --k) {
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
const T* data_of(const dlpack::Tensor& tensor, std::string_view name) {
  const auto place = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
  check(place % sizeof(T) == 0, "{} does not begin at a multiple of {} bytes; pass a copy of it", name, sizeof(T));
  return reinterpret_cast<const T*>(place);
}

template <class T>
std::shared_ptr<double> estimate_tensors(Device& device, const Estimator& estimator, const dlpack::Tensor& mean,
                                         const dlpack::Tensor& stddev, const std::vector<std::size_t>& shape,
                                         const Weights& weights) {
  MixtureView<T> view{shape[0], shape[1], shape[2]};
  view.mean = data_of<T>(mean, "mean");
  view.stddev = data_of<T>(stddev, "stddev");
  validate_shape(view);
  const py::gil_scoped_release release;
  return device.scores().estimate_there(estimator, view.weighted(weights));
}

// A card, open as long as this lives, so that its queue stays the one that work is done in.
class Card {
 public:
  explicit Card(int number) : number_(number), device_(open_device(fmt::format("cuda:{}", number))) {}

  std::uintptr_t queue() const { return device_->scores().queue(); }

  // {name: DeviceArray} for the arrays in two capsules, which were made for work in the queue.
  py::dict estimate(const std::string& name, const py::capsule& mean_capsule, const py::capsule& stddev_capsule,
                    const std::vector<double>& weights) const {
    const dlpack::Taken mean(mean_capsule);
    const dlpack::Taken stddev(stddev_capsule);
    check(lies_here(*mean) && lies_here(*stddev), "mean and stddev must lie on the same card");
    const std::vector<std::size_t> shape = shape_of(*mean, "mean");
    check(shape_of(*stddev, "stddev") == shape, "mean and stddev must have the same shape");
    check(shape[1] > 0 && shape[2] > 0, "mean has no components, or no outputs");
    const bool single = is_float(*mean, 32) && is_float(*stddev, 32);
    check(single || (is_float(*mean, 64) && is_float(*stddev, 64)),
          "mean and stddev must be both float32 or both float64");
    const Estimator estimator = parse_estimator(name);
    const Weights checked = Weights::from(weights, shape[1]);
    return columns_of(estimator, shape[0],
                      single ? estimate_tensors<float>(*device_, estimator, *mean, *stddev, shape, checked)
                             : estimate_tensors<double>(*device_, estimator, *mean, *stddev, shape, checked));
  }

 private:
  bool lies_here(const dlpack::Tensor& tensor) const {
    return tensor.device.type == dlpack::kCuda && tensor.device.number == number_;
  }

  py::dict columns_of(const Estimator& estimator, std::size_t num_inputs,
                      const std::shared_ptr<double>& columns) const {
    py::dict result;
    std::vector<std::string> names{"epistemic", "aleatoric", "total", "log_deficit"};
    names.insert(names.end(), estimator.info->extras.begin(), estimator.info->extras.end());
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::shared_ptr<double> column(columns, columns.get() + k * num_inputs);
      result[py::str(names[k])] = DeviceArray(device_, column, num_inputs, number_);
    }
    return result;
  }

  int number_;
  std::shared_ptr<Device> device_;
};

}  // namespace

void bind_device_arrays(py::module_& module) {
  py::class_<DeviceArray>(module, "DeviceArray")
      .def("__len__", &DeviceArray::size)
      .def("__dlpack_device__", &DeviceArray::dlpack_device)
      .def("__dlpack__", &DeviceArray::dlpack)
      .def("top", &DeviceArray::top)
      .def("numpy", &DeviceArray::numpy);
  py::class_<Card>(module, "Card").def(py::init<int>()).def("queue", &Card::queue).def("estimate", &Card::estimate);
}

}  // namespace dissent::python
