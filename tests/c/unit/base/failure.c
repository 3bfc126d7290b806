/* Proves: if a process fails, each wait that depends on it ends with MPI_ERR_PROC_ABORTED and names the process. All
 * other waits continue. Covers waits for one peer, for the members of a window, for processes of other jobs, and for
 * the origins of an exposure epoch. If a process fails between reserving a ring cell and filling it, only the waits for
 * the ring's owner end. A reply that a failed process has not read does not block reuse of the ring cell. If an
 * unrelated process fails, a live process still fills the cell that it has reserved in the ring of a live process.
 * message/failure_messages.c covers communicators and requests.
 *
 * sanitizer: address (one thread)
 */
#include "../failures.h"

#include "rma/z_calls.h"
#include "transport/ring.h"
#include "transport/transport.h"

/* --- The processes that a wait depends on */

static void wait_dependences(void) {
	const uint64_t win = w->handle;
	expect_success((struct gompi_wait_desc){.peer = -1, .object = 99}, "a wait where all live");
	kill_process_in(3, nothing);
	expect_success((struct gompi_wait_desc){.peer = 1, .object = win}, "a wait for 1 after the death of 3");
	expect_success((struct gompi_wait_desc){.peer = -1, .object = win}, "a window's after the death of no member");
	expect_success((struct gompi_wait_desc){.peer = 1, .object = win, .depends_on_all = true},
		       "the same for one, then all");
	expect_failure((struct gompi_wait_desc){.peer = -1, .object = 99}, "a wait for nobody knows whom", "rank 3 ");
	expect_failure((struct gompi_wait_desc){.peer = 3, .object = win}, "a wait for the dead one", "rank 3 ");
	kill_process_in(2, nothing);
	expect_success((struct gompi_wait_desc){.peer = 1, .object = win}, "a wait for 1 after the death of 2");
	expect_failure((struct gompi_wait_desc){.peer = -1, .object = win}, "a window's", "rank 2 ");
	expect_failure((struct gompi_wait_desc){.peer = 1, .object = win, .depends_on_all = true}, "one's, then all",
		       "rank 2 ");
}

/* Process 3 is of another job. */
static void other_job(void) {
	static const int32_t members[] = {0, 3};
	((struct gompi_processes *)gompi_node.processes)->world_size = 3;
	kill_process_in(3, nothing);
	expect_success((struct gompi_wait_desc){.peer = -1, .object = 99}, "a wait for this job");
	expect_failure(
		(struct gompi_wait_desc){.peer = 1, .members = members, .member_count = 2, .depends_on_all = true},
		"a wait for a process of another job", "a process of another job ");
	expect_success((struct gompi_wait_desc){.peer = -1, .members = members, .member_count = 1}, "not for that one");
	kill_process_in(2, nothing);
	expect_failure((struct gompi_wait_desc){.peer = -1, .members = members, .member_count = 1}, "one of this job",
		       "rank 2 ");
	gompi_node.is_fault_tolerant = true;
	expect_success((struct gompi_wait_desc){.peer = -1, .members = members, .member_count = 1},
		       "not for that one in a fault-tolerant job");
}

static bool is_made;

/* Makes a condition true and reports that a process has failed. */
static int make_and_fail(const void *of, struct gompi_stuck_entry *place) {
	is_made = true;
	return 2;
}

static bool condition_is_made(void *arg) { return is_made; }

/* Process 2 makes the condition of a wait true and fails, before the wait checks its condition again. */
static void condition_of_failed(void) {
	kill_process_in(2, nothing);
	const struct gompi_wait_desc what = {.peer = 2, .object = 99, .find_failed = make_and_fail};
	CHECK(gompi_await(&gompi_my_cell()->wait, condition_is_made, NULL, &what) == MPI_SUCCESS && is_made,
	      "the condition is true");
}

