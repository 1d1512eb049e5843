/* Loops for the widest vectors of the machine they run on: the compiler makes a function so marked once per instruction
 * set and the loader picks. Safe for equal results because no version may contract a*b+c (-ffp-contract=off) and gcc
 * does not reassociate float sums: a function whose loops are element by element gives the same bits in every version.
 * Off under sanitizers, whose run-time is not up when the loader picks, and with clang: what version 14 has the loader
 * pick by is one symbol for static functions of one name in two files, and hides what is not static from other files. */
#ifndef MGB_HOST_SIMD_H
#define MGB_HOST_SIMD_H

#if !defined(__x86_64__) || !defined(__OPTIMIZE__)
#define MGB_SIMD
#elif defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define MGB_SIMD
#elif defined(__clang__)
#define MGB_SIMD
#else /* the levels rather than single features: gcc makes better loops of them */
#define MGB_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

/* In front of a loop whose iterations do not meet in memory, except that a result may overwrite the very element it is
 * made from: in-place work vectorises too. */
#if defined(__clang__)
#define MGB_EACH _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define MGB_EACH _Pragma("GCC ivdep")
#else
#define MGB_EACH
#endif

#endif
