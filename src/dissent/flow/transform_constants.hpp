// The constants of the element-wise maps (transform_reference.hpp shows where each is used).
#pragma once

namespace dissent {

inline constexpr double kMinBin = 1e-3;     // least width and height of a bin on the unit square
inline constexpr double kMinSlope = 1e-3;   // least knot slope (rational quadratic) or density (quadratic)
inline constexpr double kMaxEndRaw = 30;    // bound on the cubic's raw end slopes
inline constexpr double kAffineOffset = 2;  // raw scale 0 gives a scale of sigmoid(2), about 0.88
inline constexpr double kMinScale = 1e-3;

}  // namespace dissent
