/* Proves: whatever records another node sends for windows (transport/stream.h), and in any order, only memory that a
 * valid operation accesses is written. No byte is written outside of windows and attached regions. Windows that the
 * sender does not belong to, freed windows and results of completed operations remain unchanged. No byte outside of a
 * record is read. While the target's lock is not granted, the target stores a limited number of bytes.
 *
 * sanitizer: address (one thread)
 */
#include "loopback.h"

#include "../fuzz.h"
#include "win/attached.h"

enum { RECORDS = 100000, PART = 10000, ROUND = 100, MAX_BYTES = 20 << 10, GUARD = 512, CANARY = 0x5a };
enum { CHANGED, STOPPED, BROKEN, QUEUED_BYTES, RESULTS, APPLIED, REDIRECTED, LATE }; /* indices of fuzz_count */

/* --- Windows. This process sends records to MAIN; corrupted records may name the other windows */

enum { MAIN, DYNAMIC, EMPTY, FOREIGN, ONE_NODE, FREED, WINDOWS };
static const size_t sizes[WINDOWS] = {24 << 10, 4096, 0, 4096, 4096, 4096};
static struct gompi_win *windows[WINDOWS];
static char *control[WINDOWS], *bases[WINDOWS];
static uintptr_t freed_handle; /* the handle of a freed window */
static char *arena, *before;   /* arena: memory of all windows, with guard bytes between them; before: a copy of it */
static size_t arena_size;
static struct gompi_attached_regions *table;

static void *attached_table(uintptr_t window, int rank) {
	CHECK(window == windows[DYNAMIC]->handle && rank == 0, "the table of %d", rank);
	return table;
}

/* Begin and end of each of the two regions attached to the dynamic window. There is a gap between the regions. */
static uint64_t edges[4];
static void attach(char *at, size_t size) {
	for (int i = 0; i < 2; i++) {
		edges[2 * i] = (uint64_t)(uintptr_t)at + (uint64_t)i * (size / 2 + 64);
		edges[2 * i + 1] = edges[2 * i] + size / 2 - 64;
		gompi_store(&table->entry[i].address, edges[2 * i]);
		gompi_store(&table->entry[i].size, size / 2 - 64);
		gompi_store(&table->entry[i].heap_offset, UINT64_MAX);
	}
	gompi_store(&table->count, 2);
}

static void prepare(void) {
	extra_peers = true;
	fresh(false, false);
	gompi_win_close(w->handle);
	w = NULL;
	arena_size = GUARD;
	for (int i = 0; i < WINDOWS; i++)
		arena_size += sizes[i] + GUARD;
	arena = unit_memory(arena_size);
	before = malloc(arena_size);
	memset(arena, CANARY, arena_size);
	table = (struct gompi_attached_regions *)(void *)unit_memory(sizeof *table + 2 * sizeof table->entry[0]);
	gompi_go_callbacks.attached_table = attached_table;
	char *at = arena + GUARD;
	for (int i = 0; i < WINDOWS; at += sizes[i] + GUARD, i++) {
		bases[i] = at;
		control[i] = unit_memory(unit_control(1, 2));
	}
	attach(bases[DYNAMIC], sizes[DYNAMIC]);
}

static void open_windows(void) {
	static uintptr_t handle = 0x6001;
	for (int i = 0; i < WINDOWS; i++) {
		bool dynamic = i == DYNAMIC;
		int32_t peer = i == FOREIGN ? PEER + 9 : PEER;
		memset(control[i], 0, unit_control(1, 2));
		struct gompi_member_plan member = {.base = dynamic ? 0 : (uintptr_t)bases[i],
						   .address = dynamic ? 0 : (uintptr_t)bases[i],
						   .size = dynamic ? 0 : sizes[i],
						   .disp_unit = 1,
						   .direct = true};
		struct gompi_remote_plan remote[2] = {{sizes[i], 1, 0}, {sizes[i], 1, peer}};
		struct gompi_win_plan plan = {.handle = handle++,
					      .shared = (uintptr_t)control[i],
					      .flavor = dynamic ? MPI_WIN_FLAVOR_DYNAMIC : MPI_WIN_FLAVOR_ALLOCATE,
					      .n = i == ONE_NODE ? 1 : 2,
					      .local_size = 1};
		if (!gompi_win_open(&plan, &member))
			abort();
		gompi_win_set_members(plan.handle, 0, plan.n, remote);
		windows[i] = gompi_win_get((MPI_Win)plan.handle);
		CHECK((windows[i]->remote == NULL) == (i == ONE_NODE), "window %d", i);
	}
	freed_handle = windows[FREED]->handle;
	gompi_win_close(freed_handle);
	w = windows[MAIN];
	win = (MPI_Win)w->handle;
	gompi_store(&w->access, ACCESS_LOCK_ALL);
}

