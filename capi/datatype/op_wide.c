// The loops of op_kernels.c for processors with vectors of 32 bytes, where some are twice as fast. Their results are
// the same: nothing is contracted.
#if defined(__x86_64__)
#pragma GCC target("avx2")
#define GOMPI_OP_WIDE gompi_op_wide
#include "datatype/op_kernels.c"
#endif
