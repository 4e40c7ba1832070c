#include "dissent/simulator/film_strip.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr double kPixelsPerMetre = 90;
constexpr double kMargin = 12;
constexpr double kCaptionHeight = 18;
constexpr double kCaptionWidth = 76;

struct Frame {
  std::vector<Segment> segments;
  double seconds = 0;
  double travelled = 0;
};

// A point on the picture in pixels (x right, y up, origin under the robot) and its distance from the viewer.
struct Projected {
  double x = 0;
  double y = 0;
  double depth = 0;
};

class Camera {
 public:
  Camera(double azimuth_degrees, double elevation_degrees)
      : azimuth_(azimuth_degrees * std::numbers::pi / 180), elevation_(elevation_degrees * std::numbers::pi / 180) {}

  Projected project(const std::array<double, 3>& point, const std::array<double, 3>& centre) const {
    const double x = point[0] - centre[0];
    const double y = point[1] - centre[1];
    const double right = x * std::cos(azimuth_) + y * std::sin(azimuth_);
    const double away = -x * std::sin(azimuth_) + y * std::cos(azimuth_);
    return {kPixelsPerMetre * right, kPixelsPerMetre * (point[2] * std::cos(elevation_) + away * std::sin(elevation_)),
            away * std::cos(elevation_) - (point[2] - centre[2]) * std::sin(elevation_)};
  }

 private:
  double azimuth_;
  double elevation_;
};

std::array<double, 3> middle(const Segment& segment) {
  return {(segment.begin[0] + segment.end[0]) / 2, (segment.begin[1] + segment.end[1]) / 2,
          (segment.begin[2] + segment.end[2]) / 2};
}

std::vector<Frame> run_frames(Environment& environment, const Policy& policy, const FilmOptions& options) {
  const EnvironmentSpec& spec = environment.spec();
  std::vector<double> observation(spec.observation_size);
  std::vector<double> action(spec.action_size());
  Stream reset_stream(options.seed, Purpose::kProblem);
  Stream action_stream(options.seed, Purpose::kPolicy);
  environment.reset(reset_stream);
  std::vector<Frame> frames;
  double start = 0;
  bool ended = false;
  for (std::size_t step = 0; frames.size() < options.num_frames; ++step) {
    if (step >= options.first_step && (step - options.first_step) % options.steps_per_frame == 0) {
      std::vector<Segment> segments = environment.segments();
      const double position = middle(segments.front())[0];
      start = frames.empty() ? position : start;
      const double seconds = spec.seconds_per_step * static_cast<double>(step - options.first_step);
      frames.push_back({std::move(segments), seconds, position - start});
    }
    if (ended) {
      break;
    }
    environment.observe(observation);
    policy.act(observation, step, action_stream, action);
    const StepOutcome outcome = environment.step(action);
    if (outcome.unstable) {
      break;  // there is nothing to draw
    }
    ended = outcome.terminated || step + 1 >= spec.max_steps;
  }
  check(!frames.empty(), "draw_film_strip: the episode of {} ended before step {}", spec.name, options.first_step);
  return frames;
}

struct Box {
  double left = 0, right = 0, bottom = 0, top = 0;
  void include(const Projected& p, double radius) {
    left = std::min(left, p.x - radius);
    right = std::max(right, p.x + radius);
    bottom = std::min(bottom, p.y - radius);
    top = std::max(top, p.y + radius);
  }
};

void append_stroke(std::string& svg, const Projected& a, const Projected& b, double width, const std::string& colour) {
  // A stroke of no length is not drawn by every viewer, hence the hundredth of a pixel.
  fmt::format_to(std::back_inserter(svg),
                 "<path d=\"M{:.1f} {:.1f}L{:.2f} {:.1f}\" stroke=\"{}\" stroke-width=\"{:.1f}\"/>\n", a.x, -a.y,
                 b.x + 0.01, -b.y, colour, width);
}

// Parts nearer than the robot's middle turn from grey to orange, farther ones to blue.
std::string shade(double depth) {
  const double light = std::clamp(0.5 - 1.2 * depth, 0.0, 1.0);
  const auto mix = [light](int far, int near) { return static_cast<int>(std::lround(far + light * (near - far))); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0x35, 0xf0), mix(0x5c, 0x9a), mix(0x8a, 0x4a));
}

void append_frame(std::string& svg, const Frame& frame, const Camera& camera, const std::array<double, 3>& centre) {
  struct Part {
    Projected begin, end;
    double width, depth;
  };
  std::vector<Part> parts;
  svg += "<g opacity=\"0.13\">\n";
  for (const Segment& s : frame.segments) {
    const double width = 2 * kPixelsPerMetre * s.radius;
    append_stroke(svg, camera.project({s.begin[0], s.begin[1], 0}, centre),
                  camera.project({s.end[0], s.end[1], 0}, centre), width, "#000");
    const Projected begin = camera.project(s.begin, centre);
    const Projected end = camera.project(s.end, centre);
    parts.push_back({begin, end, width, (begin.depth + end.depth) / 2});
  }
  svg += "</g>\n";
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.depth > b.depth; });
  for (const Part& part : parts) {
    append_stroke(svg, part.begin, part.end, part.width, "#222");
    append_stroke(svg, part.begin, part.end, std::max(1.0, part.width - 2.5), shade(part.depth));
  }
}

}  // namespace

std::string draw_film_strip(Environment& environment, const Policy& policy, const FilmOptions& options) {
  check(options.num_frames > 0 && options.steps_per_frame > 0,
        "draw_film_strip: num_frames and steps_per_frame must be > 0");
  const std::vector<Frame> frames = run_frames(environment, policy, options);
  const Camera camera(options.azimuth_degrees, options.elevation_degrees);
  Box box;
  for (const Frame& frame : frames) {
    const std::array<double, 3> centre = middle(frame.segments.front());
    for (const Segment& segment : frame.segments) {
      for (const std::array<double, 3>& point : {segment.begin, segment.end}) {
        box.include(camera.project(point, centre), kPixelsPerMetre * segment.radius);
        box.include(camera.project({point[0], point[1], 0}, centre), kPixelsPerMetre * segment.radius);
      }
    }
  }
  const double frame_width = std::max(box.right - box.left, kCaptionWidth) + kMargin;
  const double height = box.top - box.bottom + 2 * kMargin + kCaptionHeight;
  const double width = frame_width * static_cast<double>(frames.size()) + kMargin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "fill=\"none\" stroke-linecap=\"round\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#f7f6f2\"/>\n",
      width, height);
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const std::array<double, 3> centre = middle(frames[k].segments.front());
    const double left = kMargin + frame_width * static_cast<double>(k);
    fmt::format_to(std::back_inserter(svg), "<g transform=\"translate({:.1f} {:.1f})\">\n", left - box.left,
                   kMargin + box.top);
    append_frame(svg, frames[k], camera, centre);
    svg += "</g>\n";
    fmt::format_to(std::back_inserter(svg), "<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#444\">{:.2f} s</text>\n", left,
                   height - 8, frames[k].seconds);
    if (std::abs(frames.back().travelled) > 0.05 * static_cast<double>(frames.size())) {
      fmt::format_to(std::back_inserter(svg), "<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#999\">{:.1f} m</text>\n",
                     left + 40, height - 8, frames[k].travelled);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace dissent
