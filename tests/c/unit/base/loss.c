/* Proves: a wait ends with MPI_ERR_PROC_ABORTED and names the failed process if it depends on that process, and
 * continues if another process fails. Covers waits for one peer, for the members of a window, and for the origins of an
 * exposure epoch. A process that dies between reserving a ring cell and filling it ends the waits for the ring's owner,
 * and no other waits. An answer that a process left unread when it died does not block reuse of the cell. A live
 * process that has reserved a cell of another live process fills it. (message/loss_messages.c covers communicators and
 * requests.)
 * requests: message/loss_messages.c.)
 *
 * sanitizer: address (one thread)
 */
#include "../losses.h"

#include "rma/z_calls.h"
#include "transport/ring.h"
#include "transport/transport.h"

/* --- The processes that a wait depends on */

static void who(void) {
	const uint64_t win = w->handle;
	goes_on((struct gompi_waiting){.peer = -1, .object = 99}, "a wait where all live");
	dies_in(3, nothing);
	goes_on((struct gompi_waiting){.peer = 1, .object = win}, "a wait for 1 after the death of 3");
	goes_on((struct gompi_waiting){.peer = -1, .object = win}, "a window's after the death of no member");
	goes_on((struct gompi_waiting){.peer = 1, .object = win, .all = true}, "the same for one, then all");
	ends((struct gompi_waiting){.peer = -1, .object = 99}, "a wait for nobody knows whom", "rank 3 ");
	ends((struct gompi_waiting){.peer = 3, .object = win}, "a wait for the dead one", "rank 3 ");
	dies_in(2, nothing);
	goes_on((struct gompi_waiting){.peer = 1, .object = win}, "a wait for 1 after the death of 2");
	ends((struct gompi_waiting){.peer = -1, .object = win}, "a window's", "rank 2 ");
	ends((struct gompi_waiting){.peer = 1, .object = win, .all = true}, "one's, then all", "rank 2 ");
}

/* Waits for the origins of an exposure epoch. */
static void complete(void) {
	if (++*naps == 4)
		gompi_add_total(&gompi_member(w, 0)->completed, 1);
}
static void of_exposure(void) {
	static int ranks[2] = {0, 1};
	int sleeps = 0;
	naps = &sleeps;
	gompi_up.find_dead = complete;
	dies_in(2, nothing);
	w->post_group = (struct gompi_win_group){.ranks = ranks, .size = 2};
	gompi_store(&w->exposure, 3);
	w->completes_due = 1;
	gompi_store(&unit_errors, 0);
	CHECK(gompi_win_wait((MPI_Win)w->handle) == MPI_SUCCESS, "both origins live, and complete");
	gompi_store(&w->exposure, 3);
	w->completes_due = 2;
	ranks[1] = 2;
	CHECK(gompi_win_wait((MPI_Win)w->handle) == MPI_ERR_PROC_ABORTED, "an origin is dead");
	CHECK(strstr(gompi_lost_text(), "rank 2 ") != NULL, "'%s'", gompi_lost_text());
}

/* --- State that a dead process leaves behind */

static struct gompi_operation operation = {.call = "test", .target = 1, .op = MPI_OP_NULL};
static uint64_t word = 7;
static struct gompi_outgoing outgoing(bool reply) {
	return (struct gompi_outgoing){.operation = &operation,
				       .kind = reply ? PACKET_GET : PACKET_PUT,
				       .type = MPI_BYTE,
				       .origin = reply ? NULL : &word,
				       .result = reply ? &word : NULL,
				       .element = 1,
				       .bytes = 8,
				       .reply = reply};
}

/* Reserves a cell and does not fill it: runs gompi_ring_send_one up to that point. */
static void takes_a_cell(void) {
	struct gompi_ring *ring = (struct gompi_ring *)(gompi_node.operation_rings + gompi_node.operation_stride);
	gompi_add_total(&ring->tail, 1);
}

static void serve_as(int i) {
	gompi_node.me = gompi_node.self = i;
	gompi_ring_serve();
	gompi_node.me = gompi_node.self = 0;
}

static void ring_cell(void) {
	struct gompi_outgoing o = outgoing(false);
	CHECK(gompi_ring_send_one(w, &o) == MPI_SUCCESS, "put");
	serve_as(1);
	dies_in(3, takes_a_cell);
	CHECK(gompi_ring_send_one(w, &o) == MPI_SUCCESS, "a put behind the cell");
	serve_as(1);
	int sleeps = 0;
	naps = &sleeps;
	gompi_up.find_dead = nap;
	CHECK(gompi_ring_wait(w, 1, "test") == MPI_ERR_PROC_ABORTED && sleeps >= 1, "a flush behind the cell");
	CHECK(strstr(gompi_lost_text(), "rank 1 ") != NULL, "'%s'", gompi_lost_text());
	goes_on((struct gompi_waiting){.peer = 2, .object = w->handle}, "a wait for another process");
	operation.target = 2;
	CHECK(gompi_ring_send_one(w, &o) == MPI_SUCCESS, "put");
	serve_as(2);
	CHECK(gompi_ring_wait(w, 2, "test") == MPI_SUCCESS, "a flush at another process");
}

