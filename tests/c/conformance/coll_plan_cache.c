/* Proves: nonblocking collectives that are called repeatedly with the same arguments give the right data each time,
 *   although the library may cache their schedules. Between the calls, the data, the contents of the argument arrays,
 *   or the datatype change. Also covers equal calls that are active at once, more kinds of calls than a cache holds,
 *   and several communicators. Persistent collectives that are created repeatedly give the right data as well
 * np: 3 5
 * timeout: 120
 */
#include "../check.h"
#include <stdbool.h>
#include <stdlib.h>

enum { TURNS = 40, MOST = 64, MANY = 20 };
static MPI_Comm ring, inter;
static int left, right, in[MANY][2 * MOST], out[MANY][2 * MOST];

static int word(int rank, int turn, int place) { return rank * 100000 + turn * 1000 + place; }

static void fill(int *b, int turn) {
	for (int i = 0; i < 2 * MOST; i++) {
		b[i] = word(check_rank, turn, i);
		for (int k = 0; b == in[0] && k < MANY; k++)
			out[k][i] = -1;
	}
}

/* Checks that the n words at `at` are the words `from`, `from` + 1, ... that process `rank` sent. */
static void expect(const char *what, const int *at, int n, int rank, int turn, int from) {
	for (int i = 0; i < n; i++)
		if (at[i] != word(rank, turn, from + i)) {
			CHECK(false, "%s, turn %d: word %d from rank %d is %d, not %d", what, turn, i, rank, at[i],
			      word(rank, turn, from + i));
			return;
		}
}

static void finish(MPI_Request *r) {
	MPI_Wait(r, MPI_STATUS_IGNORE);
	CHECK(*r == MPI_REQUEST_NULL, "the request is still there");
}

/* Repeats calls with the same arguments. In the ring, the left neighbour sends its second block to this rank, and the
 * right neighbour sends its first block. */
static void same_arguments(void) {
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Request r;
		fill(in[0], turn);
		MPI_Ineighbor_alltoall(in[0], 5, MPI_INT, out[0], 5, MPI_INT, ring, &r);
		finish(&r);
		expect("alltoall", out[0], 5, left, turn, 5);
		expect("alltoall", out[0] + 5, 5, right, turn, 0);
		fill(in[0], turn);
		MPI_Ineighbor_allgather(in[0], 3, MPI_INT, out[0], 3, MPI_INT, ring, &r);
		finish(&r);
		expect("allgather", out[0], 3, left, turn, 0);
		expect("allgather", out[0] + 3, 3, right, turn, 0);
	}
}

/* Repeats calls with the same arrays of counts and displacements, whose contents change. */
static void other_numbers(void) {
	int sends[2], receives[2], to[2], from[2];
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Request r;
		int n = turn / 3 % 7 + 1; /* number of words to the right neighbour and from the left one */
		sends[0] = 2;
		sends[1] = n;
		receives[0] = n;
		receives[1] = 2;
		to[0] = turn / 2 % 4;
		to[1] = 20 + turn / 5 % 3;
		from[0] = turn / 4 % 5;
		from[1] = 30 + turn / 7 % 3;
		fill(in[0], turn);
		MPI_Ineighbor_alltoallv(in[0], sends, to, MPI_INT, out[0], receives, from, MPI_INT, ring, &r);
		finish(&r);
		expect("alltoallv", out[0] + from[0], n, left, turn, to[1]);
		expect("alltoallv", out[0] + from[1], 2, right, turn, to[0]);
		CHECK(out[0][from[0] + n] == -1, "turn %d: more than %d words", turn, n);
	}
}

/* Repeats calls with new types. A new type may have the handle or the memory of a type that was freed. */
static void other_types(void) {
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Request r;
		MPI_Datatype t;
		int stride = turn / 2 % 3 + 1;
		MPI_Type_vector(4, 1, stride, MPI_INT, &t);
		MPI_Type_commit(&t);
		fill(in[0], turn);
		MPI_Ineighbor_allgather(in[0], 1, t, out[0], 4, MPI_INT, ring, &r);
		if (turn % 2)
			MPI_Type_free(&t);
		finish(&r);
		for (int i = 0; i < 4; i++) {
			expect("allgather of a vector", out[0] + i, 1, left, turn, i * stride);
			expect("allgather of a vector", out[0] + 4 + i, 1, right, turn, i * stride);
		}
		if (turn % 2)
			continue;
		/* Now the type of the receive buffer is new in each call. */
		fill(in[0], turn);
		MPI_Aint at[2] = {0, 40 * sizeof(int)};
		MPI_Datatype types[2] = {t, t}, ints[2] = {MPI_INT, MPI_INT};
		int ones[2] = {1, 1}, fours[2] = {4, 4};
		MPI_Ineighbor_alltoallw(in[0], fours, at, ints, out[0], ones, at, types, ring, &r);
		finish(&r);
		for (int i = 0; i < 4; i++) {
			expect("alltoallw of a vector", out[0] + i * stride, 1, left, turn, 40 + i);
			expect("alltoallw of a vector", out[0] + 40 + i * stride, 1, right, turn, i);
		}
		MPI_Type_free(&t);
	}
}

