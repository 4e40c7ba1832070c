// Scores of arrays on a graphics card, and rows chosen by them, through DLPack: means and standard deviations are read
// in place. Scores stay there until somebody asks for them; rows come to the host.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "asked.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/base/error.hpp"
#include "dissent/device/device.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/estimator/score_device.hpp"
#include "dissent/loop/learn.hpp"
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

// Means and standard deviations in two capsules, on one card.
class Components {
 public:
  Components(const py::capsule& mean, const py::capsule& stddev, int card) : mean_(mean), stddev_(stddev) {
    check(lies_on(*mean_, card) && lies_on(*stddev_, card), "mean and stddev must lie on the same card");
    shape_ = shape_of(*mean_, "mean");
    check(shape_of(*stddev_, "stddev") == shape_, "mean and stddev must have the same shape");
    check(shape_[1] > 0 && shape_[2] > 0, "mean has no components, or no outputs");
    single_ = is_float(*mean_, 32) && is_float(*stddev_, 32);
    check(single_ || (is_float(*mean_, 64) && is_float(*stddev_, 64)),
          "mean and stddev must be both float32 or both float64");
  }

  std::size_t num_inputs() const { return shape_[0]; }
  std::size_t num_components() const { return shape_[1]; }

  // Calls body(view).
  template <class Body>
  auto visit(const Weights& weights, const Body& body) const {
    return single_ ? visit_as<float>(weights, body) : visit_as<double>(weights, body);
  }

 private:
  static bool lies_on(const dlpack::Tensor& tensor, int card) {
    return tensor.device.type == dlpack::kCuda && tensor.device.number == card;
  }

  template <class T, class Body>
  auto visit_as(const Weights& weights, const Body& body) const {
    MixtureView<T> view{shape_[0], shape_[1], shape_[2]};
    view.mean = data_of<T>(*mean_, "mean");
    view.stddev = data_of<T>(*stddev_, "stddev");
    validate_shape(view);
    return body(view.weighted(weights));
  }

  dlpack::Taken mean_;
  dlpack::Taken stddev_;
  std::vector<std::size_t> shape_;
  bool single_ = false;
};

// A card, open as long as this lives, so that its queue stays the one that work is done in.
class Card {
 public:
  explicit Card(int number) : number_(number), device_(open_device(fmt::format("cuda:{}", number))) {}

  std::uintptr_t queue() const { return device_->scores().queue(); }

  // {name: DeviceArray} for the arrays in two capsules, which were made for work in the queue.
  py::dict estimate(const std::string& name, const py::capsule& mean, const py::capsule& stddev,
                    const std::vector<double>& weights) const {
    const Components components(mean, stddev, number_);
    const Estimator estimator = parse_estimator(name);
    const Weights checked = Weights::from(weights, components.num_components());
    return columns_of(estimator, components.num_inputs(), components.visit(checked, [&](const auto& view) {
      const py::gil_scoped_release release;
      return device_->scores().estimate_there(estimator, view);
    }));
  }

  // Rows to label next, of such arrays.
  py::tuple choose(const Asked& asked, const py::capsule& mean, const py::capsule& stddev,
                   const std::vector<double>& weights) const {
    const Acquisition acquisition = Acquisition::parse(asked.acquisition);
    const Ranking ranking = ranking_from_name(asked.ranking);
    const Components components(mean, stddev, number_);
    const Weights checked = Weights::from(weights, components.num_components());
    const double work = acquisition.streams() ? 0 : kAllThreads;  // of this processor
    Choice choice = components.visit(checked, [&](const auto& view) {
      return unlocked(asked.threads, work, [&](Executor& executor) {
        const std::unique_ptr<PoolOnDevice> pool = device_->scores().pool_there(view);
        return choose_there(acquisition, {.pool = *pool,
                                          .batch = asked.batch,
                                          .stream = choice_stream(asked.seed, 1),
                                          .executor = &executor,
                                          .ranking = ranking});
      });
    });
    return to_tuple(std::move(choice), {}, asked, components.num_inputs());
  }

 private:
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
  py::class_<Card>(module, "Card")
      .def(py::init<int>())
      .def("queue", &Card::queue, py::call_guard<py::gil_scoped_release>())  // it may wait for another thread's work
      .def("estimate", &Card::estimate)
      .def("choose", &Card::choose);
}

}  // namespace dissent::python
