/* Proves: processes exchange messages through the message engine (message/) as MPI requires. The test simulates each
 * process by threads of this process. Covers the matching order; eager records, direct reads and fragments; synchronous
 * sends, messages of a process to itself, probes, freed and cancelled requests; and several threads per process. All
 * processes are on one node, or each process is on its own node. */
#include "processes.h"

#include <sys/wait.h>

/* --- Random exchanges */

enum { THREADS = 2, ROUNDS = UNIT_REPEATS(60), BATCH = 8, MAX_BYTES = 100000 };

static int64_t size_of(uint32_t seed) {
	enum { HERE = RECORD_MAX_DATA, REMOTE = REMOTE_MAX_DATA };
	static const int64_t edges[] = {0, 1, 8, 16, 17, 64, 1000, HERE, HERE + 1, REMOTE, REMOTE + 1, MAX_BYTES};
	uint32_t x = next(&seed);
	return x % 3 == 0 ? edges[x / 3 % 12] : x % 3 == 1 ? (int64_t)(x / 3 % 300) : (int64_t)(x / 3 % 20000);
}

static uint32_t seed_of(int from, int to, int thread, int round, int i) {
	return (uint32_t)((((from * 8 + to) * 8 + thread) * 1000 + round) * 100 + i) * 2654435761U + 1;
}

static gompi_a32 done_threads;

/* Sends batches of messages to the next process and receives batches from the previous process. Each thread runs this
 * function. Uses contexts of all VCIs, and standard and synchronous mode. Sends or receives are posted first, at
 * random. */
static void exchange_batches(int i) {
	int me = i % processes, thread = i / processes, to = (me + 1) % processes,
	    from = (me + processes - 1) % processes;
	char *out = malloc((size_t)BATCH * MAX_BYTES), *in = malloc((size_t)BATCH * MAX_BYTES);
	uint32_t mine = (uint32_t)i + 1;
	for (int round = 0; round < ROUNDS; round++) {
		struct gompi_request *sends[BATCH], *receives[BATCH];
		bool early = next(&mine) % 2 == 0;
		for (int turn = 0; turn < 2; turn++)
			for (int k = 0; k < BATCH; k++) {
				uint64_t context = (uint64_t)(1 + k % 4) << 4;
				if ((turn == 0) == early) {
					/* matches message k, because all messages of a context have the same tag */
					receives[k] = receive_from(me, k % 3 == 0 && processes == 2 ? ANY_SOURCE : from,
								   context, thread, in + k * MAX_BYTES, MAX_BYTES);
					continue;
				}
				uint32_t seed = seed_of(me, to, thread, round, k);
				int64_t n = size_of(seed);
				fill(out + k * MAX_BYTES, n, seed);
				sends[k] = send_to(me, to, context, thread, out + k * MAX_BYTES, n,
						   next(&mine) % 4 == 0 ? MODE_SYNCHRONOUS : MODE_STANDARD);
			}
		for (int k = BATCH - 1; k >= 0; k--) {
			uint32_t seed = seed_of(from, me, thread, round, k);
			struct gompi_engine_result x = finish(me, receives[k]);
			CHECK(x.class == MPI_SUCCESS && x.source == from && x.tag == thread && x.bytes == size_of(seed),
			      "process %d thread %d round %d message %d: class %d, %d bytes from %d with tag %d", me,
			      thread, round, k, x.class, (int)x.bytes, x.source, x.tag);
			CHECK(is_filled(in + k * MAX_BYTES, x.bytes, seed),
			      "process %d round %d message %d: other data", me, round, k);
		}
		for (int k = 0; k < BATCH; k++)
			CHECK(finish(me, sends[k]).class == MPI_SUCCESS, "a send has failed");
	}
	/* Makes progress until all threads are done, because other processes may wait for the progress of this
	 * process. */
	gompi_add(&done_threads, 1);
	while (gompi_load(&done_threads) < (uint32_t)(THREADS * processes)) {
		gompi_engine_progress(process[me]);
		sched_yield();
	}
	free(out), free(in);
}

static void traffic(int n, bool no_cma) {
	gompi_store(&done_threads, 0);
	open_all(n, no_cma);
	unit_threads(THREADS * n, exchange_batches);
	close_all();
}

/* --- Cancellation */

enum { CANCELS = 400 };
static gompi_a32 outcome[CANCELS + 1]; /* outcome of each send: 0 unknown, 1 sent, 2 cancelled */

