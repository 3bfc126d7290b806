/* Proves: if the communicator is revoked, the root leaves a long MPI_Reduce while another member still computes. From
 *   then on no member writes to the root's receive buffer. The root passes a send buffer or MPI_IN_PLACE.
 *   MPI-5.0 6.9.1
 * np: 2 3
 * again: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * nodes: 1 (the slow members combine data in shared memory; the root itself combines the data of other nodes)
 * timeout: 60
 */
#include "../check.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <unistd.h>

enum { COUNT = 1 << 17, SLOW_US = 300000 };

static int in[COUNT], out[COUNT];
static int is_slow;

static void add_slowly(void *from, void *to, int *n, MPI_Datatype *type) {
	(void)type;
	if (is_slow)
		usleep(SLOW_US);
	for (int i = 0; i < *n; i++)
		((int *)to)[i] += ((int *)from)[i];
}

static void *revoke_later(void *comm) {
	usleep(SLOW_US / 3);
	MPIX_Comm_revoke(*(MPI_Comm *)comm);
	return NULL;
}

static void reduce(int in_place, MPI_Op op) {
	MPI_Comm comm;
	pthread_t revoker;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	is_slow = check_rank != 0;
	if (check_rank == 0)
		pthread_create(&revoker, NULL, revoke_later, &comm);
	int rc = MPI_Reduce(check_rank == 0 && in_place ? MPI_IN_PLACE : in, out, COUNT, MPI_INT, op, 0, comm);
	CHECK_CLASS(rc, MPIX_ERR_REVOKED);
	if (check_rank == 0) {
		pthread_join(revoker, NULL);
		memset(out, 0x55, sizeof out);
		usleep(3 * SLOW_US);
		for (int i = 0; i < COUNT; i++)
			if (out[i] != 0x55555555) {
				CHECK(0, "element %d was written after MPI_Reduce had returned", i);
				break;
			}
	}
	MPI_Comm_free(&comm);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
	MPI_Op op;
	check_begin_threads(&argc, &argv);
	MPI_Op_create(add_slowly, 1, &op);
	reduce(0, op);
	reduce(1, op);
	MPI_Op_free(&op);
	return check_end();
}
