/* Proves for a put of a few bytes to a member on another node: the fast path (gompi_put_short) sends the same bytes as
 * the general path. A put uses the fast path exactly when its conditions hold. The fast path reports the same errors as
 * the general path, and then sends nothing. The test recognizes the path by the bytes that a 3-byte put reserves: the
 * general path rounds up to 8. */
#include "loopback.h"
#include "win/counts.h"

enum { HEAD = sizeof(struct gompi_packet) };

static char data[8192];
static uint64_t dice = 3;

static uint64_t sent(void) {
	struct gompi_stream *s = gompi_stream_find(w, OTHER);
	return s == NULL ? 0 : gompi_load(&s->sent);
}

static int put(MPI_Aint at, MPI_Count n) { return gompi_put_c(data, n, MPI_BYTE, OTHER, at, n, MPI_BYTE, win); }

/* Puts n bytes by the general path. The put is request-based, because request-based puts always use the general
 * path. */
static int put_generic_path(MPI_Aint at, MPI_Count n) {
	MPI_Request request;
	return gompi_rput_c(data, n, MPI_BYTE, OTHER, at, n, MPI_BYTE, win, &request);
}

/* Puts 3 bytes. Returns true if the put used the fast path. Checks that the put is recorded for the next flush. */
static bool uses_short_path(void) {
	uint64_t before = sent();
	CHECK_SUCCESS(put(64, 3));
	struct gompi_stream *s = gompi_stream_find(w, OTHER);
	CHECK(sent() > before && gompi_load(&s->flush_number) == sent(), "record %d of %d is due",
	      (int)gompi_load(&s->flush_number), (int)sent());
	CHECK(gompi_load(&w->flush_flags) & FLUSH_SENT, "a flush does not know of the put");
	CHECK(asked_for == HEAD + 3 || asked_for == HEAD + 8, "space of %d bytes", (int)asked_for - HEAD);
	return asked_for == HEAD + 3;
}

#define SHORT(yes) CHECK(uses_short_path() == (yes), "line %d: the short path or not", __LINE__)

/* Begins an epoch and makes one put, so that the conditions of the fast path hold for the next puts. */
static void begin(void) {
	fresh(false, false);
	CHECK_SUCCESS(gompi_win_lock_all(0, win));
	CHECK_SUCCESS(put(0, 3));
	CHECK_SUCCESS(gompi_win_flush(OTHER, win));
	SHORT(true);
}

/* --- The bytes sent */

static void same_records(void) {
	static const int sizes[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 64, 1000, 4095, 4096, 4097, 8000};
	static char mine[HEAD + sizeof data];
	begin();
	hold_pending = true; /* records stay in the queue for inspection */
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int n = sizes[i];
		for (size_t k = 0; k < sizeof data; k++)
			data[k] = (char)check_random(&dice);
		CHECK_SUCCESS(put(100 * (MPI_Aint)i, n));
		CHECK(asked_for >= (size_t)(HEAD + n) && (asked_for == (size_t)(HEAD + n)) == (n <= 4096 || n % 8 == 0),
		      "%d bytes: space for %d", n, (int)asked_for - HEAD);
		size_t length = open_record->length;
		memcpy(mine, open_record->data, length);
		CHECK_SUCCESS(put_generic_path(100 * (MPI_Aint)i, n));
		struct gompi_packet *m = (struct gompi_packet *)(void *)open_record->data;
		CHECK(m->head.number == sent() && ((struct gompi_packet *)(void *)mine)->head.number == sent() - 1,
		      "%d bytes: numbers", n);
		m->head.number--;
		CHECK(length == open_record->length && memcmp(mine, m, length) == 0, "%d bytes: the records differ", n);
		m->head.number++;
		CHECK_SUCCESS(gompi_win_flush(OTHER, win));
		CHECK(memcmp(memory + 100 * i, data, (size_t)n) == 0, "%d bytes: they have not come", n);
	}
	hold_pending = false;
	CHECK_SUCCESS(gompi_win_unlock_all(win));
}

/* --- Conditions of the fast path */

