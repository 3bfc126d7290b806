/* Proves: the data of a nonblocking collective reaches the last member, which waits for it, while the members that
 *   forward the data compute. After the start, those members make no MPI calls except to post more receives. When such
 *   a receive is posted, the library may find messages of the collective in the queue and must process them. Also
 *   covers an intercommunicator between process 0 and the other processes. gompirma promises this; the standard allows
 *   members to forward data only in their next call
 * np: 4 8
 * ref: none (MPICH and Open MPI wait for the next call)
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 1 (the ranks report their progress to each other in shared memory)
 * timeout: 60
 */
#include "../no_progress.h"
#include <stdbool.h>

enum { N = 100000, ROUNDS = 40, MOST = 300 };
static const MPI_Comm W = MPI_COMM_WORLD;
static int in[N], out[N];
static MPI_Request more[MOST];

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	away_begin();
	_Atomic int *turn = away_calls + 1, *done = away_calls + 2;
	if (check_rank == 0) {
		atomic_store(turn, 0);
		atomic_store(done, 0);
	}
	MPI_Comm mine, inter;
	MPI_Comm_split(W, check_rank > 0, 0, &mine);
	MPI_Intercomm_create(mine, 0, W, check_rank > 0 ? 0 : 1, 5, &inter);
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Request r;
		bool between = round / 4 % 2;
		MPI_Comm over = between ? inter : W;
		int root = between && check_rank == 0 ? MPI_ROOT : 0, terms = between ? check_size - 1 : check_size;
		int reduce = round % 2, last = check_size - 1, place = reduce ? last - check_rank : check_rank,
		    n = round * 37 % MOST, length = round % 5 == 4 ? 10 : N; /* 10 ints fit into one inbox record */
		bool waits = place == last; /* at the end of the tree: root of a reduction, last rank of a broadcast */
		if (round / 2 % 2)
			place = last - place;
		for (int i = 0; i < N; i++) {
			in[i] = check_rank == 0 || reduce ? i + round : -1;
			out[i] = -1;
		}
		MPI_Barrier(W);
		while (atomic_load(turn) !=
		       round * check_size + place) /* the members start in the order of their places */
			usleep(50);
		if (reduce)
			MPI_Ireduce(in, out, length, MPI_INT, MPI_SUM, root, over, &r);
		else
			MPI_Ibcast(in, length, MPI_INT, root, over, &r);
		atomic_fetch_add(turn, 1);
		if (waits) {
			away_watch(reduce ? "MPI_Ireduce" : "MPI_Ibcast");
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			alarm(0);
			atomic_store(done, round + 1);
		} else {
			for (int i = 0; i < n; i++)
				MPI_Irecv(NULL, 0, MPI_INT, check_rank, 7, W, &more[i]);
		}
		while (atomic_load(done) != round + 1)
			usleep(50);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		for (int i = 0; i < n && !waits; i++) {
			MPI_Cancel(&more[i]);
			MPI_Wait(&more[i], MPI_STATUS_IGNORE);
		}
		for (int i = 0; i < length; i++)
			if (reduce ? check_rank == 0 && out[i] != terms * (i + round) : in[i] != i + round) {
				CHECK(0, "round %d: element %d is %d", round, i, reduce ? out[i] : in[i]);
				break;
			}
	}
	MPI_Comm_free(&inter);
	MPI_Comm_free(&mine);
	away_end();
	return check_end();
}
