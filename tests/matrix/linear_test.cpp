#include "dissent/matrix/linear.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dissent/base/random.hpp"

namespace dissent {
namespace {

constexpr std::size_t kSizes[] = {1, 2, 3, 5, 7, 25, 67, 130};
constexpr std::size_t kBatches[] = {1, 3, 16, 17, 64, 255, 257};

template <class T>
PanelBuffer<T> random_panel(std::size_t rows, std::size_t batch, Stream& stream) {
  PanelBuffer<T> buffer(rows, batch);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < batch; ++b) {
      buffer.panel()(r, b) = static_cast<T>(stream.normal());
    }
  }
  return buffer;
}

double finished(Finish finish, double value, double factor) {
  switch (finish) {
    case Finish::kNone:
      return value;
    case Finish::kRelu:
      return std::fmax(0, value);
    case Finish::kReluDerivative:
      return factor > 0 ? value : 0;
    case Finish::kTanhDerivative:
      return value * (1 - factor * factor);
    case Finish::kScale:
      return value * factor;
  }
  return value;
}

template <class T>
class LinearTest : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearTest, Precisions);

TYPED_TEST(LinearTest, AffineMatchesTheFormulaAtAwkwardSizes) {
  using T = TypeParam;
  const double tolerance = 200 * std::numeric_limits<T>::epsilon();
  Stream stream(1, Purpose::kTest);
  for (const std::size_t terms : kSizes) {
    for (const std::size_t rows : kSizes) {
      const std::size_t batch = kBatches[(terms + rows) % std::size(kBatches)];
      const Finish finish = static_cast<Finish>((terms * 3 + rows) % 5);
      const bool transposed = rows % 2 == 0;
      const PanelBuffer<T> in = random_panel<T>(terms, batch, stream);
      const PanelBuffer<T> factor = random_panel<T>(rows, batch, stream);
      PanelBuffer<T> out(rows, batch);
      std::vector<T> weight(terms * rows);
      std::vector<T> bias(rows);
      for (T& w : weight) {
        w = static_cast<T>(stream.normal() / std::sqrt(static_cast<double>(terms)));
      }
      for (T& b : bias) {
        b = static_cast<T>(stream.normal());
      }
      const std::size_t row_stride = transposed ? 1 : terms;
      const std::size_t column_stride = transposed ? rows : 1;
      affine(Affine<T>{weight.data(), row_stride, column_stride, transposed ? nullptr : bias.data(), in.panel(),
                       out.panel(), batch, finish, factor.panel()});
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t b = 0; b < batch; ++b) {
          double sum = transposed ? 0 : bias[r];
          for (std::size_t k = 0; k < terms; ++k) {
            sum += static_cast<double>(weight[r * row_stride + k * column_stride]) * in.panel()(k, b);
          }
          ASSERT_NEAR(out.panel()(r, b), finished(finish, sum, factor.panel()(r, b)), tolerance * 10)
              << rows << " rows, " << terms << " terms, batch " << batch << ", row " << r << ", column " << b;
        }
      }
    }
  }
}

// A sum of products in parts is that of the whole; the finish comes last.
TYPED_TEST(LinearTest, AffineAddsToWhatIsThere) {
  using T = TypeParam;
  const double tolerance = 2000 * std::numeric_limits<T>::epsilon();
  Stream stream(3, Purpose::kTest);
  for (const std::size_t terms : {2, 21, 70, 150}) {
    for (const std::size_t rows : {1, 5, 23}) {
      const std::size_t batch = 33;
      const std::size_t first = terms / 2;
      const PanelBuffer<T> in = random_panel<T>(terms, batch, stream);
      const PanelBuffer<T> factor = random_panel<T>(rows, batch, stream);
      PanelBuffer<T> whole(rows, batch);
      PanelBuffer<T> parts(rows, batch);
      std::vector<T> weight(rows * terms);
      for (T& w : weight) {
        w = static_cast<T>(stream.normal());
      }
      Affine<T> product{weight.data(),           terms,         1, nullptr, in.panel(), whole.panel(), batch,
                        Finish::kReluDerivative, factor.panel()};
      affine(product);
      product.out = parts.panel();
      product.in = in.panel().slice(0, first);
      product.finish = Finish::kNone;
      affine(product);
      product.in = in.panel().slice(first, terms - first);
      product.weight += first;
      product.finish = Finish::kReluDerivative;
      product.add = true;
      affine(product);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t b = 0; b < batch; ++b) {
          ASSERT_NEAR(parts.panel()(r, b), whole.panel()(r, b), tolerance);
        }
      }
    }
  }
}

TYPED_TEST(LinearTest, WeightGradientAddsToWhatIsThere) {
  using T = TypeParam;
  const double tolerance = 2000 * std::numeric_limits<T>::epsilon();
  Stream stream(2, Purpose::kTest);
  for (const std::size_t terms : kSizes) {
    for (const std::size_t rows : kSizes) {
      const std::size_t batch = kBatches[(terms + 2 * rows) % std::size(kBatches)];
      const PanelBuffer<T> left = random_panel<T>(rows, batch, stream);
      const PanelBuffer<T> right = random_panel<T>(terms, batch, stream);
      std::vector<T> gradient(rows * terms + 1, T(1));
      std::vector<T> bias_gradient(rows + 1, T(2));
      weight_gradient(WeightGradient<T>{left.panel(), right.panel(), batch, gradient.data(), bias_gradient.data()});
      for (std::size_t r = 0; r < rows; ++r) {
        double bias_sum = 2;
        for (std::size_t b = 0; b < batch; ++b) {
          bias_sum += left.panel()(r, b);
        }
        ASSERT_NEAR(bias_gradient[r], bias_sum, tolerance);
        for (std::size_t k = 0; k < terms; ++k) {
          double sum = 1;
          for (std::size_t b = 0; b < batch; ++b) {
            sum += static_cast<double>(left.panel()(r, b)) * right.panel()(k, b);
          }
          ASSERT_NEAR(gradient[r * terms + k], sum, tolerance) << rows << " x " << terms << ", batch " << batch;
        }
      }
      ASSERT_EQ(gradient.back(), T(1));  // nothing beyond the end is touched
      ASSERT_EQ(bias_gradient.back(), T(2));
    }
  }
}

TYPED_TEST(LinearTest, ReluLetsANotANumberThrough) {
  using T = TypeParam;
  PanelBuffer<T> in(1, 1);
  PanelBuffer<T> out(1, 1);
  const T weight = 1;
  in.panel()(0, 0) = std::numeric_limits<T>::quiet_NaN();
  affine(Affine<T>{&weight, 1, 1, nullptr, in.panel(), out.panel(), 1, Finish::kRelu, {}});
  EXPECT_TRUE(std::isnan(out.panel()(0, 0)));
}

}  // namespace
}  // namespace dissent