static void close_windows(void) {
	gompi_store(&w->access, 0);
	for (int i = 0; i < WINDOWS; i++)
		if (i != FREED)
			gompi_win_close(windows[i]->handle);
	w = NULL;
}

/* --- The bytes that a record may write */

static unsigned char may_be_written[64 << 10]; /* [i] is 1 if the record may write byte i of the arena */

static void mark_writable(int i, uint64_t offset, uint64_t bytes) {
	for (int k = 0; k < 2; k++) { /* clips to the window, or to each attached region */
		uint64_t begin = i == DYNAMIC ? edges[2 * k] : 0, size = i == DYNAMIC ? sizes[i] / 2 - 64 : sizes[i];
		uint64_t from = offset - begin;
		char *at = i == DYNAMIC ? (char *)(uintptr_t)begin : bases[i];
		if (from < size)
			memset(may_be_written + (at - arena) + from, 1, bytes < size - from ? bytes : size - from);
	}
}

/* Marks the blocks that the layout in the record describes (transport/layout.h), as far as the layout is valid. */
static void mark_layout_writable(int i, const struct gompi_packet *m, size_t length) {
	int64_t words[STREAM_DATA_BYTES / 8];
	size_t n = (length - sizeof *m) / 8;
	memcpy(words, m->data, n * 8);
	if (n == 0 || words[0] <= 0 || (uint64_t)words[0] > n - 1)
		return;
	n = (size_t)words[0] + 1;
	for (size_t at = 1; at + 2 < n;) {
		uint64_t block = (uint64_t)words[at], count = (uint64_t)words[at + 1];
		bool list = words[at + 1] < 0;
		count = list ? 0 - count : count;
		if (block == 0 || block > m->bytes || count == 0 || count > m->bytes || (!list && at + 4 > n) ||
		    (list && count > n - at - 2))
			return;
		for (uint64_t k = 0; k < count; k++)
			mark_writable(i,
				      m->offset + (list ? (uint64_t)words[at + 2 + k]
							: (uint64_t)words[at + 3] + k * (uint64_t)words[at + 2]),
				      block);
		at += list ? 2 + count : 4;
	}
}

static void mark_record_writable(const struct gompi_packet *m, size_t length, int peer) {
	int kind = m->head.kind & ~(PACKET_LAYOUT | PACKET_IN_ORDER), i = 0;
	memset(may_be_written, 0, arena_size);
	if (length < sizeof *m || m->head.length > length - sizeof *m || m->origin != OTHER || peer != PEER ||
	    m->bytes > STREAM_DATA_BYTES)
		return;
	while (i < FOREIGN && windows[i]->handle != m->head.window)
		i++;
	if (i == FOREIGN || (kind != PACKET_PUT && kind != PACKET_ACCUMULATE && kind != PACKET_FETCH &&
			     kind != PACKET_COMPARE_AND_SWAP))
		return;
	if (m->head.kind & PACKET_LAYOUT)
		mark_layout_writable(i, m, sizeof *m + m->head.length);
	else
		mark_writable(i, m->offset, m->bytes);
}

static void check_written(const char *what) {
	for (size_t k = 0; k < arena_size; k++)
		if (arena[k] != before[k] && !may_be_written[k]) {
			CHECK(false, "%s: byte %zd of the arena was written", what, (ssize_t)k);
			return;
		}
}

static void check_guards(void) {
	for (int i = 0; i < WINDOWS; i++) {
		bool written = false;
		for (int k = -GUARD; k < 0; k++)
			written = written || bases[i][k] != CANARY ||
				  (i + 1 == WINDOWS && bases[i][k + GUARD + (int)sizes[i]] != CANARY);
		for (size_t k = 0; i >= FOREIGN && k < sizes[i]; k++)
			written = written || bases[i][k] != CANARY;
		CHECK(!written, "something beside or in window %d was written", i);
	}
}

