// Mixtures on disk: what is written comes back, weights and space with it, and what is wrong is named by its array.
#include "dissent/mixture/mixture_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "dissent/array/npz.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

Mixture<double> some_mixture(bool full) {
  Mixture<double> mixture = full ? Mixture<double>::full(3, 2, 2) : Mixture<double>::diagonal(3, 2, 2);
  for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
    mixture.mean[k] = static_cast<double>(k) / 3;
  }
  for (std::size_t k = 0; k < mixture.stddev.size(); ++k) {
    mixture.stddev[k] = 1 + static_cast<double>(k);
  }
  for (std::size_t k = 0; k < mixture.covariance.size(); ++k) {
    mixture.covariance[k] = k % 4 == 0 || k % 4 == 3 ? 2 : 0.5;
  }
  return mixture;
}

class MixtureFiles : public testing::Test {
 protected:
  TempDir dir_;
  std::string path_ = dir_.file("mixture.npz");
};

TEST_F(MixtureFiles, ComeBackAsTheyWere) {
  for (const bool full : {false, true}) {
    for (const Space space : {Space::kOutput, Space::kBase}) {
      Mixture<double> mixture = some_mixture(full);
      mixture.space = space;
      mixture.weights = Weights::from(std::vector<double>{0.25, 0.75}, 2);
      write_mixture(path_, mixture);
      const MixtureFile file = open_mixture(path_);
      EXPECT_EQ(file.space, space);
      EXPECT_EQ(file.weights.value, mixture.weights.value);
      EXPECT_FALSE(file.single_precision());
      MixtureReader<double> reader(file);
      const MixtureView<double> part = reader.read(1, 3);
      EXPECT_EQ(part.num_inputs, 2u);
      EXPECT_EQ(part.space, space);
      ASSERT_NE(part.weights, nullptr);
      EXPECT_EQ(part.weights->value, mixture.weights.value);
      EXPECT_EQ(part.diagonal(), !full);
      const double* spread = full ? part.covariance : part.stddev;
      for (std::size_t k = 0; k < 8; ++k) {
        EXPECT_EQ(part.mean[k], mixture.mean[4 + k]);
      }
      for (std::size_t k = 0; k < (full ? 16U : 8U); ++k) {
        EXPECT_EQ(spread[k], full ? mixture.covariance[8 + k] : mixture.stddev[4 + k]);
      }
    }
  }
}

TEST_F(MixtureFiles, WithoutWeightsOrSpaceAreUniformAndInTheUsersUnits) {
  write_mixture(path_, some_mixture(false));
  const NpzFile archive(path_);
  EXPECT_EQ(archive.names(), (std::vector<std::string>{"mean", "stddev"}));
  const MixtureFile file = open_mixture(path_);
  EXPECT_EQ(file.space, Space::kOutput);
  EXPECT_EQ(file.weights.value, Weights::uniform(2).value);
}

TEST_F(MixtureFiles, OtherWeightsTakeThePlaceOfBadOnes) {
  const Mixture<double> mixture = some_mixture(false);
  const std::vector<double> bad{0.5, 0.6};
  write_npz(path_, {{"mean", ArrayView(std::span<const double>(mixture.mean), {3, 2, 2})},
                    {"stddev", ArrayView(std::span<const double>(mixture.stddev), {3, 2, 2})},
                    {"weights", ArrayView(bad)}});
  EXPECT_NO_THROW(open_mixture(path_, false));
  const std::string error = message_of<InputError>([&] { open_mixture(path_); });
  EXPECT_NE(error.find("mixture.npz[weights]: the weights sum to 1.1"), std::string::npos) << error;
}

TEST_F(MixtureFiles, SpaceIsOneNumber) {
  const Mixture<double> mixture = some_mixture(false);
  const auto write = [&](const std::vector<std::int64_t>& base_space) {
    write_npz(path_, {{"mean", ArrayView(std::span<const double>(mixture.mean), {3, 2, 2})},
                      {"stddev", ArrayView(std::span<const double>(mixture.stddev), {3, 2, 2})},
                      {"base_space", ArrayView(base_space)}});
  };
  write({0});
  EXPECT_EQ(open_mixture(path_).space, Space::kOutput);
  write({1});
  EXPECT_EQ(open_mixture(path_).space, Space::kBase);
  write({1, 0});
  EXPECT_NE(message_of<InputError>([&] { open_mixture(path_); }).find("it must be one number"), std::string::npos);
}

TEST_F(MixtureFiles, BadValuesAreNamedByTheirArray) {
  const auto error = [&](std::vector<double> Mixture<double>::*values, std::size_t at, double bad) {
    Mixture<double> mixture = some_mixture(false);
    (mixture.*values)[at] = bad;
    write_mixture(path_, mixture);
    const MixtureFile file = open_mixture(path_);
    MixtureReader<double> reader(file);
    const MixtureView<double> part = reader.read(1, 3);
    return message_of<InputError>([&] { reader.validate(part, 1); });
  };
  EXPECT_NE(error(&Mixture<double>::stddev, 11, -1).find("mixture.npz[stddev]: stddev[2, 1, 1] = -1 is not positive"),
            std::string::npos);
  EXPECT_NE(error(&Mixture<double>::mean, 4, INFINITY).find("mixture.npz[mean]: mean[1, 0, 0] = inf is not a finite"),
            std::string::npos);
}

}  // namespace
}  // namespace dissent