/* Starts four identical calls without data at once. Then starts MANY calls at once that differ in their counts. */
static void several(void) {
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Request r[MANY];
		fill(in[0], turn);
		for (int k = 0; k < 4; k++)
			MPI_Ineighbor_allgather(in[0], 0, MPI_INT, out[0], 0, MPI_INT, ring, &r[k]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		for (int k = 0; k < MANY; k++) {
			fill(in[k], turn + k);
			MPI_Ineighbor_alltoall(in[k], k + 1, MPI_INT, out[k], k + 1, MPI_INT, ring, &r[k]);
		}
		MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
		for (int k = 0; k < MANY; k++) {
			expect("one of many", out[k], k + 1, left, turn + k, k + 1);
			expect("one of many", out[k] + k + 1, k + 1, right, turn + k, 0);
		}
	}
}

/* Repeats calls on the intercommunicator between process 0 and the other processes: process 0 broadcasts to the other
 * processes, and gets the sum of their data. */
static void between_groups(void) {
	if (inter == MPI_COMM_NULL)
		return;
	int root = check_rank == 0 ? MPI_ROOT : 0;
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Request r[2];
		fill(in[0], turn);
		MPI_Ibcast(check_rank == 0 ? in[0] : out[0], MOST, MPI_INT, root, inter, &r[0]);
		MPI_Ireduce(in[0], out[1], MOST, MPI_INT, MPI_SUM, root, inter, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		if (check_rank != 0) {
			expect("broadcast", out[0], MOST, 0, turn, 0);
			continue;
		}
		for (int i = 0; i < MOST; i++) {
			int sum = 0;
			for (int k = 1; k < check_size; k++)
				sum += word(k, turn, i);
			CHECK(out[1][i] == sum, "turn %d: sum %d is %d, not %d", turn, i, out[1][i], sum);
		}
	}
}

/* Starts persistent collectives between nonblocking calls. */
static void beside_persistent(void) {
	MPI_Request p, r;
	static int there[2 * MOST];
	MPI_Neighbor_alltoall_init(in[1], 7, MPI_INT, there, 7, MPI_INT, ring, MPI_INFO_NULL, &p);
	for (int turn = 0; turn < TURNS; turn++) {
		fill(in[0], turn);
		fill(in[1], turn + 1);
		MPI_Ineighbor_alltoall(in[0], 7, MPI_INT, out[0], 7, MPI_INT, ring, &r);
		MPI_Start(&p);
		MPI_Wait(&p, MPI_STATUS_IGNORE);
		finish(&r);
		expect("beside a persistent one", out[0], 7, left, turn, 7);
		expect("persistent", there, 7, left, turn + 1, 7);
		expect("persistent", there + 7, 7, right, turn + 1, 0);
	}
	MPI_Request_free(&p);
}

/* Creates two persistent collectives with the same arguments in each turn. Between their starts a nonblocking call has
 * the same arguments. In every third turn only one of the two is started. */
static void persistent_again(void) {
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Request p[2], r;
		for (int k = 0; k < 2; k++)
			MPI_Neighbor_allgather_init(in[0], 5, MPI_INT, out[0], 5, MPI_INT, ring, MPI_INFO_NULL, &p[k]);
		for (int step = 0; step < 5; step++) {
			bool plain = step == 2 || (step % 2 == 1 && turn % 3 == 0);
			fill(in[0], turn + step);
			if (plain)
				MPI_Ineighbor_allgather(in[0], 5, MPI_INT, out[0], 5, MPI_INT, ring, &r);
			else
				MPI_Start(&p[step % 2]);
			MPI_Wait(plain ? &r : &p[step % 2], MPI_STATUS_IGNORE);
			expect("persistent again", out[0], 5, left, turn + step, 0);
			expect("persistent again", out[0] + 5, 5, right, turn + step, 0);
			memset(out[0], -1, sizeof out[0]);
		}
		MPI_Request_free(&p[turn % 2]);
		MPI_Request_free(&p[1 - turn % 2]);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int size = check_size, yes = 1;
	left = (check_rank + size - 1) % size;
	right = (check_rank + 1) % size;
	for (int time = 0; time < 3; time++) {
		MPI_Comm mine;
		MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &yes, 0, &ring);
		inter = MPI_COMM_NULL;
		MPI_Comm_split(MPI_COMM_WORLD, check_rank > 0, 0, &mine);
		if (size > 1)
			MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, check_rank > 0 ? 0 : 1, 5, &inter);
		MPI_Comm_free(&mine);
		same_arguments();
		other_numbers();
		other_types();
		several();
		between_groups();
#if MPI_VERSION >= 4
		beside_persistent();
		persistent_again();
#endif
		if (inter != MPI_COMM_NULL)
			MPI_Comm_free(&inter);
		MPI_Comm_free(&ring);
	}
	return check_end();
}