static void cancel_race(int me) {
	static char out[80000], in[80000];
	uint32_t mine = (uint32_t)me + 7;
	for (int i = 0; i < CANCELS; i++) {
		int64_t n = (int64_t[]){1, 5000, 20000, 80000}[i % 4];
		struct gompi_request *r = me == 0 ? send_to(0, 1, WORLD, i, out, n, MODE_SYNCHRONOUS) : NULL;
		for (uint32_t k = next(&mine) % 100; k > 0; k--)
			gompi_engine_progress(process[me]);
		if (me == 0) {
			if (!is_done(r))
				gompi_engine_cancel(r);
			gompi_store(&outcome[i], finish(0, r).cancelled ? 2 : 1);
			continue;
		}
		r = receive_from(1, 0, WORLD, i, in, n);
		uint32_t known;
		while ((known = gompi_load(&outcome[i])) == 0) {
			gompi_engine_progress(process[1]);
			sched_yield();
		}
		if (known == 2)
			gompi_engine_cancel(r);
		struct gompi_engine_result x = finish(1, r);
		CHECK(x.cancelled == (known == 2), "message %d: cancelled here %d, there %d", i, x.cancelled,
		      known == 2);
	}
	gompi_store(&outcome[CANCELS], 1);
}

static void cancelling(bool no_cma) {
	memset((void *)outcome, 0, sizeof outcome);
	open_all(2, no_cma);
	unit_threads(2, cancel_race);
	close_all();
	open_all(2, no_cma);
	/* The sender cancels a message that a matched probe has found: the cancel must fail. The message is fetched
	 * for the probe, so the send completes even if the receive starts later (early == 0). */
	static char out[2][80000], in[80000];
	for (int dest = 0; dest < 2; dest++)
		for (int early = 0; early < 2; early++)
			for (int s = 0; s < 3; s++) {
				int64_t n = (int64_t[]){0, 100, 80000}[s];
				fill(out[0], n, (uint32_t)s);
				struct gompi_request *r = send_to(0, dest, WORLD, 3, out[0], n, MODE_SYNCHRONOUS);
				struct gompi_engine_result x;
				struct gompi_message *found = NULL;
				progress_all();
				found = gompi_engine_probe(process[dest], WORLD, 0, 3, true, 0, &x);
				CHECK(found != NULL && x.bytes == n, "the probe finds nothing");
				if (found == NULL)
					return;
				gompi_engine_cancel(r);
				struct gompi_engine_operation o = {.receive = true, .at = (uintptr_t)in, .size = n};
				struct gompi_request *to = early ? gompi_engine_receive(found, &o) : NULL;
				while (!is_done(r))
					progress_all();
				memset(out[0], 0, sizeof out[0]);
				CHECK(!finish(0, r).cancelled, "it was found");
				if (!early)
					to = gompi_engine_receive(found, &o);
				while (!is_done(to))
					progress_all();
				x = finish(dest, to);
				CHECK(x.bytes == n && is_filled(in, n, (uint32_t)s), "%d bytes to %d", (int)n, dest);
			}
	close_all();
}

/* --- Many messages */

static void many_messages(void) {
	enum { N = 20000 };
	static int value[N], received[N];
	static struct gompi_request *r[N];
	open_all(2, false);
	for (int posted = 1; posted >= 0; posted--) {
		for (int i = 0; i < N; i++) {
			value[i] = i * 3 + posted;
			if (posted)
				r[i] = receive_from(1, 0, WORLD, i, &received[i], sizeof received[i]);
		}
		for (int i = N - 1; i >= 0; i--) {
			struct gompi_request *s = send_to(0, 1, WORLD, i, &value[i], sizeof value[i], MODE_STANDARD);
			while (!is_done(s))
				progress_all();
			finish(0, s);
		}
		while (progress_all())
			;
		for (int i = 0; i < N; i++) {
			if (!posted)
				r[i] = receive_from(1, i % 2 ? 0 : ANY_SOURCE, WORLD, i, &received[i],
						    sizeof received[i]);
			CHECK(is_done(r[i]) && finish(1, r[i]).tag == i && received[i] == value[i], "message %d", i);
		}
	}
	/* Sends more data than the receiver stores for unexpected messages. The data of the excess messages stays at
	 * the sender. */
	enum { BIG = 16000, LOTS = 4000 };
	static char data[BIG], in[BIG];
	static struct gompi_request *sends[LOTS];
	struct gompi_engine_counts s;
	fill(data, BIG, 9);
	for (int i = 0; i < LOTS; i++) {
		sends[i] = send_to(0, 1, WORLD, 1, data, BIG, MODE_STANDARD);
		progress_all();
	}
	gompi_engine_counts(process[1], &s);
	CHECK(s.throttles && s.unexpected_bytes < (33 << 20), "%d bytes are held", (int)s.unexpected_bytes);
	for (int i = 0; i < LOTS; i++) {
		struct gompi_request *x = receive_from(1, 0, WORLD, 1, in, BIG);
		while (!is_done(x))
			progress_all();
		CHECK(finish(1, x).bytes == BIG && is_filled(in, BIG, 9), "message %d", i);
	}
	for (int i = 0; i < LOTS; i++) {
		while (!is_done(sends[i]))
			progress_all();
		finish(0, sends[i]);
	}
	close_all();
}

