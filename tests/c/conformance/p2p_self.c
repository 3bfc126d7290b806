/* Proves: messages to oneself arrive, on the world, on MPI_COMM_SELF and on a duplicate. Covers nonblocking sends and
 *   receives in either order, buffered and probed messages, many active messages, and large messages. MPI-5.0 3.2, 3.7
 * np: 1 2
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

enum { MANY = 200, LARGE = 300000 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
	MPI_Comm_dup(MPI_COMM_SELF, &comms[2]);
	int *out = malloc(LARGE * sizeof(int)), *in = malloc(LARGE * sizeof(int)), many[MANY], values[MANY], count,
	    room = 10000;
	char *buffer = malloc(room);
	MPI_Request r[2 * MANY];
	MPI_Status s;
	for (int c = 0; c < 3; c++) {
		MPI_Comm comm = comms[c];
		int me;
		MPI_Comm_rank(comm, &me);
		for (int late = 0; late < 2; late++) {
			for (int i = 0; i < LARGE; i++)
				out[i] = i * 3 + c, in[i] = -1;
			if (late)
				MPI_Isend(out, LARGE, MPI_INT, me, 1, comm, &r[0]);
			MPI_Irecv(in, LARGE, MPI_INT, late ? MPI_ANY_SOURCE : me, 1, comm, &r[1]);
			if (!late)
				MPI_Isend(out, LARGE, MPI_INT, me, 1, comm, &r[0]);
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
			CHECK(memcmp(in, out, LARGE * sizeof(int)) == 0, "communicator %d: a large message differs", c);
			for (int i = 0; i < MANY; i++) {
				values[i] = i + c * 1000;
				many[i] = -1;
				MPI_Isend(&values[i], 1, MPI_INT, me, i, comm, &r[i]);
			}
			for (int i = MANY - 1; i >= 0; i--)
				MPI_Irecv(&many[i], 1, MPI_INT, me, i, comm, &r[MANY + i]);
			MPI_Waitall(2 * MANY, r, MPI_STATUSES_IGNORE);
			for (int i = 0; i < MANY; i++)
				CHECK(many[i] == values[i], "communicator %d: message %d is %d", c, i, many[i]);
		}
		MPI_Buffer_attach(buffer, room);
		MPI_Bsend(out, 100, MPI_INT, me, 5, comm);
		MPI_Probe(me, MPI_ANY_TAG, comm, &s);
		MPI_Get_count(&s, MPI_INT, &count);
		CHECK(count == 100 && s.MPI_TAG == 5, "communicator %d: probed %d elements, tag %d", c, count,
		      s.MPI_TAG);
		MPI_Recv(in, 100, MPI_INT, me, 5, comm, MPI_STATUS_IGNORE);
		CHECK(in[99] == out[99], "communicator %d: buffered: %d", c, in[99]);
		MPI_Buffer_detach(&buffer, &room);
	}
	MPI_Comm_free(&comms[2]);
	free(out);
	free(in);
	free(buffer);
	return check_end();
}
