/* Proves: each message in an attached buffer takes its data size plus MPI_BSEND_OVERHEAD. A new message fits if its
 *   space and the space of all unsent messages together do not exceed the buffer. Gaps between the unsent messages do
 *   not matter. The receiver gets the data as it was at the call. A communicator's buffer takes precedence over the
 *   process's buffer. MPI_Buffer_iflush completes when the messages buffered before the call have left, whatever is
 *   sent afterwards. The request of MPI_Buffer_iflush may be freed while it is active. MPI_BUFFER_AUTOMATIC accepts
 *   every message. Freeing a communicator waits until its buffer is empty. Persistent buffered sends take space when
 *   they are started. MPI-5.0 3.4, 3.6, 3.9
 * np: 2
 * nodes: 2
 * ref: none (Debian's MPICH and Open MPI have no buffers of communicators)
 * timeout: 60
 */
#include "../check.h"

enum { SIZE = 1000000, OVER = MPI_BSEND_OVERHEAD, ROOM = 3 * (SIZE + OVER) };

static char buffer[ROOM], data[ROOM], got[ROOM];

static int send(MPI_Comm c, int size, int tag) {
	memset(data, tag + 1, size);
	int code = MPI_Bsend(data, size, MPI_BYTE, 1, tag, c);
	memset(data, 0, size);
	return code;
}

static void receive(MPI_Comm c, int size, int tag) {
	CHECK_OK(MPI_Recv(got, ROOM, MPI_BYTE, 0, tag, c, MPI_STATUS_IGNORE));
	for (int i = 0; i < size; i++)
		if (got[i] != (char)(tag + 1)) {
			CHECK(0, "byte %d of message %d is %d", i, tag, got[i]);
			break;
		}
}

/* Synchronizes the two ranks. Rank 0 sends before one call, and rank 1 receives between that call and the next one. */
static void turn(void) { MPI_Barrier(MPI_COMM_WORLD); }

static int is_over(MPI_Request *r) {
	int flag;
	CHECK_OK(MPI_Request_get_status(*r, &flag, MPI_STATUS_IGNORE));
	return flag;
}

static void expect_detached(int code, void *addr, int size, void *want, int want_size) {
	CHECK_OK(code);
	CHECK(addr == want && size == want_size, "detached %p, %d, not %p, %d", addr, size, want, want_size);
}

static void sender(MPI_Comm c) {
	MPI_Request flush, freed, request;
	MPI_Status status;
	void *addr;
	int size, code;
	CHECK_CLASS(send(c, 0, 0), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Buffer_attach(buffer, -1), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Buffer_attach(NULL, 1), MPI_ERR_ARG);
	code = MPI_Buffer_detach(&addr, &size);
	expect_detached(code, addr, size, NULL, 0);
	CHECK_OK(MPI_Buffer_attach(buffer, ROOM));
	CHECK_CLASS(MPI_Buffer_attach(buffer, 5), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Buffer_detach(NULL, &size), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Buffer_iflush(NULL), MPI_ERR_ARG);
	CHECK_CLASS(send(c, ROOM - OVER + 1, 0), MPI_ERR_BUFFER);
	for (int i = 0; i < 3; i++)
		CHECK_OK(send(c, SIZE, i));
	CHECK_CLASS(send(c, 0, 9), MPI_ERR_BUFFER);
	CHECK(strstr(check_string(send(c, 0, 9)),
		     "needs 512 bytes (with MPI_BSEND_OVERHEAD), but only 0 of the 3001536 ") != NULL,
	      "the text is \"%s\"", check_string(send(c, 0, 9)));
	CHECK_OK(MPI_Buffer_iflush(&flush));
	CHECK_OK(MPI_Buffer_iflush(&freed));
	CHECK(!is_over(&flush), "a flush is over before its messages have left");
	CHECK_OK(MPI_Request_free(&freed));
	turn(); /* the second message is received */
	turn();
	while ((code = send(c, 600000, 3)) != MPI_SUCCESS) /* until the second message's space is free again */
		CHECK_CLASS(code, MPI_ERR_BUFFER);
	/* The message fits by its size, although no single gap is large enough. */
	CHECK_OK(send(c, 400000 - OVER, 4));
	CHECK_CLASS(send(c, 0, 9), MPI_ERR_BUFFER);
	CHECK(!is_over(&flush), "a flush is over before its messages have left");
	turn(); /* the first and the third message are received */
	CHECK_OK(MPI_Wait(&flush, &status));
	CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG, "status of a flush: %d, %d",
	      status.MPI_SOURCE, status.MPI_TAG);
	turn(); /* the remaining messages are received */
	code = MPI_Buffer_detach(&addr, &size);
	expect_detached(code, addr, size, buffer, ROOM);

	/* The communicator's own buffer is used although the process also has one. */
	CHECK_OK(MPI_Comm_attach_buffer(c, buffer, 100));
	CHECK_OK(MPI_Buffer_attach(buffer + 100, 10000));
	CHECK_CLASS(send(c, 0, 5), MPI_ERR_BUFFER);
	CHECK_OK(MPI_Comm_flush_buffer(c));
	code = MPI_Comm_detach_buffer(c, &addr, &size);
	expect_detached(code, addr, size, buffer, 100);
	CHECK_OK(send(c, 0, 5));
	CHECK_OK(MPI_Buffer_flush());
	code = MPI_Comm_detach_buffer(c, &addr, &size);
	expect_detached(code, addr, size, NULL, 0);

	/* A persistent send takes space when it is started. */
	CHECK_OK(MPI_Bsend_init(data, 20000, MPI_BYTE, 1, 6, c, &request));
	CHECK_CLASS(MPI_Start(&request), MPI_ERR_BUFFER);
	code = MPI_Buffer_detach(&addr, &size);
	expect_detached(code, addr, size, buffer + 100, 10000);
	CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
	for (int i = 0; i < 30; i++) {
		memset(data, 7, 20000);
		CHECK_OK(MPI_Start(&request));
		CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		memset(data, 0, 20000);
	}
	CHECK_OK(MPI_Request_free(&request));
	code = MPI_Buffer_detach(&addr, &size);
	expect_detached(code, addr, size, MPI_BUFFER_AUTOMATIC, 0);

	/* Freeing a communicator waits for the messages in its buffer. */
	CHECK_OK(MPI_Comm_attach_buffer(c, buffer, ROOM));
	CHECK_OK(MPI_Ibsend(memset(data, 8, SIZE), SIZE, MPI_BYTE, 1, 7, c, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_Comm_iflush_buffer(c, &flush));
	CHECK_OK(MPI_Comm_free(&c));
	memset(buffer, 0, ROOM);
	CHECK(is_over(&flush), "a communicator is freed before its messages have left");
	CHECK_OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
}

static void receiver(MPI_Comm c) {
	turn();
	receive(c, SIZE, 1);
	turn();
	turn();
	receive(c, SIZE, 0);
	receive(c, SIZE, 2);
	turn();
	receive(c, 600000, 3);
	receive(c, 400000 - OVER, 4);
	receive(c, 0, 5);
	for (int i = 0; i < 30; i++)
		receive(c, 20000, 6);
	receive(c, SIZE, 7);
	CHECK_OK(MPI_Comm_free(&c));
}

int main(int argc, char **argv) {
	MPI_Comm c;
	check_begin_return_errors(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	(check_rank == 0 ? sender : receiver)(c);
	return check_end();
}
