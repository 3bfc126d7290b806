/* Proves: a long sequence of all kinds of collectives, with changing roots and sizes, gives the right data at every
 *   step. The sequence alternates between several communicators and contains messages. A rank may run ahead of the
 *   other ranks without mixing up data. MPI-5.0 6.14
 * np: 1 2 5 8
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm comms[4];
	int times = check_size > 2 ? 100 : 2000;
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &comms[2]);
	MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, 0, &comms[3]);
	for (int i = 0; i < times; i++) {
		MPI_Comm comm = comms[i * 7 % 4];
		int n, me, in[64], out[64], one;
		MPI_Comm_size(comm, &n);
		MPI_Comm_rank(comm, &me);
		int root = i / 4 % n, count = 1 + i % 5;
		for (int k = 0; k < 64; k++)
			in[k] = me * 100 + i + k, out[k] = -1;
		switch (i % 6) {
		case 0:
			MPI_Bcast(in, count, MPI_INT, root, comm);
			CHECK(in[count - 1] == root * 100 + i + count - 1, "step %d: bcast gives %d", i, in[count - 1]);
			break;
		case 1:
			MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
			if (me == root)
				CHECK(out[0] == n * i + 50 * n * (n - 1), "step %d: reduce gives %d", i, out[0]);
			break;
		case 2:
			MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
			for (int r = 0; r < n; r++)
				CHECK(out[r * count] == r * 100 + i, "step %d: allgather gives %d", i, out[r * count]);
			break;
		case 3:
			MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, comm);
			CHECK(out[0] == (me + 1) * i + 50 * me * (me + 1), "step %d: scan gives %d", i, out[0]);
			break;
		case 4:
			MPI_Scatter(in, 1, MPI_INT, &one, 1, MPI_INT, root, comm);
			CHECK(one == root * 100 + i + me, "step %d: scatter gives %d", i, one);
			MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, comm);
			if (me == root)
				CHECK(out[n - 1] == (n - 1) * 100 + i, "step %d: gather gives %d", i, out[n - 1]);
			break;
		case 5:
			MPI_Sendrecv(in, 1, MPI_INT, (me + 1) % n, i, out, 1, MPI_INT, (me + n - 1) % n, i, comm,
				     MPI_STATUS_IGNORE);
			CHECK(out[0] == (me + n - 1) % n * 100 + i, "step %d: a message of %d", i, out[0]);
			MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm);
			CHECK(out[n - 1] == (n - 1) * 100 + i + me, "step %d: alltoall gives %d", i, out[n - 1]);
		}
	}
	for (int i = 1; i < 4; i++)
		MPI_Comm_free(&comms[i]);
	return check_end();
}
