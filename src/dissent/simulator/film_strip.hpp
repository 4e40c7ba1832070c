// A film strip of an episode as SVG: one picture every few steps, side by side, drawn from Environment::segments().
//
// An orthographic camera follows the robot along x, a little from the side and from above. Capsules become strokes with
// round ends, sorted from far to near; their vertical projections are the shadows. No graphics library is needed.
#pragma once

#include <cstdint>
#include <string>

#include "dissent/simulator/policy.hpp"

namespace dissent {

struct FilmOptions {
  std::size_t num_frames = 10;
  std::size_t first_step = 0;  // of the first frame
  std::size_t steps_per_frame = 10;
  std::uint64_t seed = 0;
  double azimuth_degrees = 25;  // 0 looks along y, from the side; towards 90 the robot comes towards the viewer
  double elevation_degrees = 12;
};

// The episode may end early; the strip then has fewer frames, but at least one.
std::string draw_film_strip(Environment& environment, const Policy& policy, const FilmOptions& options);

}  // namespace dissent