static void short_path_conditions(void) {
	fresh(false, false);
	CHECK_SUCCESS(gompi_win_lock_all(0, win));
	SHORT(false); /* the first put creates the stream and requests the lock */
	SHORT(true);  /* the lock request was sent; its answer is not needed */
	CHECK_SUCCESS(gompi_win_unlock_all(win));

	CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_EXCLUSIVE, OTHER, 0, win));
	SHORT(false);
	SHORT(true);
	CHECK_SUCCESS(gompi_win_unlock(OTHER, win));
	CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_EXCLUSIVE, OTHER, MPI_MODE_NOCHECK, win));
	SHORT(true); /* with MPI_MODE_NOCHECK no lock is requested */
	CHECK_SUCCESS(gompi_win_unlock(OTHER, win));

	/* The first operation of a fence epoch uses the general path, which opens the epoch. */
	gompi_store(&w->access, ACCESS_FENCE_OPEN);
	SHORT(false);
	CHECK(gompi_load(&w->access) == ACCESS_FENCE, "access %#x", gompi_load(&w->access));
	SHORT(true);
	gompi_store(&w->access, ACCESS_START);
	gompi_or(&w->targets[OTHER].state, TARGET_STARTED);
	CHECK_SUCCESS(gompi_transport_fabric.post(w, OTHER, "post"));
	SHORT(false); /* the first put of the access epoch also sends the start of the epoch */
	SHORT(true);
	CHECK_SUCCESS(gompi_transport_fabric.complete(w, OTHER, "complete"));
	gompi_and(&w->targets[OTHER].state, ~(uint32_t)TARGET_STARTED);
	gompi_store(&w->access, ACCESS_FENCE);

	/* Resets FLUSH_SENT, as if this process had sent nothing yet: the next put uses the general path. */
	gompi_and(&w->flush_flags, ~(uint32_t)FLUSH_SENT);
	SHORT(false);
	SHORT(true);

	/* The fast path is used even if operations are counted, and counts the put. */
	struct MPIX_Gompirma_count counts[MPIX_GOMPIRMA_KINDS][MPIX_GOMPIRMA_WAYS] = {0};
	const struct MPIX_Gompirma_count *c = &counts[MPIX_GOMPIRMA_PUT][MPIX_GOMPIRMA_NETWORK];
	w->counts = counts;
	gompi_add(&gompi_counting, 1);
	SHORT(true);
	CHECK(c->calls == 1 && c->bytes == 3, "%d operations of %d bytes were counted", (int)c->calls, (int)c->bytes);
	w->counts = NULL;
	gompi_sub(&gompi_counting, 1);
	CHECK_SUCCESS(gompi_flush(w, OTHER, "flush"));
	gompi_store(&w->access, 0);
}

/* Checks the limit of bytes that wait at the target until its lock is granted. Beyond the limit, a put uses the general
 * path, which waits. */
static void credit_limits_bytes(void) {
	fresh(false, false);
	struct gompi_win_member *m = gompi_member(w, 0);
	CHECK(gompi_lock_try(m, true, false), "no lock");
	CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_SHARED, OTHER, 0, win));
	enum { FIT = STREAM_AHEAD_BYTES / (HEAD + 4096) };
	for (int i = 0; i < FIT; i++)
		CHECK_SUCCESS(put(0, 4096));
	uint64_t before = sent();
	CHECK(!gompi_put_short(w, OTHER, 0, data, 4096) || !gompi_put_short(w, OTHER, 0, data, 4096), "too much");
	CHECK(sent() <= before + 1, "%d records", (int)(sent() - before));
	struct gompi_stream *s = gompi_stream_find(w, OTHER);
	uint64_t ahead = gompi_load(&s->ahead_bytes);
	CHECK(!gompi_put_short(w, OTHER, 0, data, 4096) && gompi_load(&s->ahead_bytes) == ahead,
	      "a put that was not sent counts %d bytes", (int)(gompi_load(&s->ahead_bytes) - ahead));
	gompi_unlock(w, 0, true);
	CHECK_SUCCESS(gompi_win_unlock(OTHER, win));
}

/* --- Errors */

