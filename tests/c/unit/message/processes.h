/* Simulates processes that exchange messages through the message engine (message/). Threads of this process play each
 * process. All processes are on one node, or each process is on its own node. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "fake_network.h"

#include "message/remote.h"
#include "message/call.h"
#include "message/engine.h"

enum { MAX_PROCESSES = 3, WORLD = 1 << 4, ANY_SOURCE = MPI_ANY_SOURCE, ANY_TAG = MPI_ANY_TAG };

static struct gompi_messages *process[MAX_PROCESSES];
static int processes;
static bool one_per_node;

static int network_sender(const char *record) { return ((const struct gompi_record *)(const void *)record)->from; }
/* If not NULL, network_deliver calls this function instead of delivering the record; it may deliver changed copies. */
static void (*network_tamper)(int to, int from, const char *record, size_t length);
static void network_deliver(int to, int from, const char *record, size_t length) {
	if (network_tamper != NULL)
		network_tamper(to, from, record, length);
	else
		gompi_remote_handle_record(process[to], from, record, length);
}
static void network_space(int of, int peer) {
	if (of < processes)
		gompi_remote_handle_space(process[of], peer);
}

static void set_state(int i, uint32_t state) {
	struct gompi_messages *m = process[i];
	gompi_store(&gompi_messages_cell(m, m->node.local_index)->state, state);
}

static void open_one_per_node(int n) {
	size_t rings = (size_t)GOMPI_VCI_COUNT * GOMPI_INBOX_SIZE;
	processes = n;
	for (int i = 0; i < n; i++) {
		char *control = unit_memory(2 * 4096 + rings);
		int32_t node_of[MAX_PROCESSES], index[MAX_PROCESSES];
		for (int k = 0; k < n; k++)
			node_of[k] = k, index[k] = k == i ? 0 : -1;
		struct gompi_processes *all = unit_processes(n, node_of, index);
		all->self = i;
		process[i] = gompi_engine_open(&(struct gompi_engine_config){.control = control,
									     .rings = control + 2 * 4096,
									     .cell_stride = 4096,
									     .ring_stride = rings,
									     .n = 1,
									     .processes = all});
		if (process[i] == NULL)
			abort();
		set_state(i, GOMPI_STATE_RUNNING);
	}
}

/* Opens the first n processes of a job of `size` processes, on one node. index[i] is the index of process i on the
 * node, or -1 for a process of another node. */
static void open_on_one_node(int n, int size, const int32_t *index, bool no_cma) {
	size_t cells = 4096 + (size_t)n * 4096, rings = (size_t)GOMPI_VCI_COUNT * GOMPI_INBOX_SIZE;
	char *control = unit_memory(cells + (size_t)n * rings);
	processes = n;
	for (int i = 0; i < n; i++) {
		struct gompi_cell *cell = (struct gompi_cell *)(void *)(control + 4096 + i * 4096);
		gompi_store(&cell->pid, (int32_t)getpid());
		gompi_store(&cell->state, GOMPI_STATE_RUNNING);
		struct gompi_processes *all = unit_processes(size, NULL, index);
		all->self = i;
		process[i] = gompi_engine_open(&(struct gompi_engine_config){.control = control,
									     .rings = control + cells,
									     .cell_stride = 4096,
									     .ring_stride = rings,
									     .n = n,
									     .me = i,
									     .processes = all,
									     .no_cma = no_cma});
		if (process[i] == NULL)
			abort();
	}
}

static void open_all(int n, bool no_cma) {
	if (one_per_node) {
		open_one_per_node(n);
		return;
	}
	open_on_one_node(n, n, NULL, no_cma);
}

static bool progress_all(void) {
	bool worked = false;
	for (int i = 0; i < processes; i++)
		worked = gompi_engine_progress(process[i]) || worked;
	return worked;
}

/* Closes all processes and checks that nothing is pending. */
static void close_all(void) {
	while (progress_all())
		;
	for (int i = 0; i < processes; i++) {
		struct gompi_engine_counts s;
		gompi_engine_counts(process[i], &s);
		CHECK(s.sends == 0 && s.receives == 0 && s.unexpected_bytes == 0 && s.pending_links == 0 &&
			      s.unexpected == 0 && s.posted == 0 && s.extracted == 0 && !s.throttles,
		      "process %d has %d sends, %d receives, %d bytes, %d behind, %d unexpected, %d posted, %d picked",
		      i, (int)s.sends, (int)s.receives, (int)s.unexpected_bytes, (int)s.pending_links,
		      (int)s.unexpected, (int)s.posted, (int)s.extracted);
	}
	for (int i = 0; i < processes; i++)
		gompi_engine_close(process[i]);
	CHECK(network_registered == 0, "%d regions are left", (int)network_registered);
}

/* --- Operations. The function `begin` and its wrappers start them. The function `finish` waits for one, and meanwhile
 * makes progress only for the process that started it */

static struct gompi_request *begin(int me, const struct gompi_engine_operation *o) {
	bool none;
	struct gompi_request *r = gompi_engine_start(process[me], o, &none);
	if (none)
		abort();
	return r;
}

static struct gompi_request *send_to(int me, int dest, uint64_t context, int tag, const void *data, int64_t size,
				     enum gompi_mode mode) {
	return begin(me, &(struct gompi_engine_operation){.context = context,
							  .source = me,
							  .world = dest,
							  .peer = dest,
							  .tag = tag,
							  .mode = (uint8_t)mode,
							  .at = (uintptr_t)data,
							  .size = size});
}

static struct gompi_request *receive_from(int me, int source, uint64_t context, int tag, void *data, int64_t size) {
	return begin(me, &(struct gompi_engine_operation){.context = context,
							  .world = -1,
							  .peer = source,
							  .tag = tag,
							  .receive = true,
							  .at = (uintptr_t)data,
							  .size = size});
}

static bool is_done(struct gompi_request *r) {
	return r == NULL || gompi_load_acquire((gompi_a32 *)gompi_engine_state(r)) != REQUEST_ACTIVE;
}

/* Waits until r is complete, frees it, and returns its result. */
static struct gompi_engine_result finish(int me, struct gompi_request *r) {
	struct gompi_engine_result out = {0};
	if (r == NULL)
		return out;
	while (!is_done(r)) {
		if (!gompi_engine_progress(process[me]))
			sched_yield();
	}
	gompi_engine_result(r, &out);
	free(out.text);
	gompi_engine_free(r);
	return out;
}

static uint32_t next(uint32_t *x) { return (*x = *x * 1664525 + 1013904223) >> 8; }

static void fill(char *data, int64_t n, uint32_t seed) {
	for (int64_t i = 0; i < n; i++)
		data[i] = (char)(next(&seed) >> 4);
}

static bool is_filled(const char *data, int64_t n, uint32_t seed) {
	for (int64_t i = 0; i < n; i++)
		if (data[i] != (char)(next(&seed) >> 4))
			return false;
	return true;
}

#endif
