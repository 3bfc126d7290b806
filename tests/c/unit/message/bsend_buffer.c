/* Proves: in an attached buffer (message/bsend_buffer.c) no two messages share memory. A message fits if enough bytes
 * are free, even if they are fragmented. All space is freed again. These properties hold while threads add and complete
 * messages, and attach and detach buffers. A flush request completes with the last message that it waits for, not
 * before. The application can free a flush request before it completes. */
#include "../unit.h"

#include "message/call.h"
#include "message/engine.h"
#include "message/z_calls.h"

enum { OVERHEAD = MPI_BSEND_OVERHEAD, THREADS = 4, ROUNDS = 3000 };

static struct gompi_messages *m;
static struct gompi_bsend_buffer *a;
static char memory[40000];

static struct gompi_bsend_message *put(int64_t size) {
	struct gompi_error_status v;
	struct gompi_bsend_message *k = gompi_bsend_reserve(a, size, &v);
	CHECK(k != NULL || v.class == MPI_ERR_BUFFER, "%d: %s", v.class, v.text);
	if (k != NULL && size > 0)
		memset(k->data, (char)size, (size_t)size);
	return k;
}

static bool end(void **addr, int64_t *size) { return gompi_bsend_try_detach(a, addr, size); }

/* Tests where messages are placed in the buffer, and fragmentation. */
static void placement(void) {
	enum { EACH = 100 };
	struct gompi_bsend_message *k[3], *small[2];
	void *addr;
	int64_t size;
	CHECK(put(0) == NULL, "nothing is attached");
	CHECK(end(&addr, &size) && addr == NULL && size == 0, "nothing is detached");
	CHECK(gompi_bsend_attach(a, memory, 3 * (EACH + OVERHEAD)), "it is attached already");
	CHECK(!gompi_bsend_attach(a, memory, 5), "a second is attached");
	for (int i = 0; i < 3; i++) {
		k[i] = put(EACH);
		CHECK(k[i] != NULL && k[i]->in_user_memory && k[i]->data == memory + i * EACH, "place of message %d",
		      i);
	}
	CHECK(put(0) == NULL, "more than fits");
	CHECK(!end(&addr, &size), "detached with messages in it");
	MPI_Request h = gompi_bsend_iflush(m, a, 0), freed = gompi_bsend_iflush(m, a, 0);
	struct gompi_request *r = gompi_request_of(h);
	CHECK(MPI_SUCCESS == gompi_request_free(&freed) && a->flush_requests == r && r->flush.next == NULL,
	      "a flush that was freed waits still");
	gompi_bsend_release(k[1]);
	small[0] = put(EACH);
	CHECK(small[0] != NULL && small[0]->data == memory + 3 * EACH, "not behind the last one");
	gompi_bsend_release(small[0]);
	small[0] = put(EACH); /* reuses the space of the released message; another message does not fit */
	CHECK(small[0] != NULL && put(0) == NULL, "the count is wrong");
	gompi_bsend_release(k[2]);
	CHECK(!gompi_is_complete(r), "a flush is over too soon");
	gompi_bsend_release(k[0]);
	CHECK(gompi_is_complete(r), "a flush is not over, though its messages have left");
	small[1] = put(2 * EACH + OVERHEAD);
	CHECK(small[1] != NULL && small[1]->in_user_memory, "what fits is not placed");
	gompi_bsend_release(small[0]);
	gompi_bsend_release(small[1]);
	CHECK(a->first == NULL && a->last == NULL && a->lowest == NULL && a->highest == NULL &&
		      a->flush_requests == NULL,
	      "something is left");
	CHECK(gompi_request_free(&h) == MPI_SUCCESS, "a flush that is over");
	/* A message that is smaller than the total free space, but larger than each free gap of 1,000 bytes. It gets
	 * separate memory, and its size counts as used. */
	struct gompi_bsend_message *all[8];
	CHECK(end(&addr, &size) && addr == memory && size == 3 * (EACH + OVERHEAD), "%p, %lld", addr, (long long)size);
	gompi_bsend_attach(a, memory, 8 * (1000 + OVERHEAD));
	for (int i = 0; i < 8; i++)
		all[i] = put(1000);
	for (int i = 0; i < 8; i += 2)
		gompi_bsend_release(all[i]);
	small[0] = put(4 * 1000 + 3 * OVERHEAD);
	CHECK(small[0] != NULL && !small[0]->in_user_memory, "what fits by count is not accepted, or placed in a gap");
	CHECK(gompi_load(&a->free_bytes_plus_1) == 1, "free space: %llu",
	      (unsigned long long)gompi_load(&a->free_bytes_plus_1));
	gompi_bsend_release(small[0]);
	small[0] = put(1000);
	CHECK(small[0] != NULL && small[0]->in_user_memory, "not placed in a gap");
	for (int i = 1; i < 8; i += 2)
		gompi_bsend_release(all[i]);
	gompi_bsend_release(small[0]);
	CHECK(end(&addr, &size), "not empty");
	/* MPI_BUFFER_AUTOMATIC: the library allocates the memory. */
	gompi_bsend_attach(a, MPI_BUFFER_AUTOMATIC, 1LL << 62);
	small[0] = put(100000);
	CHECK(small[0] != NULL && !small[0]->in_user_memory, "no automatic buffer");
	gompi_bsend_release(small[0]);
	CHECK(end(&addr, &size) && addr == MPI_BUFFER_AUTOMATIC && size == 0, "%p, %lld", addr, (long long)size);
}