/* --- Operations with results. A result buffer is freed as soon as its operation is complete */

static struct result {
	struct result *next;
	uint64_t number;
	char *at;
} * results;

static char *result_of(size_t bytes) {
	struct result *r = malloc(sizeof *r);
	*r = (struct result){results, UINT64_MAX, malloc(bytes)};
	results = r;
	return r->at;
}

static void end_results(bool all) {
	struct gompi_stream *s = gompi_stream_find(w, OTHER);
	uint64_t done = gompi_load(&s->acked);
	for (struct result **at = &results, *r; (r = *at) != NULL;) {
		if (!all && r->number > done && gompi_load(&s->broken_class) == 0) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		free(r->at); /* from now on the sanitizer detects a store to it */
		free(r);
	}
}

/* Sends a random operation and does not wait for its completion. */
static void operate(void) {
	static int64_t data[MAX_BYTES / 8];
	static int64_t words[GOMPI_ELEMENTS_WORDS(16)];
	size_t bytes = 8 * (1 + draw(draw(20) == 0 ? MAX_BYTES / 8 : 8));
	int64_t n = (int64_t)bytes / 8;
	MPI_Aint at = (MPI_Aint)(8 * draw((sizes[MAIN] - MAX_BYTES) / 8));
	MPI_Datatype type = MPI_INT64_T;
	int64_t count = n;
	struct result *first = results;
	if (draw(3) == 0) {
		n = 16;
		int64_t *where = gompi_type_of_elements(words, gompi_type_get(MPI_INT64_T), n, 0);
		for (int64_t i = 0; i < n; i++)
			where[i] = 24 * i;
		struct gompi_type *t = (struct gompi_type *)(void *)words;
		t->root = t->elem_root;
		t->extent = t->true_ub = where[n - 1] + 8;
		static uintptr_t made;
		gompi_type_remove(made);
		made = gompi_type_add_program((struct gompi_type_props){0}, words, t->words);
		type = (MPI_Datatype)made;
		count = 1;
	}
	switch (draw(10)) {
	case 0:
		CHECK_SUCCESS(gompi_put_c(data, n, MPI_INT64_T, OTHER, at, count, type, win));
		break;
	case 1:
		CHECK_SUCCESS(gompi_get_c(result_of((size_t)n * 8), n, MPI_INT64_T, OTHER, at, count, type, win));
		break;
	case 2:
		CHECK_SUCCESS(gompi_accumulate_c(data, n, MPI_INT64_T, OTHER, at, count, type, MPI_SUM, win));
		break;
	case 3:
		CHECK_SUCCESS(gompi_get_accumulate_c(data, n, MPI_INT64_T, result_of((size_t)n * 8), n, MPI_INT64_T,
						     OTHER, at, count, type, MPI_MAX, win));
		break;
	case 4:
		CHECK_SUCCESS(gompi_compare_and_swap(data, data, result_of(8), MPI_INT64_T, OTHER, at, win));
		break;
	case 5:
		CHECK_SUCCESS(gompi_transport_fabric.post(w, OTHER, "post"));
		break;
	case 6:
		if (draw(4) == 0)
			CHECK_SUCCESS(gompi_transport_fabric.lock(w, OTHER, draw(2), "lock"));
		break;
	case 7:
		CHECK_SUCCESS(gompi_fetch_and_op(data, result_of(8), MPI_INT64_T, OTHER, at, MPI_BXOR, win));
		break;
	case 8: { /* a flush record, or a record that ends an epoch */
		struct gompi_stream *s = gompi_stream_get(w, OTHER);
		int class;
		struct gompi_packet *m = (struct gompi_packet *)(void *)gompi_fabric_reserve(
			PEER, FABRIC_RMA, sizeof *m, FABRIC_WAIT, &class);
		uint64_t number = gompi_load(&s->sent) + 1;
		*m = (struct gompi_packet){.head.window = (uint32_t)w->handle,
					   .origin = OTHER,
					   .head.kind = draw(8) ? PACKET_FLUSH : PACKET_UNLOCK + draw(2) * 3,
					   .head.flags = PACKET_WANTS_ANSWER,
					   .head.number = number};
		gompi_store(&s->sent, number);
		gompi_fabric_commit(PEER, sizeof *m, FABRIC_NOW);
		break;
	}
	default:
		CHECK_SUCCESS(gompi_put_c(data, 1, MPI_INT64_T, OTHER, at, 1, MPI_INT64_T, win));
	}
	if (results != first)
		results->number = gompi_load(&gompi_stream_get(w, OTHER)->result_number);
}

