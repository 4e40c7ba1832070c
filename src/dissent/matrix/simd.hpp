// Settings shared by the files that are compiled once per instruction set; include before any header of Highway.
#pragma once

#include "dissent/base/simd_targets.hpp"

#if defined(__clang__)
#define DISSENT_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define DISSENT_UNROLL _Pragma("GCC unroll 16")
#else
#define DISSENT_UNROLL
#endif