/* Tests reminders. A reminder is a record by which a waiting sender asks a receiver to copy data soon. A sender sends
 * one reminder for all its pending sends to a receiver. It sends none if there was no send since the last reminder. The
 * call that starts the matching receive copies the data itself if it found a reminder; otherwise it leaves the copy for
 * later. */
static void reminding(void) {
	enum { N = 2000, SIZE = RECORD_MAX_DATA + 1, LATER = N / 2 };
	static char data[SIZE], in[SIZE];
	static struct gompi_request *s[N];
	open_all(2, false);
	struct gompi_inbox *b = process[1]->vci[1].inbox;
	for (int i = 0; i < N; i++) {
		if (i == LATER) {
			for (int k = 0; k < 3; k++) {
				uint64_t tail = gompi_load(&b->tail);
				gompi_messages_remind(process[0]);
				int64_t lines = (int64_t)(gompi_load(&b->tail) - tail) / GOMPI_CACHE_LINE;
				CHECK(lines == (k == 0), "%d records of %d sends", (int)lines, LATER);
			}
			while (progress_all())
				;
		}
		s[i] = send_to(0, 1, WORLD, i, data, SIZE, MODE_STANDARD);
		while (progress_all())
			;
	}
	for (int i = N - 1; i >= 0; i--) {
		struct gompi_request *r = receive_from(1, 0, WORLD, i, in, SIZE);
		CHECK(is_done(r) == (i < LATER), "message %d", i);
		CHECK(finish(1, r).bytes == SIZE, "message %d", i);
		finish(0, s[i]);
	}
	close_all();
}

/* --- Requests: free, restart, handles */

static void request_lifetimes(void) {
	enum { SIZE = 70000 };
	static char out[SIZE], in[SIZE];
	for (int no_cma = 0; no_cma < 2; no_cma++)
		for (int dest = 0; dest < 2; dest++) {
			open_all(2, no_cma);
			for (int i = 0; i < 40; i++) {
				int64_t n = i % 2 ? SIZE : 100;
				fill(out, n, (uint32_t)i);
				memset(in, 0, sizeof in);
				struct gompi_request *r = NULL;
				if (i % 4 < 2)
					r = receive_from(dest, 0, WORLD, 1, in, n);
				struct gompi_request *s = send_to(0, dest, WORLD, 1, out, n, MODE_SYNCHRONOUS);
				if (s != NULL)
					gompi_engine_free(s);
				if (r == NULL)
					r = receive_from(dest, 0, WORLD, 1, in, n);
				gompi_engine_free(r);
				while (progress_all())
					;
				CHECK(is_filled(in, n, (uint32_t)i), "message %d of freed requests", i);
			}
			struct gompi_engine_operation o = {.context = WORLD,
							   .world = dest,
							   .peer = dest,
							   .persistent = true,
							   .at = (uintptr_t)out,
							   .size = SIZE};
			struct gompi_request *s = begin(0, &o);
			o.receive = true, o.world = -1, o.peer = 0, o.at = (uintptr_t)in;
			struct gompi_request *r = begin(dest, &o);
			for (int i = 0; i < 10; i++) {
				fill(out, SIZE, (uint32_t)i + 50);
				gompi_engine_restart(i % 2 ? s : r);
				gompi_engine_restart(i % 2 ? r : s);
				while (!is_done(r) || !is_done(s))
					progress_all();
				CHECK(is_filled(in, SIZE, (uint32_t)i + 50), "round %d", i);
				gompi_store((gompi_a32 *)gompi_engine_state(r), REQUEST_INACTIVE);
				gompi_store((gompi_a32 *)gompi_engine_state(s), REQUEST_INACTIVE);
			}
			gompi_engine_free(r);
			gompi_engine_free(s);
			close_all();
		}
}

