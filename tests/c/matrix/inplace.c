/* Proves: what matrix.c proves, for windows over ordinary memory whose whole pages are shared where they lie
 *   (GOMPIRMA_SHARE_IN_PLACE; another library does not look at it): each buffer begins and ends in pages that are not,
 *   so an operation may reach one target in two ways. MPI-5.0 12.3, 12.5
 * np: 3
 * args: malloc static subcomm
 * env: GOMPIRMA_SHARE_IN_PLACE=true
 * ref: none (see matrix.c)
 * timeout: 120
 */
#define MATRIX_PATH "(inplace)"
#include "matrix.c"
