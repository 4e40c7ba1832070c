// Sizes that the host and the training kernels must agree on.
#include "dissent/device/train_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dissent::device {
namespace {

TEST(TrainJob, SlicesShareOutABatch) {
  for (const int rows : {kFewRows, kSomeRows}) {
    for (int slices = 1; slices <= kMaxSlices; ++slices) {
      for (int batch = 1; batch <= 2500; ++batch) {
        const int each = slice_rows(batch, slices, rows);
        ASSERT_EQ(each % 32, 0) << batch << " rows in " << slices << " slices";
        ASSERT_GE(each * slices, batch) << batch << " rows in " << slices << " slices";
        if ((batch + rows - 1) / rows == slices) {  // each is one tile, and none is without rows
          ASSERT_LE(each, rows) << batch << " rows in " << slices << " slices";
          ASSERT_LT(each * (slices - 1), batch) << batch << " rows in " << slices << " slices";
        }
      }
    }
  }
  EXPECT_EQ(slice_rows(188, 2, 128), 96);
  EXPECT_EQ(slice_rows(600, 3, 128), 256);
}

TEST(TrainJob, PanelsHoldWhatKernelsIndex) {
  for (int units = 1; units <= kMaxFlowWidth; ++units) {
    const int width = padded_flow_width(units);
    EXPECT_GT(width, units) << "no column for the bias";
    const TrainMemory tight{.flow_units = std::max(rounded_up(units), units + 1), .base_units = 41};
    TrainMemory roomy = tight;
    roomy.split_units = width;
    EXPECT_EQ(panel_size(roomy) - panel_size(tight), 2 * width * kPanelStride);
    EXPECT_GE(operand_columns(tight.flow_units), 2 * kSplineParams);
    EXPECT_GE(stage_size(width), 2 * rounded_up(kSplineParams) * width);
    EXPECT_EQ(raw_size(units), kSplineParams * raw_stride(units));
  }
  EXPECT_EQ(operand_columns(0), kProductColumns);
}

}  // namespace
}  // namespace dissent::device
