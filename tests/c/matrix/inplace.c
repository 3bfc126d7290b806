/* Proves: the same as matrix.c, for windows over ordinary memory with GOMPIRMA_SHARE_IN_PLACE. With this variable the
 *   library shares the pages that lie entirely in the window with other processes, without moving them. The pages at
 *   the window's beginning and end are not shared, so one operation may reach its target by two paths. Other libraries
 *   ignore the variable. MPI-5.0 12.3, 12.5
 * np: 3
 * args: malloc static subcomm
 * env: GOMPIRMA_SHARE_IN_PLACE=true
 * ref: none (see matrix.c)
 * timeout: 120
 */
#define MATRIX_PATH "(inplace)"
#include "matrix.c"
