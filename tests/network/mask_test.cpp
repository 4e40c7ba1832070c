#include "dissent/network/mask.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

TEST(Mask, KeepsAboutTheGivenShareAndNeverNothing) {
  const MlpShape wide = gaussian_shape(1, {2000}, 1);
  const double kept = static_cast<double>(draw_mask(wide, 0.5, 1, 0).kept[0].size());
  EXPECT_NEAR(kept, 1000, 5 * std::sqrt(500.0));  // five standard deviations; the seed is fixed
  const MlpShape narrow = gaussian_shape(1, {1, 2, 3}, 1);
  for (std::uint64_t component = 0; component < 200; ++component) {
    const Mask mask = draw_mask(narrow, 0.05, 1, component);
    for (std::size_t l = 0; l < 3; ++l) {
      ASSERT_FALSE(mask.kept[l].empty());
      ASSERT_LE(mask.kept[l].back(), l);
    }
  }
  EXPECT_EQ(draw_mask(wide, 1.0, 1, 0).kept, full_mask(wide).kept);
  EXPECT_EQ(draw_mask(wide, 0.5, 1, 3).kept, draw_mask(wide, 0.5, 1, 3).kept);
  EXPECT_NE(draw_mask(wide, 0.5, 1, 3).kept, draw_mask(wide, 0.5, 1, 4).kept);
  EXPECT_THROW(draw_mask(wide, 0.0, 1, 0), InputError);
  EXPECT_THROW(draw_mask(wide, 1.5, 1, 0), InputError);
}

TEST(Mask, ScatterAddPutsBackWhatGatherTook) {
  const MlpShape shape = gaussian_shape(3, {5, 4}, 2);
  const Mask mask{{{0, 3, 4}, {1, 2}}};
  Layout full_layout;
  const Mlp full(shape, full_layout);
  Layout compact_layout;
  const Mlp compact(compact_shape(shape, mask), compact_layout);
  ASSERT_EQ(compact.shape().hidden, (std::vector<std::size_t>{3, 2}));
  Block<double> original(full_layout.size());
  for (std::size_t k = 0; k < original.size(); ++k) {
    original[k] = static_cast<double>(k) + 1;
  }
  Block<double> small(compact_layout.size());
  const MaskedPair pair{full, compact, mask};
  gather<double>(pair, original, small);
  // Weight of compact unit 1 (full unit 2) of the second layer from compact unit 2 (full unit 4) of the first.
  EXPECT_EQ(small[compact.layers()[1].weight + 1 * 3 + 2], original[full.layers()[1].weight + 2 * 5 + 4]);
  EXPECT_EQ(small[compact.layers()[1].bias], original[full.layers()[1].bias + 1]);
  EXPECT_EQ(small[compact.layers()[2].weight + 3 * 2 + 1], original[full.layers()[2].weight + 3 * 4 + 2]);

  Block<double> back(full_layout.size());
  scatter_add<double>(pair, small, back);
  const std::size_t num_parameters = 3 * 3 + 3 + 2 * 3 + 2 + 4 * 2 + 4;
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(back, [](double v) { return v != 0; })), num_parameters);
  scatter_add<double>(pair, small, back);
  for (std::size_t k = 0; k < back.size(); ++k) {
    EXPECT_TRUE(back[k] == 0 || back[k] == 2 * original[k]);
  }
}

TEST(Mask, RejectsWhatDoesNotFit) {
  const MlpShape shape = gaussian_shape(1, {3}, 1);
  EXPECT_THROW(compact_shape(shape, Mask{{}}), InputError);
  EXPECT_THROW(compact_shape(shape, Mask{{{}}}), InputError);
  EXPECT_THROW(compact_shape(shape, Mask{{{1, 3}}}), InputError);
  EXPECT_THROW(compact_shape(shape, Mask{{{2, 1}}}), InputError);
}

TEST(Stack, InitialWeightsFollowTheFullWidthAndTheComponent) {
  const MlpShape shape = gaussian_shape(4, {50, 50}, 2);
  const MlpStack masked = make_stack(shape, {draw_mask(shape, 0.5, 1, 0), draw_mask(shape, 0.5, 1, 1)});
  const MlpStack whole = make_stack(shape, {full_mask(shape), full_mask(shape)});
  Block<double> masked_block(masked.layout.size());
  Block<double> whole_block(whole.layout.size());
  initialise<double>(masked, 9, true, masked_block);
  initialise<double>(whole, 9, true, whole_block);
  double largest = 0;
  for (const double w :
       values_of<double>(masked.layout.find("component1.hidden1.weight"), std::span<double>(masked_block))) {
    largest = std::max(largest, std::abs(w));
  }
  EXPECT_LE(largest, 1 / std::sqrt(50.0));
  EXPECT_GT(largest, 0.95 / std::sqrt(50.0));
  Block<double> gathered(masked.layout.size());
  for (std::size_t c = 0; c < 2; ++c) {
    gather<double>({whole.components[c], masked.components[c], masked.masks[c]}, whole_block, gathered);
  }
  EXPECT_EQ(gathered, masked_block);
  // No two components share a weight.
  const auto first = whole.components[0].range<double>(whole_block);
  const auto second = whole.components[1].range<double>(whole_block);
  const std::set<double> seen(first.begin(), first.end());
  EXPECT_EQ(std::ranges::count_if(second, [&](double w) { return w != 0 && seen.contains(w); }), 0);
}

TEST(Layout, NamesAndOffsets) {
  Layout layout;
  EXPECT_EQ(layout.add("a", 3, 2), 0U);
  EXPECT_EQ(layout.add("b", 5, 1), 6U);
  EXPECT_EQ(layout.align(), 16U);
  EXPECT_EQ(layout.add("c", 1, 1), 16U);
  EXPECT_EQ(layout.find("b").offset, 6U);
  EXPECT_EQ(layout.slices().size(), 3U);
  EXPECT_THROW(layout.find("d"), InputError);
  EXPECT_THROW(layout.add("a", 1, 1), InputError);
  EXPECT_THROW(layout.add("e", 0, 1), InputError);
}

}  // namespace
}  // namespace dissent