static void refused(void) {
	const struct {
		int class;
		MPI_Aint at;
		MPI_Count n;
		int unit, target;
		const void *from;
	} puts[] = {
		{MPI_ERR_RMA_RANGE, -1, 3, 1, OTHER, data},
		{MPI_ERR_RMA_RANGE, -3, 3, 1, OTHER, data},
		{MPI_ERR_RMA_RANGE, SIZE - 2, 3, 1, OTHER, data},
		{MPI_ERR_RMA_RANGE, SIZE, 3, 1, OTHER, data},
		{MPI_ERR_RMA_RANGE, SIZE, 8, 1, OTHER, data},
		{MPI_ERR_RMA_RANGE, SIZE + 1, 3, 1, OTHER, data},
		{MPI_ERR_RMA_RANGE, INT64_MAX, 3, 1, OTHER, data},
		{MPI_ERR_RMA_RANGE, INT64_MIN, 3, 1, OTHER, data},
		{MPI_ERR_RMA_RANGE, INT64_MAX / 8 + 1, 3, 8, OTHER, data},
		{MPI_ERR_RMA_RANGE, (MPI_Aint)1 << 61, 3, 8, OTHER, data},
		{MPI_ERR_COUNT, 0, -1, 1, OTHER, data},
		{MPI_ERR_COUNT, 0, INT64_MIN, 1, OTHER, data},
		{MPI_ERR_RANK, 0, 3, 1, 2, data},
		{MPI_ERR_RANK, 0, 3, 1, -7, data},
		{MPI_ERR_BUFFER, 0, 3, 1, OTHER, NULL},
		{MPI_SUCCESS, 0, 0, 1, OTHER, NULL},
		{MPI_SUCCESS, 0, 0, 1, OTHER, data},
		{MPI_SUCCESS, SIZE + 5, 0, 1, OTHER, data},
		{MPI_SUCCESS, 0, 3, 1, MPI_PROC_NULL, data},
	};
	begin();
	for (size_t i = 0; i < sizeof puts / sizeof *puts; i++) {
		MPI_Request request;
		uint64_t before = sent();
		w->remote[OTHER].disp_unit = (uint32_t)puts[i].unit;
		int rc = gompi_put_c(puts[i].from, puts[i].n, MPI_BYTE, puts[i].target, puts[i].at, puts[i].n, MPI_BYTE,
				     win);
		int any = gompi_rput_c(puts[i].from, puts[i].n, MPI_BYTE, puts[i].target, puts[i].at, puts[i].n,
				       MPI_BYTE, win, &request);
		CHECK(rc == puts[i].class && any == rc, "put %d: class %d, by the other path %d", (int)i, rc, any);
		CHECK(sent() == before, "put %d was sent", (int)i);
	}
	w->remote[OTHER].disp_unit = 1;
	/* The size in bytes overflows: 2^61 elements of 8 bytes are 2^64 bytes, which is 0 in 64 bits. */
	MPI_Count many = (MPI_Count)1 << 61;
	int rc = gompi_put_c(data, many, MPI_INT64_T, OTHER, 0, many, MPI_INT64_T, win);
	CHECK(rc == MPI_ERR_COUNT, "2^61 elements: class %d", rc);
	rc = gompi_put_c(data, many + 1, MPI_INT64_T, OTHER, 0, many + 1, MPI_INT64_T, win);
	CHECK(rc == MPI_ERR_COUNT, "2^61 + 1 elements: class %d", rc);

	CHECK_SUCCESS(put(SIZE - 3, 3)); /* the last 3 bytes of the window */
	CHECK_SUCCESS(put(SIZE - 8, 8));
	SHORT(true);
	CHECK_SUCCESS(gompi_win_unlock_all(win));
	uint64_t before = sent();
	rc = put(0, 3);
	CHECK(rc == MPI_ERR_RMA_SYNC, "without an epoch: class %d", rc);
	CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_SHARED, 0, 0, win));
	rc = put(0, 3);
	CHECK(rc == MPI_ERR_RMA_SYNC, "another is locked: class %d", rc);
	CHECK(sent() == before, "it was sent");
	CHECK_SUCCESS(gompi_win_unlock(0, win));
}

/* Checks two errors: a flush reports a put that the target has refused, and a put to a failed peer returns an error. */
static void errors_reported(void) {
	begin();
	w->size = 16; /* makes the target's window smaller than the origin knows */
	CHECK_SUCCESS(put(15, 3));
	CHECK_SUCCESS(put(13, 3));
	int rc = gompi_win_flush(OTHER, win);
	CHECK(rc == MPI_ERR_RMA_RANGE, "a put that the target refuses: class %d", rc);
	gompi_store(&cut, 1);
	rc = put(0, 3);
	CHECK(rc == MPI_ERR_PROC_ABORTED, "a put to nobody: class %d", rc);
	while (gompi_fabric_progress())
		;
	gompi_store(&cut, 0);
}

/* --- Threads: each thread puts consecutive numbers, and reads the last number back after a flush */

enum { WRITERS = 4, PUTS = 3000 };
static gompi_a32 finished;

static void writers(int i) {
	if (i == 0) {
		while (gompi_load_acquire(&finished) < WRITERS)
			if (!gompi_fabric_progress())
				sched_yield();
		return;
	}
	for (int64_t k = 1; k <= PUTS && check_errors == 0; k++) {
		int64_t back = 0;
		CHECK_SUCCESS(gompi_put_c(&k, 1, MPI_INT64_T, OTHER, 64 * i, 1, MPI_INT64_T, win));
		if (k % 64 != 0)
			continue;
		CHECK_SUCCESS(gompi_win_flush(OTHER, win));
		CHECK_SUCCESS(gompi_get_c(&back, 1, MPI_INT64_T, OTHER, 64 * i, 1, MPI_INT64_T, win));
		CHECK_SUCCESS(gompi_win_flush(OTHER, win));
		CHECK(back == k, "%d: %lld is there, not %lld", i, (long long)back, (long long)k);
	}
	gompi_add_seq_cst(&finished, 1);
}

static void threads(void) {
	fresh(false, false);
	CHECK_SUCCESS(gompi_win_lock_all(0, win));
	unit_threads(1 + WRITERS, writers);
	struct gompi_stream *s = gompi_stream_get(w, OTHER);
	CHECK(gompi_load(&s->sent) >= WRITERS * PUTS, "%d records", (int)gompi_load(&s->sent));
	CHECK_SUCCESS(gompi_win_unlock_all(win));
	for (int i = 1; i <= WRITERS; i++)
		CHECK(*(int64_t *)(void *)(memory + 64 * i) == PUTS, "the last put of %d has not come", i);
}

int main(void) {
	unit_types();
	same_records();
	short_path_conditions();
	credit_limits_bytes();
	refused();
	errors_reported();
	threads();
	return unit_end();
}
