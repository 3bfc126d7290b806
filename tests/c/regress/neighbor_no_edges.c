/* What went wrong: neighborhood collectives of processes without neighbors rejected null pointers.
 * Must hold: the arrays have one entry per neighbor, so a process without neighbors may pass null pointers to each of
 * these collectives, and no data is moved. MPI-5.0 8.6
 * np: 1 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm g[3];
	MPI_Request q;
	int z = 0, x[4] = {7, 7, 7, 7}, y[64];
	int n1 = 1, zero = 0, self = check_rank;
	CHECK_OK(
		MPI_Dist_graph_create(MPI_COMM_WORLD, n1, &self, &zero, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g[0]));
	CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
						MPI_INFO_NULL, 0, &g[1]));
	/* a star: all other ranks send to rank 0, and rank 0 sends to no rank */
	int all[64];
	for (int i = 0; i < check_size; i++)
		all[i] = i;
	CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, check_rank ? 0 : check_size, check_rank ? NULL : all,
						MPI_UNWEIGHTED, 1, &z, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g[2]));
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 64; i++)
			y[i] = -1;
		CHECK_OK(MPI_Neighbor_alltoall(x, 1, MPI_INT, y, 1, MPI_INT, g[k]));
		CHECK_OK(MPI_Neighbor_allgather(x, 1, MPI_INT, y, 1, MPI_INT, g[k]));
		CHECK_OK(MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, g[k]));
		CHECK_OK(MPI_Neighbor_allgatherv(x, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, g[k]));
		CHECK_OK(MPI_Neighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, g[k]));
		CHECK_OK(MPI_Ineighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, g[k], &q));
		CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		CHECK_OK(MPI_Neighbor_alltoallv_init(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, g[k],
						     MPI_INFO_NULL, &q));
		for (int i = 0; i < 3; i++) {
			CHECK_OK(MPI_Start(&q));
			CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		}
		MPI_Request_free(&q);
		CHECK(y[0] == -1, "something came");
	}
	for (int i = 0; i < 64; i++)
		y[i] = -1;
	CHECK_OK(MPI_Neighbor_allgather(&check_rank, 1, MPI_INT, check_rank ? NULL : y, check_rank ? 0 : 1, MPI_INT,
					g[2]));
	if (!check_rank)
		for (int i = 0; i < check_size; i++)
			CHECK(y[i] == i, "star %d: %d", i, y[i]);
	int cnt[64], dis[64];
	for (int i = 0; i < check_size; i++) {
		cnt[i] = i;
		dis[i] = i * (i - 1) / 2;
	}
	int sc = check_rank, sd = 0, val[64];
	for (int i = 0; i < 64; i++) {
		val[i] = check_rank;
		y[i] = -1;
	}
	CHECK_OK(MPI_Ineighbor_alltoallv(val, &sc, &sd, MPI_INT, check_rank ? NULL : y, check_rank ? NULL : cnt,
					 check_rank ? NULL : dis, MPI_INT, g[2], &q));
	CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	if (!check_rank)
		for (int i = 0; i < check_size; i++)
			for (int j = 0; j < i; j++)
				CHECK(y[dis[i] + j] == i, "star v %d", i);
	for (int k = 0; k < 3; k++)
		MPI_Comm_free(&g[k]);
	return check_end();
}
