// Settings shared by the files that are compiled once per instruction set; include before any header of Highway.
// SSSE3 is dropped (nothing gains from it over the baseline that SSE4 does not), and so are the targets whose vectors
// have no size at compile time, because the kernels keep arrays of vectors in registers.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

#if defined(__clang__)
#define DISSENT_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define DISSENT_UNROLL _Pragma("GCC unroll 16")
#else
#define DISSENT_UNROLL
#endif
