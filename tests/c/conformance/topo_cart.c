/* Proves: MPI_Dims_create, Cart_create, Cart_get, Cart_rank, Cart_coords, Cart_shift, Cart_sub, Cart_map and Topo_test
 *   return the right values. Grids are periodic or not, and may have fewer positions than there are processes. A
 *   duplicate keeps the grid. Wrong arguments are refused. MPI-5.0 8.5
 * np: 1 4 6
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int dims[2] = {0, 0}, periods[2] = {1, 0}, d[2], p[2], x[2], kind, rank, size, source, dest, n;
	MPI_Comm grid, dup, sub;
	MPI_Dims_create(check_size, 2, dims);
	CHECK(dims[0] * dims[1] == check_size && dims[0] >= dims[1], "%d x %d", dims[0], dims[1]);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Topo_test(grid, &kind);
	CHECK(kind == MPI_CART, "topology %d", kind);
	MPI_Topo_test(MPI_COMM_WORLD, &kind);
	CHECK(kind == MPI_UNDEFINED, "topology of the world %d", kind);
	MPI_Comm_rank(grid, &rank);
	MPI_Comm_dup(grid, &dup);
	MPI_Cartdim_get(dup, &n);
	MPI_Cart_get(dup, 2, d, p, x);
	CHECK(n == 2 && d[0] == dims[0] && d[1] == dims[1] && p[0] && !p[1], "%d dimensions, %d x %d, periods %d %d", n,
	      d[0], d[1], p[0], p[1]);
	CHECK(x[0] == rank / dims[1] && x[1] == rank % dims[1], "rank %d at %d %d", rank, x[0], x[1]);
	for (int r = 0; r < check_size; r++) {
		int back, at[2];
		MPI_Cart_coords(grid, r, 2, at);
		at[0] -= 3 * dims[0];
		MPI_Cart_rank(grid, at, &back);
		CHECK(back == r, "rank %d comes back as %d", r, back);
	}
	MPI_Cart_shift(grid, 0, 1, &source, &dest);
	CHECK(source == (x[0] + dims[0] - 1) % dims[0] * dims[1] + x[1] &&
		      dest == (x[0] + 1) % dims[0] * dims[1] + x[1],
	      "round: %d %d", source, dest);
	MPI_Cart_shift(grid, 1, 1, &source, &dest);
	CHECK(source == (x[1] > 0 ? rank - 1 : MPI_PROC_NULL) &&
		      dest == (x[1] < dims[1] - 1 ? rank + 1 : MPI_PROC_NULL),
	      "along: %d %d", source, dest);
	int got = -1;
	MPI_Sendrecv(&rank, 1, MPI_INT, dest, 0, &got, 1, MPI_INT, source, 0, grid, MPI_STATUS_IGNORE);
	CHECK(got == (source == MPI_PROC_NULL ? -1 : source), "from the neighbor: %d", got);

	MPI_Cart_sub(grid, (int[]){0, 1}, &sub);
	MPI_Comm_size(sub, &size);
	MPI_Cart_get(sub, 1, d, p, x);
	CHECK(size == dims[1] && d[0] == dims[1] && !p[0] && x[0] == rank % dims[1], "row: %d of %d", x[0], size);
	MPI_Comm_free(&sub);
	MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &n);
	CHECK(n >= 0 && n < check_size, "mapped to %d", n);
	MPI_Comm_free(&grid);
	MPI_Comm_free(&dup);

	/* a grid with one position less than there are processes */
	if (check_size > 1) {
		MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){check_size - 1}, (int[]){1}, 1, &grid);
		n = grid != MPI_COMM_NULL;
		int all;
		MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		CHECK(all == check_size - 1, "%d processes are in the grid", all);
		if (grid != MPI_COMM_NULL)
			MPI_Comm_free(&grid);
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){check_size + 1}, (int[]){1}, 0, &grid) != MPI_SUCCESS,
	      "a grid with too many places");
	CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
	return check_end();
}