/* --- Forged records */

/* Tests that data fragments that are out of order, from the wrong sender, or too long are rejected. */
static void forged_fragments(void) {
	enum { SIZE = 1000, FIRST = 600 };
	open_all(2, true);
	char *in = malloc(SIZE), data[SIZE];
	struct gompi_request *r = receive_from(0, ANY_SOURCE, WORLD, 3, in, SIZE);
	struct gompi_vci *l = &process[0]->vci[1];
	fill(data, SIZE, 4);
	struct gompi_record rts = {.word = gompi_record_word(RECORD_RTS, 0, RECORD_SIZE),
				   .context = WORLD,
				   .source = 1,
				   .tag = 3,
				   .from = 1,
				   .size = SIZE,
				   .id = 99};
	gompi_vci_lock(l);
	gompi_handle_record(l, &rts, NULL);
	static const struct {
		int from, at, n;
		uint64_t id;
		bool ends;
	} piece[] = {
		{1, 0, SIZE + 1, 1ULL << 32, false}, /* longer than the message */
		{0, 0, FIRST, 1ULL << 32, false},    /* from another process */
		{1, 8, FIRST, 1ULL << 32, false},    /* the first fragment is missing */
		{1, 0, 0, 1ULL << 32, false},
		{1, 0, SIZE, 2ULL << 32, false}, /* the id of another receive */
		{1, 0, FIRST, 1ULL << 32, false},
		{1, 0, FIRST, 1ULL << 32, false},     /* duplicate */
		{1, FIRST, FIRST, 1ULL << 32, false}, /* longer than the rest of the message */
		{1, FIRST, SIZE - FIRST, 1ULL << 32, true},
		{1, SIZE, 8, 1ULL << 32, true}, /* begins after the end of the message */
	};
	char *payload = malloc(SIZE + 1);
	for (size_t i = 0; i < sizeof piece / sizeof *piece; i++) {
		struct gompi_record h = {.word = gompi_record_word(RECORD_FRAGMENT, 0, gompi_record_size(piece[i].n)),
					 .context = (uint64_t)piece[i].at,
					 .from = piece[i].from,
					 .id = piece[i].id};
		bool right = i == 5 || i == 8;
		memset(payload, 0x77, SIZE + 1);
		if (right)
			memcpy(payload, data + piece[i].at, (size_t)piece[i].n);
		gompi_handle_record(l, &h, payload);
		CHECK(is_done(r) == piece[i].ends, "after fragment %d", (int)i);
	}
	gompi_vci_unlock_progress(l);
	CHECK(finish(0, r).bytes == SIZE && is_filled(in, SIZE, 4), "the data of other fragments");
	free(payload), free(in);
	close_all();
}

/* Tests an acknowledgement or data request (kind) that is forged for a message that has not been sent yet. It must have
 * no effect. */
static void premature_answer(enum gompi_record_kind kind, bool no_cma) {
	enum { N = 60, SIZE = 8000 };
	static char data[SIZE], in[SIZE];
	struct gompi_request *r[N];
	open_all(2, no_cma);
	for (int i = 0; i < N; i++) { /* more messages than fit into the inbox */
		fill(data, SIZE, 3);
		r[i] = send_to(0, 1, WORLD, 0, data, SIZE, MODE_SYNCHRONOUS);
	}
	struct gompi_record h = {.word = gompi_record_word(kind, 0, RECORD_SIZE),
				 .context = kind == RECORD_CTS ? 1ULL << 32 : 0,
				 .from = 1,
				 .size = SIZE,
				 .id = 1ULL << 32 | (N - 1)};
	struct gompi_vci *l = &process[0]->vci[1];
	gompi_vci_lock(l);
	gompi_handle_record(l, &h, NULL);
	gompi_vci_unlock_progress(l);
	CHECK(!is_done(r[N - 1]), "a send that has not left is over");
	for (int i = 0; i < N; i++) {
		struct gompi_request *x = receive_from(1, 0, WORLD, 0, in, SIZE);
		while (!is_done(x) || !is_done(r[i]))
			progress_all();
		CHECK(finish(1, x).bytes == SIZE && is_filled(in, SIZE, 3), "message %d", i);
		finish(0, r[i]);
	}
	close_all();
}

