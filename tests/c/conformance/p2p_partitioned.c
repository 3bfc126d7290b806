/* Proves: partitioned messages work: MPI_Pready, Pready_range and Pready_list in any order and from threads, and
 *   MPI_Parrived per partition. The two sides may divide the data differently. Covers several rounds. Two requests
 *   with the same tag match in the order of their creation. MPI-5.0 chapter 4
 * np: 2
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

#include <pthread.h>

enum { PARTS = 12, EACH = 5000, TIMES = 6 };

static double data[PARTS * EACH], other[PARTS * EACH];
static MPI_Request request[2];

static void *some(void *first) {
	for (int i = *(int *)first; i < PARTS; i += 2)
		MPI_Pready(PARTS - 1 - i, request[0]);
	return NULL;
}

int main(int argc, char **argv) {
	int flag;
	check_begin_threads(&argc, &argv);
	MPI_Status s;
	if (check_rank == 0) {
		MPI_Psend_init(data, PARTS, EACH, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
		MPI_Psend_init(other, 2, PARTS * EACH / 2, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
			       &request[1]);
	} else {
		MPI_Precv_init(data, 3, PARTS / 3 * EACH, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
		MPI_Precv_init(other, 2, PARTS * EACH / 2, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
			       &request[1]);
	}
	for (int time = 0; time < TIMES; time++) {
		if (check_rank == 0)
			for (int i = 0; i < PARTS * EACH; i++) {
				data[i] = time * 1e6 + i;
				other[i] = -data[i];
			}
		MPI_Startall(2, request);
		if (check_rank == 0) {
			if (time % 3 == 0) {
				pthread_t t[2];
				int first[2] = {0, 1};
				for (int i = 0; i < 2; i++)
					pthread_create(&t[i], NULL, some, &first[i]);
				for (int i = 0; i < 2; i++)
					pthread_join(t[i], NULL);
			} else if (time % 3 == 1) {
				MPI_Pready_range(4, PARTS - 1, request[0]);
				MPI_Pready_range(0, 3, request[0]);
			} else {
				MPI_Pready_list(PARTS - 1, (int[]){11, 2, 3, 1, 5, 4, 6, 10, 8, 9, 7}, request[0]);
				MPI_Pready(0, request[0]);
			}
			MPI_Pready(1, request[1]);
			MPI_Pready(0, request[1]);
		} else {
			for (int part = 2; part >= 0; part--) {
				do
					MPI_Parrived(request[0], part, &flag);
				while (!flag);
				for (int i = part * PARTS / 3 * EACH; i < (part + 1) * PARTS / 3 * EACH; i++)
					if (data[i] != time * 1e6 + i) {
						CHECK(0, "round %d, partition %d: element %d is %g", time, part, i,
						      data[i]);
						break;
					}
			}
		}
		for (int i = 0; i < 2; i++) {
			MPI_Wait(&request[i], &s);
			CHECK(request[i] != MPI_REQUEST_NULL, "null after it is complete");
		}
		if (check_rank == 1) {
			CHECK(s.MPI_SOURCE == 0 && s.MPI_TAG == 4, "status: from %d, tag %d", s.MPI_SOURCE, s.MPI_TAG);
			for (int i = 0; i < PARTS * EACH; i++)
				if (other[i] != -(time * 1e6 + i)) {
					CHECK(0, "round %d: element %d of the second request is %g", time, i, other[i]);
					break;
				}
		}
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	return check_end();
}
