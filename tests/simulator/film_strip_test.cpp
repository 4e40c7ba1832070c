#include "dissent/simulator/film_strip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/simulator/robot.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(FilmStrip, DrawsEachPartOfEachFrameWithOutlineAndShadow) {
  const auto pendulum = make_environment("pendulum");
  FilmOptions options;
  options.num_frames = 4;
  const std::string svg = draw_film_strip(*pendulum, *make_policy(pendulum->spec(), "expert"), options);
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<path "), 4U * 2 * 3);
  EXPECT_EQ(count(svg, " s</text>"), 4U);
  EXPECT_EQ(count(svg, "<g"), count(svg, "</g>"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(FilmStrip, ADivergedStateIsNotDrawn) {
  class NoNumber : public Policy {
    void act(std::span<const double>, std::size_t step, Stream&, std::span<double> action) const override {
      action[0] = step < 2 ? 0 : std::nan("");
    }
  };
  const auto pendulum = make_environment("pendulum");
  FilmOptions options;
  options.steps_per_frame = 1;
  const std::string svg = draw_film_strip(*pendulum, NoNumber(), options);
  EXPECT_EQ(count(svg, " s</text>"), 3U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(FilmStrip, StopsWhereTheEpisodeEnds) {
  if (!mujoco_available()) {
    GTEST_SKIP() << "built without MuJoCo";
  }
  const auto hopper = make_environment("hopper");
  FilmOptions options;
  options.num_frames = 100;
  options.steps_per_frame = 1;
  const std::string svg = draw_film_strip(*hopper, *make_policy(hopper->spec(), "random"), options);
  EXPECT_GT(count(svg, " s</text>"), 3U);
  EXPECT_LT(count(svg, " s</text>"), 100U);
  options.first_step = 900;
  EXPECT_NE(message_of<InputError>([&] {
              draw_film_strip(*hopper, *make_policy(hopper->spec(), "random"), options);
            }).find("ended before step 900"),
            std::string::npos);
}

}  // namespace
}  // namespace dissent
