/* Proves: MPI_Win_shared_query with MPI_PROC_NULL returns the same as a query with the lowest rank whose size is not 0,
 *   even if that rank is on another node. If the caller cannot address that rank's memory, the result is size 0, a null
 *   address, and that rank's displacement unit. MPI-5.0 12.2.3
 * np: 1 2 4
 * nodes: 2
 * ref: none (MPI 4.1; older libraries take windows of MPI_Win_allocate_shared only)
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (int lowest = 0; lowest < check_size; lowest++) {
		MPI_Win win;
		MPI_Aint size = -1, expected = -2;
		int unit = -1, expected_unit = -2, *mine, *at, *expected_at = NULL;
		CHECK_OK(MPI_Win_allocate(check_rank < lowest ? 0 : 64, check_rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD,
					  &mine, &win));
		CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &at));
		CHECK_OK(MPI_Win_shared_query(win, lowest, &expected, &expected_unit, &expected_at));
		CHECK(size == expected && unit == expected_unit && at == expected_at && unit == lowest + 1,
		      "lowest %d: size %td, unit %d, at %p; that rank's are %td, %d, %p", lowest, size, unit,
		      (void *)at, expected, expected_unit, (void *)expected_at);
		CHECK_OK(MPI_Win_free(&win));
	}
	return check_end();
}
