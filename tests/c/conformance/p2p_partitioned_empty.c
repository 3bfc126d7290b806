/* Proves: a partition without data arrives when the sender marks it ready, not before. In particular it has not arrived
 *   when the sender has only created or started its request. MPI_Parrived and MPI_Test agree. This holds if the two
 *   sides have different numbers of partitions, and over several rounds. MPI-5.0 4.2.2
 * np: 2
 * args: same split joined
 * ref: none (MPICH 4.0 hangs)
 * timeout: 30
 */
#include "../check.h"

enum { TIMES = 3, MOST = 6 };

static MPI_Request request;

static int parrived(int part) {
	int flag = 7;
	CHECK_OK(MPI_Parrived(request, part, &flag));
	return flag;
}

static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int sends = 3, receives = 3, flag, count, it[MOST];
	if (strcmp(check_arg, "split") == 0)
		receives = 6;
	if (strcmp(check_arg, "joined") == 0)
		sends = 6;
	int parts = check_rank == 0 ? sends : receives;
	MPI_Status s;
	if (check_rank == 0)
		MPI_Psend_init(it, sends, 0, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	else
		MPI_Precv_init(it, receives, 0, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	for (int time = 0; time < TIMES; time++) {
		if (check_rank == 1)
			MPI_Start(&request);
		meet();
		for (int step = -1; step < sends; step++) { /* number of ready partitions; -1 before MPI_Start */
			if (check_rank == 0 && step == 0)
				MPI_Start(&request);
			if (check_rank == 0 && step > 0)
				MPI_Pready(sends - step, request);
			meet();
			if (check_rank == 1) {
				for (int i = 0; i < parts; i++) {
					/* The sender marks partitions ready from the last to the first. `ready` is true
					 * if all data of receive partition i is ready. */
					int ready = step > 0 && i * sends >= (sends - step) * receives;
					for (flag = parrived(i); ready && !flag;)
						flag = parrived(i);
					CHECK(flag == ready, "round %d, %d of %d ready: partition %d of %d arrived: %d",
					      time, step, sends, i, receives, flag);
				}
				MPI_Test(&request, &flag, &s);
				CHECK(!flag, "round %d, %d of %d ready: complete", time, step, sends);
			}
			meet();
		}
		if (check_rank == 0)
			MPI_Pready(0, request);
		else
			for (int i = 0; i < parts; i++)
				while (!parrived(i))
					;
		MPI_Wait(&request, &s);
		if (check_rank == 1) {
			MPI_Get_count(&s, MPI_INT, &count);
			CHECK(s.MPI_SOURCE == 0 && s.MPI_TAG == 4 && count == 0, "status: from %d, tag %d, %d elements",
			      s.MPI_SOURCE, s.MPI_TAG, count);
		}
	}
	MPI_Request_free(&request);
	return check_end();
}
