// Which instruction sets the vector kernels are compiled for; include before any header of Highway.
//
// Scalar, AVX2 and AVX-512 on x86: anything between is older than 2013. Targets whose vectors have no size at compile
// time are left out, because kernels keep arrays of vectors. Sanitizers multiply the compiler's work on such code:
// under the address sanitizer one vector target stands for all (AVX-512, or scalar if there is none); the thread
// sanitizer, which sees no vectors, gets the scalar one.
#pragma once

#define DISSENT_UNUSED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#if defined(__SANITIZE_THREAD__)
#define HWY_DISABLED_TARGETS (DISSENT_UNUSED_TARGETS | HWY_AVX2 | HWY_AVX3)
#elif defined(__SANITIZE_ADDRESS__)
#define HWY_DISABLED_TARGETS (DISSENT_UNUSED_TARGETS | HWY_AVX2)
#else
#define HWY_DISABLED_TARGETS DISSENT_UNUSED_TARGETS
#endif
