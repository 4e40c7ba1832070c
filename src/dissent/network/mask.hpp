// Fixed dropout masks as structure.
//
// A mask multiplies the pre-activation of each hidden unit of a component by 0 or 1 (no scaling by 1/p). All
// activations here map 0 to 0, so a masked unit contributes nothing and receives no gradient: the component is a
// smaller network of the kept units, and only that one is stored and computed. gather() takes the compact network's
// parameters from the full one's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dissent/network/mlp.hpp"

namespace dissent {

struct Mask {
  std::vector<std::vector<std::uint32_t>> kept;  // for each hidden layer the kept units, ascending, at least one
};

Mask full_mask(const MlpShape& shape);

// Keeps each unit with probability keep, in (0, 1], and at least one per layer. Component `component` of an ensemble
// draws from its own stream.
Mask draw_mask(const MlpShape& shape, double keep, std::uint64_t seed, std::uint64_t component);

// The shape that remains. InputError when the mask does not fit.
MlpShape compact_shape(const MlpShape& full, const Mask& mask);

// A full network, one component of it, and the mask between them.
struct MaskedPair {
  const Mlp& full;
  const Mlp& compact;
  const Mask& mask;
};

// compact = the kept part of full. Neither this nor scatter_add allocates, so a training step may call both.
template <class T>
void gather(const MaskedPair& pair, std::span<const T> full, std::span<T> compact);

// The kept part of full += compact: the gradient of components that share one set of weights.
template <class T>
void scatter_add(const MaskedPair& pair, std::span<const T> compact, std::span<T> full);

// The components of an ensemble: one after the other in one block, or all as parts of one full network in it.
struct MlpStack {
  MlpShape full;
  Layout layout;
  std::vector<Mask> masks;
  std::vector<Mlp> components;  // compact; in `layout`, or with shared weights each in a block of its own
  std::optional<Mlp> shared;    // the full network in `layout` whose weights all components share

  // The size of a scratch block for component_block(): 0 unless weights are shared.
  std::size_t scratch_size = 0;
};

// Component c has its slices under "component<c>." and the mask masks[c].
MlpStack make_stack(const MlpShape& full, std::vector<Mask> masks);

// All components share the slices under "shared." and differ only in their masks.
MlpStack make_shared_stack(const MlpShape& full, std::vector<Mask> masks);

// The block in which components[c] finds its parameters: `block` itself, or `scratch` with its part of the shared ones.
template <class T>
std::span<const T> component_block(const MlpStack& stack, std::size_t c, std::span<const T> block,
                                   std::span<T> scratch);

// Component c draws the weights of the full network from Stream(seed, kInitialise, c), or from the first stream without
// own_weights, and keeps its part. So the bounds are those of the full width, as in PyTorch with masks, and a mask does
// not change the weights of the units it keeps.
template <class T>
void initialise(const MlpStack& stack, std::uint64_t seed, bool own_weights, std::span<T> block);

}  // namespace dissent
