/* Proves: what matrix.c proves, for windows over ordinary memory whose whole pages are shared in place
 *   (GOMPIRMA_SHARE_IN_PLACE, which other libraries ignore). Each buffer begins and ends in pages that are not
 *   shared, so one operation may reach its target by two paths. MPI-5.0 12.3, 12.5
 * np: 3
 * args: malloc static subcomm
 * env: GOMPIRMA_SHARE_IN_PLACE=true
 * ref: none (see matrix.c)
 * timeout: 120
 */
#define MATRIX_PATH "(inplace)"
#include "matrix.c"