/* --- A failed process */

enum { POSTED, IN_FRAGMENTS, FETCHED, STATE_COUNT };

/* Tests that a blocking receive ends with an error when the sender has failed. message_state is the state of the
 * message: not arrived, arriving in fragments, or fetched by a matched probe. Data that arrives after the error does
 * not change the receive buffer, which the test has freed. */
static void receive_from_failed(int message_state) {
	enum { SIZE = 40000 };
	static char out[SIZE];
	struct gompi_engine_result x;
	char *in = calloc(1, SIZE);
	open_all(2, true);
	struct gompi_vci *l = &process[1]->vci[1];
	struct gompi_request *s = message_state == POSTED ? NULL : send_to(0, 1, WORLD, 3, out, SIZE, MODE_STANDARD);
	struct gompi_request r = {.receive = true,
				  .blocking = true,
				  .context = WORLD,
				  .peer = 0,
				  .tag = 3,
				  .vci = l,
				  .buf = {.at = in, .size = SIZE}};
	gompi_engine_progress(process[1]);
	struct gompi_message *found = NULL;
	if (message_state == FETCHED) {
		found = gompi_engine_probe(process[1], WORLD, 0, 3, true, 0, &x);
		gompi_engine_cancel(s);
		gompi_engine_progress(process[1]);
	}
	gompi_vci_lock(l);
	if (found != NULL)
		gompi_receive_message(l, &r, found);
	else
		gompi_receive_locked(l, &r);
	gompi_vci_unlock_progress(l);
	CHECK(gompi_load(&r.state) == REQUEST_ACTIVE, "there is nothing to wait for");
	gompi_store(&gompi_node_header()->failed_count, 1);
	CHECK(gompi_receive_wait(&r, "a test") == MPI_ERR_PROC_ABORTED, "state %d: no error", message_state);
	gompi_store(&gompi_node_header()->failed_count, 0);
	free(in);
	if (message_state == POSTED)
		s = send_to(0, 1, WORLD, 3, out, SIZE, MODE_STANDARD);
	for (int i = 0; i < 100; i++)
		progress_all();
	CHECK(is_done(s) == (message_state != POSTED), "state %d: the send", message_state);
}

static void failed_peers(void) {
	for (int message_state = 0; message_state < STATE_COUNT; message_state++) {
		pid_t child = fork();
		if (child == 0) {
			receive_from_failed(message_state);
			_exit(check_errors != 0);
		}
		int status = -1;
		waitpid(child, &status, 0);
		CHECK(status == 0, "state %d ended with %#x", message_state, (unsigned)status);
	}
}

/* --- MPI_Finalize */

/* Tests MPI_Finalize of a sender. It waits for its pending sends until the receiver is in MPI_Finalize, too. Then the
 * sends whose messages were not received are cancelled. */
static void finalizing(void) {
	enum { SIZE = 80000 };
	static char out[SIZE], in[SIZE];
	for (int found = 0; found < 2; found++) {
		open_all(2, false);
		struct gompi_engine_result x;
		struct gompi_request *s[3] = {send_to(0, 1, WORLD, 1, out, 8, MODE_SYNCHRONOUS),
					      send_to(0, 1, WORLD, 2, out, SIZE, MODE_STANDARD),
					      send_to(0, 1, WORLD, 3, out, SIZE, MODE_STANDARD)};
		set_state(0, GOMPI_STATE_FINISHING);
		for (int i = 0; i < 10; i++) {
			CHECK(!gompi_engine_flushed(process[0]), "nothing has been received");
			progress_all();
		}
		CHECK(finish(1, receive_from(1, 0, WORLD, 2, in, SIZE)).bytes == SIZE, "it is there to the end");
		CHECK(!gompi_engine_flushed(process[0]), "one of three has been received");
		struct gompi_message *m = NULL;
		if (found)
			m = gompi_engine_probe(process[1], WORLD, 0, 3, true, 0, &x);
		set_state(1, GOMPI_STATE_FINISHING);
		for (int i = 0; i < 100 && !gompi_engine_flushed(process[0]); i++) {
			gompi_engine_flushed(process[1]);
			progress_all();
		}
		CHECK(gompi_engine_flushed(process[0]), "something is left");
		CHECK(finish(0, s[0]).cancelled && !finish(0, s[1]).cancelled, "what has been received");
		CHECK(finish(0, s[2]).cancelled == !found, "what a probe has found");
		struct gompi_engine_operation o = {.receive = true, .at = (uintptr_t)in, .size = SIZE};
		if (m != NULL)
			CHECK(finish(1, gompi_engine_receive(m, &o)).bytes == SIZE, "what a probe has found");
		close_all();
	}
}

