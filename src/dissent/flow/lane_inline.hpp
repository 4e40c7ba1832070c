// How lane functions are inlined: by force in ordinary builds, where a call would spill a dozen vectors, but not under
// sanitizers: every Highway operation then leaves instrumented temporaries, and one function with thousands of them
// takes the compiler minutes and gigabytes.
#pragma once

#include <hwy/base.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define DISSENT_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DISSENT_SANITIZED 1
#endif

#if defined(DISSENT_SANITIZED)
#define DISSENT_LANE_INLINE HWY_NOINLINE
#else
#define DISSENT_LANE_INLINE HWY_INLINE
#endif
