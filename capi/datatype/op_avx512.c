// The loops of op_kernels.c for processors with 64-byte vectors. Loops with data in the L1 cache are up to twice as
// fast as in op_avx2.c.
#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define GOMPI_OP_VARIANT gompi_op_avx512
// AVX-512 includes fused multiply-add instructions, which do not round the product. ROUNDED keeps gcc from using them.
#define ROUNDED __attribute__((target("no-avx512f")))
#include "datatype/op_kernels.c"
#endif