/* --- Corruption */

static void change(struct gompi_packet *m, size_t *length) {
	for (uint64_t changes = draw(3); changes > 0; changes--) {
		uint64_t word = any_number();
		switch (draw(13)) {
		case 0:
			m->head.window = (uint32_t)(draw(2) ? word : w->handle);
			break;
		case 1:
			m->head.kind = (uint8_t)(draw(2) ? PACKET_LOCK + draw(8) : m->head.kind ^ (1u << draw(8)));
			break;
		case 2:
			m->op = (uint16_t)(draw(2) ? 0x20 + draw(32) : word);
			break;
		case 3:
			m->type = (uint16_t)(draw(2) ? 0x200 + draw(256) : word);
			break;
		case 4:
			m->head.length = (uint16_t)word;
			break;
		case 5: /* any offset, or one near or beyond the last valid one */
			m->offset = draw(2) ? word : m->offset + sizes[MAIN] - m->bytes + draw(48) - 40;
			break;
		case 6:
			m->bytes = draw(2) ? word : m->bytes + draw(32) - 16;
			break;
		case 7:
			m->head.flags = (uint8_t)word;
			break;
		case 8:
			if (draw(4) == 0)
				m->origin = (int32_t)(word - 1);
			break;
		case 9:
			if (draw(4) == 0)
				m->head.number += draw(5) - 2;
			break;
		case 10:
			if (draw(4) == 0)
				*length = draw(*length + 1);
			break;
		case 11:
			change_bytes((char *)m, *length);
			break;
		default: /* any word of the data, for example a word of the layout */
			if (*length >= sizeof *m + 8 * 11)
				memcpy(m->data + 8 * draw(10), &word, 8);
		}
	}
}

/* Changes the window of a record to a random one, which may be the freed window. */
static void redirect_record(struct gompi_packet *m) {
	int to = (int)draw(WINDOWS);
	m->head.window = (uint32_t)(to == FREED ? freed_handle : windows[to]->handle);
	struct gompi_stream *s = to == ONE_NODE || to == FREED ? NULL : gompi_stream_find(windows[to], OTHER);
	m->head.number = s == NULL ? 1 : s->arrived + 1;
	if (to == DYNAMIC && draw(2))
		m->offset = (uint64_t)(uintptr_t)bases[to] + draw(sizes[to] / 8) * 8;
	else if (to == DYNAMIC) /* near an edge of an attached region */
		m->offset = edges[draw(4)] - draw(2) * m->bytes + draw(48) - 24;
	else if (to != MAIN)
		m->offset = draw(4096);
	fuzz_count[REDIRECTED]++;
}

static void hand_over(int peer, const char *data, size_t length) {
	static unsigned turn;
	struct gompi_stream *s = gompi_stream_find(w, OTHER), *d = gompi_stream_find(windows[DYNAMIC], OTHER);
	bool looks = ++turn % 8 == 0 && !s->waits_for && (d == NULL || !d->waits_for);
	char *copy = malloc(length); /* exactly as long as the record: the sanitizer detects reads beyond it */
	memcpy(copy, data, length);
	if (looks) {
		memcpy(before, arena, arena_size);
		mark_record_writable((const struct gompi_packet *)(const void *)data, length, peer);
	}
	uint64_t applied = s->applied;
	rma->on_record(peer, copy, length);
	fuzz_count[CHANGED]++;
	fuzz_count[APPLIED] += s->applied != applied;
	if (looks)
		check_written("a record");
	free(copy);
	end_results(false);
	if (s->queue_end > fuzz_count[QUEUED_BYTES])
		fuzz_count[QUEUED_BYTES] = s->queue_end;
}

/* Copies of records delivered earlier, for replay. */
enum { OLD = 32 };
static struct {
	size_t length;
	_Alignas(8) char data[256];
} old[OLD];

/* Delivers the queued records. If `changes` is true, corrupts some of them. In half of the calls, corrupted records get
 * the expected sequence number, so that they are applied. */
