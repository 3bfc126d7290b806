/* Proves, with a malloc that fails: unexpected messages for whose data there is no memory end their receives with
 * MPI_ERR_NO_MEM, and no other receives. Allocations that must not fail come from a reserve. While the reserve is in
 * use, no operation starts that needs memory. Once memory is available again, everything works as before.
 *
 * sanitizer: address (one thread)
 * wrap: malloc calloc free
 */
#include "processes.h"

#include <malloc.h>

enum { NONE = -1, MESSAGES = 60, SIZE = 4000 };

/* Bytes that may still be allocated; NONE: no limit. Freed bytes count as available again. */
static int64_t allocatable_bytes = NONE, failed_allocations;

static bool charge(size_t bytes) {
	if (allocatable_bytes == NONE)
		return true;
	if ((int64_t)bytes > allocatable_bytes) {
		failed_allocations++;
		return false;
	}
	allocatable_bytes -= (int64_t)bytes;
	return true;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) { return charge(bytes) ? __real_malloc(bytes) : NULL; }
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes) { return charge(n * bytes) ? __real_calloc(n, bytes) : NULL; }
void __real_free(void *at);
void __wrap_free(void *at);
void __wrap_free(void *at) {
	if (allocatable_bytes != NONE && at != NULL)
		allocatable_bytes += (int64_t)malloc_usable_size(at);
	__real_free(at);
}

static char sent[SIZE], received[SIZE];

static void unexpected(void) {
	open_all(2, true);
	for (int i = 0; i < MESSAGES; i++)
		send_to(0, 1, WORLD, i, sent, SIZE, MODE_STANDARD);
	allocatable_bytes = 3 * SIZE;
	failed_allocations = 0;
	while (gompi_engine_progress(process[1]))
		;
	allocatable_bytes = NONE;
	CHECK(failed_allocations > 0, "nothing has failed");
	int lost = 0;
	for (int i = 0; i < MESSAGES; i++) {
		memset(received, 0, SIZE);
		struct gompi_engine_result r = finish(1, receive_from(1, 0, WORLD, i, received, SIZE));
		CHECK(r.class == MPI_SUCCESS || r.class == MPI_ERR_NO_MEM, "message %d: class %d", i, r.class);
		CHECK(r.source == 0 && r.tag == i, "message %d: %d from %d", i, r.tag, r.source);
		CHECK(r.class != MPI_SUCCESS || memcmp(received, sent, SIZE) == 0, "message %d: other data", i);
		lost += r.class != MPI_SUCCESS;
	}
	CHECK(lost > 0 && lost < MESSAGES, "%d of %d are lost", lost, MESSAGES);
	close_all();
}

/* Calls return MPI_ERR_NO_MEM while the reserve is in use. */
static void reserve(void) {
	open_all(1, true);
	struct gompi_vci *l = &process[0]->vci[0];
	CHECK(!gompi_memory_is_low(), "there is no reserve");
	allocatable_bytes = 0;
	char *at = gompi_alloc_or_abort(1000);
	CHECK(at[0] == 0 && at[999] == 0, "it is not zero");
	CHECK(gompi_memory_is_low() && gompi_request_alloc(l) == NULL, "a request while memory is low");
	free(at);
	at = gompi_alloc_or_abort(100 << 10); /* from the rest of the reserve */
	free(at);
	allocatable_bytes = 1 << 20;
	CHECK(!gompi_memory_is_low() && allocatable_bytes < 1 << 20, "there is no reserve again");
	allocatable_bytes = NONE;
	struct gompi_request *r = gompi_request_alloc(l);
	CHECK(r != NULL, "no request");
	gompi_request_release(r);
	close_all();
}

int main(void) {
	unit_node(1);
	fill(sent, SIZE, 5);
	unexpected();
	reserve();
	return unit_end();
}
