/* Proves: sends to and receives from MPI_PROC_NULL return at once and do nothing. The status has MPI_PROC_NULL,
 *   MPI_ANY_TAG and 0 elements. Probes of MPI_PROC_NULL succeed. MPI-5.0 3.11
 * np: 1 2
 * args: blocking nonblocking
 * ref: mpich
 * ref-wrong: nonblocking (MPICH says source 0, tag 0 after MPI_Irecv from MPI_PROC_NULL)
 * timeout: 30
 */
#include "../check.h"

static void check_null(const MPI_Status *s, const char *call) {
	int count = -1;
	MPI_Get_count(s, MPI_INT, &count);
	CHECK(s->MPI_SOURCE == MPI_PROC_NULL && s->MPI_TAG == MPI_ANY_TAG && count == 0,
	      "%s: source %d, tag %d, count %d", call, s->MPI_SOURCE, s->MPI_TAG, count);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int value = 7, flag = 0, nobody = MPI_PROC_NULL, room = 1000;
	char *buffer = malloc(room);
	MPI_Request r[2];
	MPI_Status s;
	MPI_Comm W = MPI_COMM_WORLD;
	CHECK_OK(MPI_Send(&value, 1, MPI_INT, nobody, 0, W));
	CHECK_OK(MPI_Ssend(&value, 1, MPI_INT, nobody, 0, W));
	MPI_Buffer_attach(buffer, room);
	CHECK_OK(MPI_Bsend(&value, 1, MPI_INT, nobody, 0, W));
	MPI_Buffer_detach(&buffer, &room);
	CHECK_OK(MPI_Recv(&value, 1, MPI_INT, nobody, 3, W, &s));
	check_null(&s, "MPI_Recv");
	CHECK_OK(MPI_Recv(&value, 1, MPI_INT, nobody, MPI_ANY_TAG, W, &s));
	check_null(&s, "MPI_Recv with any tag");
	CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, nobody, 3, W, &r[0]));
	CHECK_OK(MPI_Isend(&value, 1, MPI_INT, nobody, 3, W, &r[1]));
	CHECK_OK(MPI_Wait(&r[0], &s));
	if (strcmp(check_arg, "nonblocking") == 0)
		check_null(&s, "MPI_Irecv");
	CHECK_OK(MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE));
	CHECK(flag, "a send to nobody is not done");
	CHECK_OK(MPI_Probe(nobody, 3, W, &s));
	check_null(&s, "MPI_Probe");
	flag = 0;
	CHECK_OK(MPI_Iprobe(nobody, 3, W, &flag, &s));
	CHECK(flag, "MPI_Iprobe of nobody says no");
	check_null(&s, "MPI_Iprobe");
	CHECK(value == 7, "something was received from nobody: %d", value);
	free(buffer);
	return check_end();
}