static void deliver(bool changes) {
	bool numbers = draw(2);
	while (queue != NULL) {
		struct record *r = queue;
		struct gompi_stream *s = gompi_stream_find(w, OTHER);
		queue = r->next;
		if (queue == NULL)
			queue_end = &queue;
		else if (changes && draw(64) == 0) { /* delivers the next record first */
			struct record *overtakes = queue;
			r->next = overtakes->next;
			overtakes->next = r;
			queue = overtakes;
			if (r->next == NULL)
				queue_end = &r->next;
			continue;
		}
		size_t length = r->length;
		struct gompi_packet *m = (struct gompi_packet *)(void *)r->data;
		bool answer = m->head.kind == PACKET_DONE || m->head.kind == PACKET_RESULT;
		int peer = changes && draw(100) == 0 ? (int)draw(4) - 1 : PEER;
		if (length <= sizeof old->data) {
			size_t k = draw(OLD);
			old[k].length = length;
			memcpy(old[k].data, r->data, length);
		}
		if (changes && draw(answer ? 40 : 2) == 0)
			change(m, &length);
		if (changes && !answer && draw(8) == 0)
			redirect_record(m);
		else if (numbers && !answer)
			m->head.number = s->arrived + 1;
		hand_over(peer, r->data, length);
		if (changes && draw(answer ? 60 : 20) == 0) { /* replays an old record */
			size_t k = draw(OLD);
			struct gompi_packet *again = (struct gompi_packet *)(void *)old[k].data;
			if (draw(4))
				again->head.window = (uint32_t)w->handle;
			if (draw(2) && again->head.kind < PACKET_DONE)
				again->head.number = s->arrived + 1;
			if (old[k].length != 0)
				hand_over(PEER, old[k].data, old[k].length);
		}
		free(r);
	}
}

static void round_of_records(void) {
	open_windows();
	struct gompi_win_member *m = gompi_member(w, 0);
	uint64_t locked = draw(3), first = fuzz_count[CHANGED];
	if (locked == 1)
		CHECK(gompi_lock_try(m, true, false), "no lock");
	struct gompi_stream *s = gompi_stream_get(w, OTHER);
	while (fuzz_count[CHANGED] - first < ROUND) {
		for (int i = 0; i < 10; i++) {
			gompi_store(&s->ahead_bytes, 0); /* so that operate() does not wait until the lock is granted */
			if (gompi_load(&s->result_credits_used) < STREAM_RESULT_CREDITS / 2)
				operate();
		}
		deliver(true);
		gompi_serve_all();
		if (s->is_stopped || gompi_load(&s->broken_class) ||
		    gompi_load(&s->result_credits_used) >= STREAM_RESULT_CREDITS / 2)
			break;
	}
	if (locked == 1)
		gompi_unlock(w, 0, true);
	gompi_serve_all();
	uint64_t late = gompi_load(&s->results_end) - gompi_load(&s->results_first);
	deliver(false); /* delivers late records; the stream may have been stopped or broken */
	fuzz_count[LATE] += gompi_load(&s->broken_class) != 0 ? late : 0;
	fuzz_count[STOPPED] += s->is_stopped;
	fuzz_count[BROKEN] += gompi_load(&s->broken_class) != 0;
	fuzz_count[RESULTS] += gompi_load(&s->results_first);
	end_results(true);
	close_windows();
	check_guards();
}

static void part(uint64_t records) {
	unit_types();
	prepare();
	for (uint64_t end = fuzz_count[CHANGED] + records; fuzz_count[CHANGED] < end && check_errors == 0;)
		round_of_records();
}

int main(int argc, char **argv) {
	if (fuzz(argc, argv, RECORDS, PART, part) && fuzz_count[CHANGED] >= RECORDS) {
		static const char *const names[] = {"stopped", "broken",     "bytes queued", "results",
						    "applied", "redirected", "late"};
		static const uint64_t least[] = {100, 100, 10000, RECORDS / 100, RECORDS / 8, RECORDS / 100, 50};
		for (int i = 0; i < 7; i++)
			CHECK(fuzz_count[STOPPED + i] > least[i], "%s: %llu", names[i],
			      (unsigned long long)fuzz_count[STOPPED + i]);
	}
	return unit_end();
}