/* Requests an answer, which arrives after this process is dead. */
static void asks(void) {
	struct gompi_outgoing o = outgoing(true);
	alarm(1); /* until then it waits for the answer */
	gompi_up.find_dead = unit_nothing;
	gompi_ring_send_one(w, &o);
}

static void ring_answer(void) {
	struct gompi_outgoing o = outgoing(false);
	dies_in(3, asks);
	serve_as(1);
	for (int i = 0; i < 3 * GOMPI_RING_CELLS; i++) {
		CHECK(gompi_ring_send_one(w, &o) == MPI_SUCCESS, "put %d", i);
		serve_as(1);
	}
	CHECK(gompi_ring_wait(w, 1, "test") == MPI_SUCCESS, "a flush after the ring has gone round");
}

/* Reserves a cell of the ring of process 0, so that no other process gets an operation through to it. */
static void takes_my_cell(void) { gompi_add_total(&((struct gompi_ring *)gompi_node.operation_rings)->tail, 1); }

static void serve_late(void) {
	if (++*naps == 4)
		serve_as(1);
}

/* Tests that a process which has reserved a cell of a live process fills it, whatever other process fails. */
static void ring_full(void) {
	const struct gompi_ring *ring = (struct gompi_ring *)(gompi_node.operation_rings + gompi_node.operation_stride);
	struct gompi_outgoing o = outgoing(false), get = outgoing(true);
	int sleeps = 0;
	naps = &sleeps;
	dies_in(3, takes_my_cell);
	for (int i = 0; i < GOMPI_RING_CELLS; i++)
		CHECK(gompi_ring_send_one(w, &o) == MPI_SUCCESS, "put %d", i);
	gompi_up.find_dead = serve_late;
	CHECK(gompi_ring_send_one(w, &o) == MPI_SUCCESS && sleeps >= 4, "a put to a full ring, %d sleeps", sleeps);
	serve_as(1);
	sleeps = 0;
	CHECK(gompi_ring_send_one(w, &get) == MPI_SUCCESS && sleeps >= 4, "a get, %d sleeps", sleeps);
	for (int i = 0; i < GOMPI_RING_CELLS; i++)
		CHECK(gompi_ring_send_one(w, &o) == MPI_SUCCESS, "put %d after them", i);
	serve_as(1);
	CHECK(gompi_load(&ring->head) == gompi_load(&ring->tail), "the ring has stopped at %d of %d",
	      (int)gompi_load(&ring->head), (int)gompi_load(&ring->tail));
	gompi_up.find_dead = nap;
	for (int i = 0; i < GOMPI_RING_CELLS; i++)
		CHECK(gompi_ring_send_one(w, &o) == MPI_SUCCESS, "put %d of the last ones", i);
	dies_in(1, nothing);
	CHECK(gompi_ring_send_one(w, &o) == MPI_ERR_PROC_ABORTED, "a put to the full ring of a dead process");
}

/* --- Processes on other nodes */

static void others(void) {
	enum { ALL = 1100 };
	static int32_t index[ALL] = {0, 1, 2, 3}, node_of[ALL] = {0, 0, 0, 0, 1, 1};
	for (int i = 4; i < ALL; i++)
		index[i] = -1, node_of[i] = i < 6 ? 1 : i;
	struct gompi_node node = gompi_node;
	node.processes = unit_processes(ALL, node_of, index);
	gompi_node_open(&node);
	CHECK(!gompi_is_lost(4) && gompi_lose(4, GOMPI_LOST_SILENT) && gompi_is_lost(4) && !gompi_is_lost(5), "4");
	gompi_add_total(&gompi_header()->broken, 1);
	CHECK(!gompi_lose(4, GOMPI_LOST_ENDED) && gompi_lose(4, GOMPI_LOST_SILENT_NODE), "why 4 is lost");
	CHECK(!gompi_lose(4, GOMPI_LOST_SILENT) && !gompi_lose(4, GOMPI_LOST_SILENT_NODE), "why, again");
	goes_on((struct gompi_waiting){.peer = 6, .object = 99}, "a wait for another node's process");
	ends((struct gompi_waiting){.peer = 4, .object = 99}, "a wait for it", "and its whole node");
	ends((struct gompi_waiting){.peer = 5, .object = 99}, "a wait for another process of its node",
	     "and its whole node");
	CHECK(!gompi_lose(5, GOMPI_LOST_ENDED), "that one is lost, too");
	for (int i = 0; i < GOMPI_LOSSES - 1; i++)
		CHECK(gompi_lose(1000 + i, GOMPI_LOST_ENDED), "entry %d", i);
	goes_on((struct gompi_waiting){.peer = 6, .object = 99}, "one while all losses are known");
	CHECK(gompi_lose(1050, GOMPI_LOST_ENDED) && !gompi_lose(1051, GOMPI_LOST_ENDED), "one more than can be listed");
	ends((struct gompi_waiting){.peer = 5, .object = 99}, "one once they are not", "rank 4 ");
}

int main(void) {
	static void (*const scenes[])(void) = {who, of_exposure, ring_cell, ring_answer, ring_full, others};
	return run_scenes(scenes, sizeof scenes / sizeof *scenes, gompi_ring_open);
}