/* Number of threads that still add messages and check that the data stays unchanged. Meanwhile the last thread attaches
 * and detaches the buffer. */
static gompi_a32 working;

static void add_or_detach(int t) {
	uint32_t x = (uint32_t)t + 1;
	if (t == THREADS) {
		while (gompi_load(&working) > 0) {
			void *addr = NULL;
			int64_t size = 0;
			if (end(&addr, &size) && addr != NULL) {
				CHECK(addr == memory && size == sizeof memory, "detached %p, %lld", addr,
				      (long long)size);
				memset(memory, 0x55, sizeof memory); /* allowed: the detached memory is unused */
			}
			gompi_bsend_attach(a, memory, sizeof memory);
			sched_yield();
		}
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		struct gompi_bsend_message *k[5];
		int n = 0;
		for (int j = 0; j < 5; j++) {
			x = x * 1664525 + 1013904223;
			struct gompi_error_status v;
			k[n] = gompi_bsend_reserve(a, x >> 8 & 4095, &v);
			if (k[n] == NULL)
				continue;
			if (k[n]->size > 0)
				memset(k[n]->data, t, (size_t)k[n]->size);
			n++;
		}
		MPI_Request h = gompi_bsend_iflush(m, a, 0);
		if (n > 0 && h != GOMPI_REQUEST_DONE)
			CHECK(!gompi_is_complete(gompi_request_of(h)), "a flush does not wait for this thread");
		for (int j = 0; j < n; j++) {
			for (int64_t b = 0; b < k[j]->size; b++)
				if (k[j]->data[b] != t) {
					CHECK(0, "thread %d: byte %lld is %d", t, (long long)b, k[j]->data[b]);
					break;
				}
			gompi_bsend_release(k[j]);
		}
		if (i % 2 && h != GOMPI_REQUEST_DONE)
			UNIT_UNTIL(gompi_is_complete(gompi_request_of(h)));
		CHECK(gompi_request_free(&h) == MPI_SUCCESS, "a flush cannot be freed");
	}
	gompi_sub_seq_cst(&working, 1);
}

int main(void) {
	size_t cells = 4096 + 4096, rings = (size_t)GOMPI_VCI_COUNT * GOMPI_INBOX_SIZE;
	char *control = unit_memory(cells + rings);
	unit_node(1);
	m = gompi_engine_open(&(struct gompi_engine_config){.control = control,
							    .rings = control + cells,
							    .cell_stride = 4096,
							    .ring_stride = rings,
							    .n = 1,
							    .processes = unit_processes(1, NULL, NULL)});
	if (m == NULL)
		abort();
	gompi_store_release(&gompi_app_messages, m);
	a = &m->bsend_buffer;
	placement();
	gompi_store(&working, THREADS);
	unit_threads(THREADS + 1, add_or_detach);
	void *addr;
	int64_t size;
	CHECK(end(&addr, &size) && a->first == NULL && a->lowest == NULL && a->flush_requests == NULL,
	      "something is left");
	gompi_store_release(&gompi_app_messages, NULL);
	gompi_engine_close(m);
	return unit_end();
}