/* Completes an access epoch, as an origin does, during the fourth sleep of the target's wait. */
static void complete_after_sleeps(void) {
	if (++*sleep_count == 4)
		gompi_add_seq_cst(&gompi_member(w, 0)->complete_count, 1);
}
static void exposure_wait(void) {
	static int ranks[2] = {0, 1};
	int sleeps = 0;
	sleep_count = &sleeps;
	gompi_go_callbacks.find_failed = complete_after_sleeps;
	kill_process_in(2, nothing);
	w->post_group = (struct gompi_win_group){.ranks = ranks, .size = 2};
	gompi_store(&w->exposure, 3);
	w->expected_completes = 1;
	gompi_store(&unit_errors, 0);
	CHECK(gompi_win_wait((MPI_Win)w->handle) == MPI_SUCCESS, "both origins live, and complete");
	gompi_store(&w->exposure, 3);
	w->expected_completes = 2;
	ranks[1] = 2;
	CHECK(gompi_win_wait((MPI_Win)w->handle) == MPI_ERR_PROC_ABORTED, "an origin is dead");
	CHECK(strstr(gompi_failure_text(), "rank 2 ") != NULL, "'%s'", gompi_failure_text());
}

/* --- State that a failed process leaves behind */

static struct gompi_operation operation = {.call = "test", .target = 1, .op = MPI_OP_NULL};
static uint64_t word = 7;
static struct gompi_outgoing outgoing(bool reply) {
	return (struct gompi_outgoing){.operation = &operation,
				       .kind = reply ? PACKET_GET : PACKET_PUT,
				       .type = MPI_BYTE,
				       .origin = reply ? NULL : &word,
				       .result = reply ? &word : NULL,
				       .element_bytes = 1,
				       .bytes = 8,
				       .wants_reply = reply};
}

/* Reserves a cell of the ring of process 1 and does not fill it, like a process that fails in
 * gompi_ring_send_packet. */
static void reserve_cell(void) {
	struct gompi_ring *ring = (struct gompi_ring *)(gompi_node.operation_rings + gompi_node.operation_stride);
	gompi_add_seq_cst(&ring->tail, 1);
}

static void serve_as(int i) {
	gompi_node.local_index = gompi_node.self = i;
	gompi_ring_serve();
	gompi_node.local_index = gompi_node.self = 0;
}

static void ring_cell(void) {
	struct gompi_outgoing o = outgoing(false);
	CHECK(gompi_ring_send_packet(w, &o) == MPI_SUCCESS, "put");
	serve_as(1);
	kill_process_in(3, reserve_cell);
	CHECK(gompi_ring_send_packet(w, &o) == MPI_SUCCESS, "a put behind the cell");
	serve_as(1);
	int sleeps = 0;
	sleep_count = &sleeps;
	gompi_go_callbacks.find_failed = count_sleep;
	CHECK(gompi_ring_flush(w, 1, "test") == MPI_ERR_PROC_ABORTED && sleeps >= 1, "a flush behind the cell");
	CHECK(strstr(gompi_failure_text(), "rank 1 ") != NULL, "'%s'", gompi_failure_text());
	expect_success((struct gompi_wait_desc){.peer = 2, .object = w->handle}, "a wait for another process");
	operation.target = 2;
	CHECK(gompi_ring_send_packet(w, &o) == MPI_SUCCESS, "put");
	serve_as(2);
	CHECK(gompi_ring_flush(w, 2, "test") == MPI_SUCCESS, "a flush at another process");
}

/* Sends a get, whose reply arrives after this process has failed. */
static void request_answer(void) {
	struct gompi_outgoing o = outgoing(true);
	alarm(1); /* kills this process while it waits for the reply */
	gompi_go_callbacks.find_failed = unit_nothing;
	gompi_ring_send_packet(w, &o);
}

static void ring_answer(void) {
	struct gompi_outgoing o = outgoing(false);
	kill_process_in(3, request_answer);
	serve_as(1);
	for (int i = 0; i < 3 * GOMPI_RING_CELLS; i++) {
		CHECK(gompi_ring_send_packet(w, &o) == MPI_SUCCESS, "put %d", i);
		serve_as(1);
	}
	CHECK(gompi_ring_flush(w, 1, "test") == MPI_SUCCESS, "a flush after the ring has wrapped around");
}

/* Reserves a cell of the ring of process 0 and does not fill it, so that process 0 cannot serve the later cells of its
 * ring. */
static void reserve_own_cell(void) { gompi_add_seq_cst(&((struct gompi_ring *)gompi_node.operation_rings)->tail, 1); }

static void serve_after_sleeps(void) {
	if (++*sleep_count == 4)
		serve_as(1);
}

/* Tests a process that waits for a free cell in the full ring of a live process. After the failure of another process,
 * the wait still succeeds. After the failure of the ring's owner, the wait ends with an error. */
