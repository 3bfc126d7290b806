/* Proves: MPI_Bsend returns without a receiver as long as the attached buffer has space (MPI_BSEND_OVERHEAD per
 *   message). A full buffer gives MPI_ERR_BUFFER. Delivered messages free their space. Detach waits until all messages
 *   are delivered, and returns address and size. MPI-5.0 3.4, 3.6
 * np: 2 4
 * ref: mpich
 * nodes: 2
 * timeout: 30
 */
#include "../check.h"

enum { MESSAGES = 50, COUNT = 1000 };

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	int me = check_rank, other = me ^ 1, data[COUNT],
	    room = MESSAGES * (COUNT * (int)sizeof(int) + MPI_BSEND_OVERHEAD), size = 0;
	char *buffer = malloc(room), *got = NULL;
	CHECK_CLASS(MPI_Bsend(data, COUNT, MPI_INT, other, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER); /* no buffer attached */
	for (int time = 0; time < 6; time++) {
		CHECK_OK(MPI_Buffer_attach(buffer, room));
		if (time == 0)
			CHECK(MPI_Buffer_attach(buffer, room) != MPI_SUCCESS, "a second buffer was attached");
		for (int i = 0; i < MESSAGES; i++) { /* both ranks send before either receives */
			for (int k = 0; k < COUNT; k++)
				data[k] = me * 1000000 + time * 100000 + i * 1000 + k;
			CHECK_OK(MPI_Bsend(data, COUNT, MPI_INT, other, i, MPI_COMM_WORLD));
		}
		for (int k = 0; k < COUNT; k++)
			data[k] = -1; /* the caller may change the data now */
		if (time % 2) {       /* MPI_Buffer_detach would block until the peer has received */
			for (int i = MESSAGES - 1; i >= 0; i--) {
				MPI_Recv(data, COUNT, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				CHECK(data[COUNT - 1] == other * 1000000 + time * 100000 + i * 1000 + COUNT - 1,
				      "message %d: %d", i, data[COUNT - 1]);
			}
			CHECK_OK(MPI_Buffer_detach(&got, &size));
		} else if (me % 2) { /* one rank detaches first and waits for the other rank's receives */
			CHECK_OK(MPI_Buffer_detach(&got, &size));
			memset(buffer, 0x77, room);
			for (int i = 0; i < MESSAGES; i++) {
				MPI_Recv(data, COUNT, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				CHECK(data[0] == other * 1000000 + time * 100000 + i * 1000, "message %d: %d", i,
				      data[0]);
			}
		} else {
			for (int i = 0; i < MESSAGES; i++) {
				MPI_Recv(data, COUNT, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				CHECK(data[0] == other * 1000000 + time * 100000 + i * 1000, "message %d: %d", i,
				      data[0]);
			}
			CHECK_OK(MPI_Buffer_detach(&got, &size));
		}
		CHECK(got == buffer && size == room, "detach gives %p, %d, not %p, %d", (void *)got, size,
		      (void *)buffer, room);
	}
	/* This message is larger than the whole buffer. */
	CHECK_OK(MPI_Buffer_attach(buffer, 2000));
	CHECK_CLASS(MPI_Bsend(data, COUNT, MPI_INT, other, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
	CHECK_OK(MPI_Bsend(data, 10, MPI_INT, other, 1, MPI_COMM_WORLD));
	CHECK_OK(MPI_Recv(data, 10, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_Buffer_detach(&got, &size));
	/* Received messages free their space: sends more messages than fit into the buffer at once. */
	CHECK_OK(MPI_Buffer_attach(buffer, 3 * (400 + MPI_BSEND_OVERHEAD)));
	for (int i = 0; i < 200; i++) {
		data[0] = i;
		int token;
		CHECK_OK(MPI_Bsend(data, 100, MPI_INT, other, 2, MPI_COMM_WORLD));
		CHECK_OK(MPI_Recv(data, 100, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(data[0] == i, "message %d is %d", i, data[0]);
		MPI_Sendrecv(&i, 1, MPI_INT, other, 3, &token, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	CHECK_OK(MPI_Buffer_detach(&got, &size));
	free(buffer);
	return check_end();
}
