// The loops of op_kernels.c for processors with 64-byte vectors. Loops with data in the nearest cache are up to twice
// as fast again.
#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define GOMPI_OP_WIDE gompi_op_widest
// AVX-512 has fused instructions that do not round in between, and gcc uses them.
#define ROUNDED __attribute__((target("no-avx512f")))
#include "datatype/op_kernels.c"
#endif
