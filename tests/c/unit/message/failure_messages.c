/* Proves for receives and requests the same as base/failure.c for windows: if a process fails, exactly the waits that
 * depend on it end with an error. If a process fails between reserving space in an inbox and setting the valid flag of
 * its record, only the waits for the owner of the inbox end.
 *
 * sanitizer: address (one thread)
 */
#include "../failures.h"

#include "message/completion.h"
#include "message/z_calls.h"

enum { RINGS = GOMPI_VCI_COUNT * GOMPI_INBOX_SIZE };

static char *inboxes;

static char into[2][8];
static void receive(int i, int from, MPI_Request *h) {
	CHECK(gompi_irecv_c(into[i], 8, MPI_BYTE, from, 1, (MPI_Comm)(uintptr_t)COMM, h) == MPI_SUCCESS, "MPI_Irecv");
}

static int loss_to(MPI_Request h) {
	struct gompi_stuck_entry place = {0};
	return gompi_request_failed_peer(gompi_request_of(h), &place);
}

static void request_failures(void) {
	MPI_Request h[2], any;
	MPI_Status status[2];
	int which = -1, n = 0, sleeps = 0;
	sleep_count = &sleeps;
	receive(0, 1, &h[0]);
	receive(1, 2, &h[1]);
	CHECK(gompi_waitany(2, h, &which, status) == MPI_ERR_PROC_ABORTED && which == 1, "MPI_Waitany: %d", which);
	CHECK(gompi_waitsome(2, h, &n, &which, status) == MPI_ERR_PROC_ABORTED, "MPI_Waitsome");
	CHECK(gompi_waitall(2, h, status) == MPI_ERR_IN_STATUS && status[0].MPI_ERROR == MPI_ERR_PENDING &&
		      status[1].MPI_ERROR == MPI_ERR_PROC_ABORTED,
	      "MPI_Waitall: %d and %d", status[0].MPI_ERROR, status[1].MPI_ERROR);
	CHECK(gompi_wait(&h[1], status) == MPI_ERR_PROC_ABORTED, "MPI_Wait for a dead process");
	CHECK(loss_to(h[0]) == GOMPI_NONE_FAILED && loss_to(h[1]) == 2, "%d and %d", loss_to(h[0]), loss_to(h[1]));
	receive(0, MPI_ANY_SOURCE, &any);
	CHECK(loss_to(any) == 2, "MPI_ANY_SOURCE means all members");
}

static void any_source_failures(void) {
	kill_process_in(3, nothing);
	expect_success((struct gompi_wait_desc){.peer = GOMPI_PEERS_ANY, .object = COMM}, "a wait for members");
	kill_process_in(2, nothing);
	expect_failure((struct gompi_wait_desc){.peer = GOMPI_PEERS_ANY, .object = COMM}, "a wait for members",
		       "rank 2 ");
	request_failures();
}

/* Reserves space in an inbox and does not set the record's valid flag, like a process that fails between the two
 * steps. */
static void reserve_without_flag(void) {
	struct gompi_inbox *b = (struct gompi_inbox *)(void *)(inboxes + RINGS + 2 * GOMPI_INBOX_SIZE);
	gompi_a64 head = 0;
	struct gompi_reservation reservation = gompi_inbox_reserve(b, &head, 100);
	CHECK(reservation.record != NULL, "no space");
}

static void inbox_record(void) {
	struct gompi_inbox *b = (struct gompi_inbox *)(void *)(inboxes + RINGS + 2 * GOMPI_INBOX_SIZE);
	gompi_store(&b->key, 12345678);
	kill_process_in(3, reserve_without_flag);
	expect_failure((struct gompi_wait_desc){.peer = 1, .object = COMM}, "a wait for who is cut off", "rank 1 ");
	expect_failure((struct gompi_wait_desc){.peer = -1, .object = COMM}, "a collective with it", "rank 1 ");
	expect_success((struct gompi_wait_desc){.peer = 2, .object = COMM}, "a wait for another");
}

static void open_messages(void) {
	inboxes = unit_memory((size_t)NODE_PROCESSES * RINGS);
	struct gompi_node place = gompi_node;
	place.message_rings = inboxes, place.message_stride = RINGS;
	struct gompi_messages *m = gompi_messages_open(&place, true);
	gompi_messages_attach(m);
	struct gompi_comm c = {.handle = COMM, .size = 3, .id = 1 << 4};
	c.peers.n = 3, c.peers.stride = 1;
	CHECK(m != NULL && gompi_comm_open(&c), "a communicator");
}

int main(void) {
	static void (*const scenes[])(void) = {any_source_failures, inbox_record};
	return run_scenes(scenes, sizeof scenes / sizeof *scenes, open_messages);
}
