#include "dissent/network/mask.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {

Mask full_mask(const MlpShape& shape) {
  Mask mask;
  for (const std::size_t width : shape.hidden) {
    std::vector<std::uint32_t>& units = mask.kept.emplace_back(width);
    std::iota(units.begin(), units.end(), 0U);
  }
  return mask;
}

Mask draw_mask(const MlpShape& shape, double keep, std::uint64_t seed, std::uint64_t component) {
  check(keep > 0 && keep <= 1, "draw_mask: keep = {} is outside (0, 1]", keep);
  Stream stream(seed, Purpose::kMask, component);
  Mask mask;
  for (const std::size_t width : shape.hidden) {
    std::vector<std::uint32_t>& units = mask.kept.emplace_back();
    for (std::size_t unit = 0; unit < width; ++unit) {
      if (stream.uniform() < keep) {
        units.push_back(static_cast<std::uint32_t>(unit));
      }
    }
    if (units.empty()) {
      units.push_back(static_cast<std::uint32_t>(stream.below(width)));
    }
  }
  return mask;
}

MlpShape compact_shape(const MlpShape& full, const Mask& mask) {
  check(mask.kept.size() == full.hidden.size(), "compact_shape: the mask has {} layers, the network {} hidden ones",
        mask.kept.size(), full.hidden.size());
  MlpShape compact = full;
  for (std::size_t l = 0; l < full.hidden.size(); ++l) {
    const std::vector<std::uint32_t>& units = mask.kept[l];
    check(!units.empty(), "compact_shape: hidden layer {} keeps no unit; at least one must stay", l);
    for (std::size_t k = 0; k < units.size(); ++k) {
      check(units[k] < full.hidden[l] && (k == 0 || units[k - 1] < units[k]),
            "compact_shape: kept[{}][{}] = {}; units must ascend and stay below the width {}", l, k, units[k],
            full.hidden[l]);
    }
    compact.hidden[l] = units.size();
  }
  return compact;
}

namespace {

// Calls visit(offset in full, offset in compact) for every parameter of the compact network.
template <class Visit>
void for_each_kept(const MaskedPair& pair, Visit visit) {
  const std::size_t num_hidden = pair.mask.kept.size();
  for (std::size_t l = 0; l <= num_hidden; ++l) {
    const Mlp::Layer& full = pair.full.layers()[l];
    const Mlp::Layer& compact = pair.compact.layers()[l];
    const std::uint32_t* rows = l < num_hidden ? pair.mask.kept[l].data() : nullptr;
    const std::uint32_t* columns = l > 0 ? pair.mask.kept[l - 1].data() : nullptr;
    for (std::size_t r = 0; r < compact.num_outputs; ++r) {
      const std::size_t full_row = rows == nullptr ? r : rows[r];
      for (std::size_t c = 0; c < compact.num_inputs; ++c) {
        const std::size_t full_column = columns == nullptr ? c : columns[c];
        visit(full.weight + full_row * full.num_inputs + full_column, compact.weight + r * compact.num_inputs + c);
      }
      visit(full.bias + full_row, compact.bias + r);
    }
  }
}

}  // namespace

template <class T>
void gather(const MaskedPair& pair, std::span<const T> full, std::span<T> compact) {
  for_each_kept(pair, [&](std::size_t from, std::size_t to) { compact[to] = full[from]; });
}

template <class T>
void scatter_add(const MaskedPair& pair, std::span<const T> compact, std::span<T> full) {
  for_each_kept(pair, [&](std::size_t to, std::size_t from) { full[to] += compact[from]; });
}

MlpStack make_stack(const MlpShape& full, std::vector<Mask> masks) {
  MlpStack stack{.full = full, .layout = {}, .masks = std::move(masks), .components = {}, .shared = {}};
  for (std::size_t c = 0; c < stack.masks.size(); ++c) {
    stack.components.emplace_back(compact_shape(full, stack.masks[c]), stack.layout, fmt::format("component{}.", c));
  }
  return stack;
}

MlpStack make_shared_stack(const MlpShape& full, std::vector<Mask> masks) {
  MlpStack stack{.full = full, .layout = {}, .masks = std::move(masks), .components = {}, .shared = {}};
  stack.shared.emplace(full, stack.layout, "shared.");
  for (const Mask& mask : stack.masks) {
    Layout own;
    stack.components.emplace_back(compact_shape(full, mask), own);
    stack.scratch_size = std::max(stack.scratch_size, own.size());
  }
  return stack;
}

template <class T>
std::span<const T> component_block(const MlpStack& stack, std::size_t c, std::span<const T> block,
                                   std::span<T> scratch) {
  if (!stack.shared) {
    return block;
  }
  gather<T>({*stack.shared, stack.components[c], stack.masks[c]}, block, scratch);
  return scratch;
}

template <class T>
void initialise(const MlpStack& stack, std::uint64_t seed, bool own_weights, std::span<T> block) {
  if (stack.shared) {
    initialise<T>(*stack.shared, Stream(seed, Purpose::kInitialise, 0), block);
    return;
  }
  Layout layout;
  const Mlp full(stack.full, layout);
  Block<T> drawn(layout.size());
  for (std::size_t c = 0; c < stack.components.size(); ++c) {
    initialise<T>(full, Stream(seed, Purpose::kInitialise, own_weights ? c : 0), drawn);
    gather<T>({full, stack.components[c], stack.masks[c]}, drawn, block);
  }
}

template void gather(const MaskedPair&, std::span<const float>, std::span<float>);
template void gather(const MaskedPair&, std::span<const double>, std::span<double>);
template void scatter_add(const MaskedPair&, std::span<const float>, std::span<float>);
template void scatter_add(const MaskedPair&, std::span<const double>, std::span<double>);
template std::span<const float> component_block(const MlpStack&, std::size_t, std::span<const float>, std::span<float>);
template std::span<const double> component_block(const MlpStack&, std::size_t, std::span<const double>,
                                                 std::span<double>);
template void initialise(const MlpStack&, std::uint64_t, bool, std::span<float>);
template void initialise(const MlpStack&, std::uint64_t, bool, std::span<double>);

}  // namespace dissent
