/* Proves: MPI_Finalize returns although messages are unreceived, which MPI-5.0 11.2.2 calls erroneous. Covers large and
 *   synchronous messages; messages of persistent requests, freed requests and freed communicators; and messages of a
 *   rank to itself. If a rank receives while the sender is in MPI_Finalize, it gets the whole message.
 * np: 1 2 3
 * ref: mpich
 * timeout: 60
 */
#include <unistd.h>

#include "../check.h"

enum { N = 1 << 18 };
static int large[N], late[N], in[N];

int main(int argc, char **argv) {
	MPI_Request r[5];
	MPI_Comm other;
	check_begin(&argc, &argv);
	int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;

	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	MPI_Isend(large, N, MPI_INT, to, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Issend(large, 1, MPI_INT, to, 2, MPI_COMM_WORLD, &r[1]);
	MPI_Ssend_init(large, 1, MPI_INT, to, 3, other, &r[2]);
	MPI_Start(&r[2]);
	MPI_Isend(large, N, MPI_INT, to, 4, other, &r[3]);
	MPI_Request_free(&r[3]);
	MPI_Comm_free(&other);
	for (int i = 0; i < N; i++)
		late[i] = i + check_rank;
	MPI_Isend(late, N, MPI_INT, to, 5, MPI_COMM_WORLD, &r[4]);
	MPI_Request_free(&r[4]);
	if (check_rank == check_size - 1) {
		usleep(300000); /* lets the other ranks reach MPI_Finalize */
		MPI_Recv(in, N, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int i = 0; i < N; i++)
			CHECK(in[i] == i + from, "element %d is %d, not %d", i, in[i], i + from);
	}
	MPI_Finalize(); /* check_end would first synchronize the ranks */
	if (check_rank == check_size - 1)
		check_print_result(check_errors);
	return check_errors != 0;
}