static void ring_full(void) {
	const struct gompi_ring *ring = (struct gompi_ring *)(gompi_node.operation_rings + gompi_node.operation_stride);
	struct gompi_outgoing o = outgoing(false), get = outgoing(true);
	int sleeps = 0;
	sleep_count = &sleeps;
	kill_process_in(3, reserve_own_cell);
	for (int i = 0; i < GOMPI_RING_CELLS; i++)
		CHECK(gompi_ring_send_packet(w, &o) == MPI_SUCCESS, "put %d", i);
	gompi_go_callbacks.find_failed = serve_after_sleeps;
	CHECK(gompi_ring_send_packet(w, &o) == MPI_SUCCESS && sleeps >= 4, "a put to a full ring, %d sleeps", sleeps);
	serve_as(1);
	sleeps = 0;
	CHECK(gompi_ring_send_packet(w, &get) == MPI_SUCCESS && sleeps >= 4, "a get, %d sleeps", sleeps);
	for (int i = 0; i < GOMPI_RING_CELLS; i++)
		CHECK(gompi_ring_send_packet(w, &o) == MPI_SUCCESS, "put %d after them", i);
	serve_as(1);
	CHECK(gompi_load(&ring->head) == gompi_load(&ring->tail), "the ring has stopped at %d of %d",
	      (int)gompi_load(&ring->head), (int)gompi_load(&ring->tail));
	gompi_go_callbacks.find_failed = count_sleep;
	for (int i = 0; i < GOMPI_RING_CELLS; i++)
		CHECK(gompi_ring_send_packet(w, &o) == MPI_SUCCESS, "put %d of the last ones", i);
	kill_process_in(1, nothing);
	CHECK(gompi_ring_send_packet(w, &o) == MPI_ERR_PROC_ABORTED, "a put to the full ring of a dead process");
}

/* --- Processes on other nodes */

static void other_nodes(void) {
	enum { ALL = 6000 };
	static int32_t index[ALL] = {0, 1, 2, 3}, node_of[ALL] = {0, 0, 0, 0, 1, 1};
	for (int i = 4; i < ALL; i++)
		index[i] = -1, node_of[i] = i < 6 ? 1 : i;
	struct gompi_node node = gompi_node;
	node.processes = unit_processes(ALL, node_of, index);
	gompi_node_open(&node);
	CHECK(!gompi_is_failed(4) && gompi_record_failure(4, GOMPI_FAILED_TIMEOUT) && gompi_is_failed(4) &&
		      !gompi_is_failed(5),
	      "4");
	gompi_add_seq_cst(&gompi_node_header()->failed_count, 1);
	CHECK(!gompi_record_failure(4, GOMPI_FAILED_ENDED) && gompi_record_failure(4, GOMPI_FAILED_NODE_TIMEOUT),
	      "why 4 is lost");
	CHECK(!gompi_record_failure(4, GOMPI_FAILED_TIMEOUT) && !gompi_record_failure(4, GOMPI_FAILED_NODE_TIMEOUT),
	      "why, again");
	expect_success((struct gompi_wait_desc){.peer = 6, .object = 99}, "a wait for another node's process");
	expect_failure((struct gompi_wait_desc){.peer = 4, .object = 99}, "a wait for it",
		       "no process of its node has sent anything");
	expect_failure((struct gompi_wait_desc){.peer = 5, .object = 99}, "a wait for another process of its node",
		       "no process of its node has sent anything");
	CHECK(!gompi_record_failure(5, GOMPI_FAILED_ENDED), "that one is lost, too");
	for (int i = 0; i < GOMPI_FAILED_ENTRIES - 1; i++)
		CHECK(gompi_record_failure(1000 + i, GOMPI_FAILED_ENDED), "entry %d", i);
	expect_success((struct gompi_wait_desc){.peer = 6, .object = 99}, "one while all losses are known");
	CHECK(gompi_record_failure(5000, GOMPI_FAILED_ENDED) && !gompi_record_failure(5001, GOMPI_FAILED_ENDED),
	      "one more than can be listed");
	expect_failure((struct gompi_wait_desc){.peer = 5, .object = 99}, "one once they are not", "rank 4 ");
}

int main(void) {
	static void (*const scenes[])(void) = {wait_dependences, other_job,   condition_of_failed, exposure_wait,
					       ring_cell,        ring_answer, ring_full,           other_nodes};
	return run_scenes(scenes, sizeof scenes / sizeof *scenes, gompi_ring_open);
}
