/* Proves: the library stores a flood of unexpected messages. All other ranks send thousands of small and medium
 *   messages to rank 0. Rank 0 waits for the last message of each rank, then receives in reverse order of tags. Other
 *   communicators work meanwhile. MPI-5.0 3.5
 * np: 2 4
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MESSAGES = 3000, MOST = 600, LAST = 30000 };

static int length(int i) { return i % 50 == 0 ? MOST : i % 7; }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, data[MOST], count, sum, one = 1;
	MPI_Comm copy;
	MPI_Status s;
	int room = MESSAGES * (60 + MPI_BSEND_OVERHEAD) + MESSAGES / 50 * MOST * 4;
	char *buffer = malloc(room);
	MPI_Buffer_attach(buffer, room);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	if (check_rank > 0) {
		for (int i = 0; i < MESSAGES; i++) {
			for (int k = 0; k < length(i); k++)
				data[k] = check_rank * 100000 + i * 10 + k;
			MPI_Bsend(data, length(i), MPI_INT, 0, i,
				  MPI_COMM_WORLD); /* a plain send might wait for its receive */
		}
		MPI_Send(&one, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD);
	} else {
		for (int source = 1; source < n; source++)
			MPI_Recv(&one, 1, MPI_INT, source, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
	CHECK(sum == n, "sum %d, not %d", sum, n);
	if (check_rank == 0)
		for (int i = MESSAGES - 1; i >= 0; i--)
			for (int source = 1; source < n; source++) {
				MPI_Recv(data, MOST, MPI_INT, source, i, MPI_COMM_WORLD, &s);
				MPI_Get_count(&s, MPI_INT, &count);
				CHECK(count == length(i), "message %d of %d has %d elements, not %d", i, source, count,
				      length(i));
				for (int k = 0; k < count && k < MOST; k++)
					CHECK(data[k] == source * 100000 + i * 10 + k, "message %d of %d: [%d] is %d",
					      i, source, k, data[k]);
			}
	MPI_Buffer_detach(&buffer, &room);
	free(buffer);
	MPI_Comm_free(&copy);
	return check_end();
}
