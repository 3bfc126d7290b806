/* Proves for communicators and requests what base/loss.c proves for windows: on which processes a receive or several
 * requests depend. A process that dies between reserving space in an inbox and setting the valid flag of its record
 * ends the waits for the owner of the inbox, and no other waits.
 *
 * sanitizer: address (one thread)
 */
#include "../losses.h"

#include "message/handles.h"
#include "message/z_calls.h"

enum { RINGS = GOMPI_LANES * GOMPI_INBOX_SIZE };

static char *inboxes;

static char into[2][8];
static void receive(int i, int from, MPI_Request *h) {
	CHECK(gompi_irecv_c(into[i], 8, MPI_BYTE, from, 1, (MPI_Comm)(uintptr_t)COMM, h) == MPI_SUCCESS, "MPI_Irecv");
}

static int loss_to(MPI_Request h) {
	struct gompi_stuck place = {0};
	return gompi_request_loss(gompi_request_of(h), &place);
}

static void of_requests(void) {
	MPI_Request h[2], any;
	MPI_Status status[2];
	int which = -1, n = 0, sleeps = 0;
	naps = &sleeps;
	receive(0, 1, &h[0]);
	receive(1, 2, &h[1]);
	CHECK(gompi_waitany(2, h, &which, status) == MPI_ERR_PROC_ABORTED && which == 1, "MPI_Waitany: %d", which);
	CHECK(gompi_waitsome(2, h, &n, &which, status) == MPI_ERR_PROC_ABORTED, "MPI_Waitsome");
	CHECK(gompi_waitall(2, h, status) == MPI_ERR_IN_STATUS && status[0].MPI_ERROR == MPI_ERR_PENDING &&
		      status[1].MPI_ERROR == MPI_ERR_PROC_ABORTED,
	      "MPI_Waitall: %d and %d", status[0].MPI_ERROR, status[1].MPI_ERROR);
	CHECK(gompi_wait(&h[1], status) == MPI_ERR_PROC_ABORTED, "MPI_Wait for a dead process");
	CHECK(loss_to(h[0]) == GOMPI_NOBODY && loss_to(h[1]) == 2, "%d and %d", loss_to(h[0]), loss_to(h[1]));
	receive(0, MPI_ANY_SOURCE, &any);
	CHECK(loss_to(any) == 2, "MPI_ANY_SOURCE means all members");
}

static void who(void) {
	dies_in(3, nothing);
	goes_on((struct gompi_waiting){.peer = GOMPI_PEERS_ANY, .object = COMM}, "a wait for members");
	dies_in(2, nothing);
	ends((struct gompi_waiting){.peer = GOMPI_PEERS_ANY, .object = COMM}, "a wait for members", "rank 2 ");
	of_requests();
}

/* Reserves space in an inbox and does not set the valid flag. */
static void reserves(void) {
	struct gompi_inbox *b = (struct gompi_inbox *)(void *)(inboxes + RINGS + 2 * GOMPI_INBOX_SIZE);
	gompi_a64 head = 0;
	struct gompi_room room = gompi_inbox_reserve(b, &head, 100);
	CHECK(room.record != NULL, "no room");
}

static void inbox_record(void) {
	struct gompi_inbox *b = (struct gompi_inbox *)(void *)(inboxes + RINGS + 2 * GOMPI_INBOX_SIZE);
	gompi_store(&b->key, 12345678);
	dies_in(3, reserves);
	ends((struct gompi_waiting){.peer = 1, .object = COMM}, "a wait for who is cut off", "rank 1 ");
	ends((struct gompi_waiting){.peer = -1, .object = COMM}, "a collective with it", "rank 1 ");
	goes_on((struct gompi_waiting){.peer = 2, .object = COMM}, "a wait for another");
}

static void open_messages(void) {
	inboxes = unit_memory((size_t)PROCESSES * RINGS);
	struct gompi_node place = gompi_node;
	place.message_rings = inboxes, place.message_stride = RINGS;
	struct gompi_messages *m = gompi_messages_open(&place, true);
	gompi_messages_enter(m);
	struct gompi_comm c = {.handle = COMM, .size = 3, .id = 1 << 4};
	c.peers.n = 3, c.peers.stride = 1;
	CHECK(m != NULL && gompi_comm_open(&c), "a communicator");
}

int main(void) {
	static void (*const scenes[])(void) = {who, inbox_record};
	return run_scenes(scenes, sizeof scenes / sizeof *scenes, open_messages);
}
