/* What went wrong: a rank that ran ahead of one on another node by more than 64 communicators hung for ever, since what
 *   it had sent for the others was dropped.
 * Must hold: a rank may run ahead of another as far as the calls let it, with every call that does not wait for that
 *   one, and nothing is lost. The last rank sleeps first.
 * MPI-5.0 6.1
 * np: 2 3
 * nodes: 2
 * args: dup create_group split bcast long reduce gather scatter idup ibcast send
 * ref: mpich
 * timeout: 100
 */
#include <unistd.h>

#include "../check.h"

enum { TURNS = 3000, LENGTH = 20000 };

static int rank, n, mine[LENGTH];
static MPI_Group group;

/* A communicator is made, used once and freed. */
static void use(MPI_Comm c, int turn) {
	int x = rank == 0 ? turn : -1;
	MPI_Bcast(&x, 1, MPI_INT, 0, c);
	CHECK(x == turn, "communicator %d: %d", turn, x);
	MPI_Comm_free(&c);
}

static void body(const char *what, int turn) {
	MPI_Comm c;
	MPI_Request request;
	int x = rank == 0 ? turn : -1, all[8] = {0};
	if (strcmp(what, "dup") == 0) {
		MPI_Comm_dup(MPI_COMM_WORLD, &c);
		use(c, turn);
	} else if (strcmp(what, "create_group") == 0) {
		MPI_Comm_create_group(MPI_COMM_WORLD, group, turn % 100, &c);
		use(c, turn);
	} else if (strcmp(what, "split") == 0) {
		MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c);
		use(c, turn);
	} else if (strcmp(what, "idup") == 0) {
		MPI_Comm_idup(MPI_COMM_WORLD, &c, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		use(c, turn);
	} else if (strcmp(what, "bcast") == 0) {
		MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
		CHECK(x == turn, "turn %d: %d", turn, x);
	} else if (strcmp(what, "ibcast") == 0) {
		MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(x == turn, "turn %d: %d", turn, x);
	} else if (strcmp(what, "long") == 0) {
		const int count = 1 + turn * 7 % LENGTH;
		mine[0] = mine[count - 1] = x;
		MPI_Bcast(mine, count, MPI_INT, 0, MPI_COMM_WORLD);
		CHECK(mine[0] == turn && mine[count - 1] == turn, "turn %d: %d, %d", turn, mine[0], mine[count - 1]);
	} else if (strcmp(what, "reduce") == 0) {
		x = turn;
		MPI_Reduce(&x, all, 1, MPI_INT, MPI_SUM, n - 1, MPI_COMM_WORLD);
		CHECK(rank != n - 1 || all[0] == n * turn, "turn %d: %d", turn, all[0]);
	} else if (strcmp(what, "gather") == 0) {
		x = turn + rank;
		MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, n - 1, MPI_COMM_WORLD);
		CHECK(rank != n - 1 || all[0] == turn, "turn %d: %d", turn, all[0]);
	} else if (strcmp(what, "scatter") == 0) {
		for (int i = 0; i < n; i++)
			all[i] = turn + i;
		MPI_Scatter(all, 1, MPI_INT, &x, 1, MPI_INT, 0, MPI_COMM_WORLD);
		CHECK(x == turn + rank, "turn %d: %d", turn, x);
	} else if (strcmp(what, "send") == 0) {
		if (rank == 0)
			for (int i = 1; i < n; i++)
				MPI_Send(&x, 1, MPI_INT, i, turn % 50, MPI_COMM_WORLD);
		else
			MPI_Recv(&x, 1, MPI_INT, 0, turn % 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(x == turn, "turn %d: %d", turn, x);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	rank = check_rank, n = check_size;
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	if (rank == n - 1)
		sleep(1);
	for (int turn = 0; turn < TURNS; turn++)
		body(check_arg, turn);
	MPI_Group_free(&group);
	return check_end();
}
