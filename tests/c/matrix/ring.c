/* Proves: the same as matrix.c, for windows over ordinary memory if no process may access another process's memory
 *   (GOMPIRMA_NO_CMA). Then all data passes through messages in shared memory. MPI-5.0 12.3, 12.5
 * np: 3
 * args: malloc static dynamic_malloc subcomm
 * env: GOMPIRMA_NO_CMA=1
 * ref: none (see matrix.c)
 * timeout: 120
 */
#define MATRIX_PATH "(ring)"
#include "matrix.c"