/* --- Progress by another thread */

/* Tests messages that found no space in the network, and large messages that the receiver reads (RDMA). They must
 * complete although no thread calls gompi_engine_progress: gompi_fabric_progress alone must suffice. */
static void network_progress_only(void) {
	enum { N = 60, SIZE = 16000, LARGE = 80000 };
	static char out[LARGE], in[N][SIZE], large[LARGE], early[LARGE];
	struct gompi_request *s[N + 2], *r[N + 2];
	open_all(2, false);
	fill(out, LARGE, 5);
	for (int i = 0; i < N; i++) {
		r[i] = receive_from(1, 0, WORLD, 0, in[i], SIZE);
		s[i] = send_to(0, 1, WORLD, 0, out, SIZE, i % 2 ? MODE_STANDARD : MODE_SYNCHRONOUS);
	}
	r[N] = receive_from(1, 0, WORLD, 1, large, LARGE);
	s[N] = send_to(0, 1, WORLD, 1, out, LARGE, MODE_STANDARD);
	s[N + 1] = send_to(0, 1, WORLD, 2, out, LARGE, MODE_STANDARD);
	r[N + 1] = receive_from(1, 0, WORLD, 2, early, LARGE);
	CHECK(!is_done(s[N - 1]), "all messages found space");
	while (gompi_fabric_progress())
		;
	for (int i = 0; i < N + 2; i++) {
		CHECK(is_done(s[i]) && is_done(r[i]), "message %d has stopped", i);
		finish(0, s[i]), finish(1, r[i]);
	}
	CHECK(is_filled(large, LARGE, 5) && is_filled(early, LARGE, 5), "other data");
	close_all();
}

/* --- Main */

static void one_process_per_node(void) {
	one_per_node = true;
	for (int n = 2; n <= MAX_PROCESSES; n++)
		traffic(n, false);
	cancelling(false);
	premature_answer(RECORD_ACK, false);
	premature_answer(RECORD_CTS, false);
	many_messages();
	request_lifetimes();
	CHECK(network_transfer_count > 0, "nothing has been read");
	finalizing();
	network_progress_only();
	one_per_node = false;
}

/* --- Waiting for a receive */

/* Tests a wait for the first of two messages that have arrived. It leaves the second one in the inbox, so that its data
 * is not copied to an unexpected message. Progress without a receive handles the second one. */
static void waiting_for_the_first(void) {
	struct gompi_engine_counts counts;
	char in[100], out[100];
	open_all(2, false);
	struct gompi_request *first = receive_from(0, 1, WORLD, 1, in, sizeof in);
	for (int tag = 1; tag <= 2; tag++)
		CHECK(finish(1, send_to(1, 0, WORLD, tag, out, sizeof out, MODE_STANDARD)).class == MPI_SUCCESS,
		      "send");
	gompi_vci_progress_until(gompi_vci_of(process[0], WORLD), first);
	gompi_engine_counts(process[0], &counts);
	CHECK(is_done(first) && counts.unexpected == 0, "done %d, %d unexpected", is_done(first),
	      (int)counts.unexpected);
	finish(0, first);
	gompi_engine_progress(process[0]);
	gompi_engine_counts(process[0], &counts);
	CHECK(counts.unexpected == 1, "%d unexpected", (int)counts.unexpected);
	finish(0, receive_from(0, 1, WORLD, 2, in, sizeof in));
	close_all();
}

int main(void) {
	unit_node(1);
	failed_peers();
	one_process_per_node();
	for (int no_cma = 0; no_cma < 2; no_cma++) {
		traffic(1, no_cma);
		traffic(2, no_cma);
		traffic(3, no_cma);
		cancelling(no_cma);
		premature_answer(RECORD_ACK, no_cma);
		premature_answer(RECORD_CTS, no_cma);
	}
	waiting_for_the_first();
	forged_fragments();
	many_messages();
	reminding();
	request_lifetimes();
	finalizing();
	return unit_end();
}
