/* Proves, with a malloc that fails: if there is no memory for the data of an unexpected message, only the receive of
 * this message ends with MPI_ERR_NO_MEM. Allocations that must not fail use reserved memory (the reserve). While a part
 * of the reserve is in use, operations that need memory return MPI_ERR_NO_MEM. Once memory is available again, all
 * operations work.
 *
 * sanitizer: address (one thread)
 * wrap: malloc calloc free
 */
#include "processes.h"

#include "message/z_calls.h"

#include <malloc.h>

enum { NONE = -1, MESSAGES = 60, SIZE = 4000 };

/* allocatable_bytes: number of bytes that may still be allocated, or NONE if there is no limit. Freed bytes are added
 * to it. failed_allocations: number of allocations that have failed. */
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

/* Tests that no request can be allocated while the reserve is in use, and that the reserve is filled again. */
static void reserve(void) {
	open_all(1, true);
	struct gompi_vci *l = &process[0]->vci[0];
	CHECK(!gompi_memory_is_low(), "there is no reserve");
	allocatable_bytes = 0;
	char *at = gompi_alloc_or_abort(1000);
	CHECK(at[0] == 0 && at[999] == 0, "it is not zero");
	CHECK(gompi_memory_is_low() && gompi_request_alloc(l) == NULL, "a request while memory is low");
	free(at);
	at = gompi_alloc_or_abort(100 << 10); /* uses the rest of the reserve */
	free(at);
	allocatable_bytes = 1 << 20;
	CHECK(!gompi_memory_is_low() && allocatable_bytes < 1 << 20, "there is no reserve again");
	allocatable_bytes = NONE;
	struct gompi_request *r = gompi_request_alloc(l);
	CHECK(r != NULL, "no request");
	gompi_request_release(r);
	close_all();
}

/* Tests that gompi_messages_open without memory fails, for each allocation that may fail, and leaks nothing. */
static void opening(void) {
	int failures = 0;
	struct gompi_messages *m = NULL;
	struct gompi_processes *all = unit_processes(1, NULL, NULL);
	CHECK(!gompi_memory_is_low(), "there is no reserve"); /* also allocates the reserve, before memory is limited */
	for (int64_t limit = 0; m == NULL && limit < 1000; limit += 16, failures += m == NULL) {
		char *control = unit_memory(2 * 4096 + (size_t)GOMPI_VCI_COUNT * GOMPI_INBOX_SIZE);
		allocatable_bytes = limit;
		m = gompi_messages_open(
			&(struct gompi_node){
				.control = control, .n = 1, .processes = all, .message_rings = control + 2 * 4096},
			true);
		allocatable_bytes = NONE;
	}
	CHECK(m != NULL && failures >= GOMPI_VCI_COUNT, "%d times out of memory", failures);
	if (m != NULL)
		gompi_messages_close(m);
}

/* Tests that a matched probe without memory fails and leaves the message unexpected. A matched receive without memory
 * fails, and the message keeps its handle. */
static void matched_probe(void) {
	enum { COMM = 0x1000 };
	const MPI_Comm comm = (MPI_Comm)(uintptr_t)COMM;
	struct gompi_comm c = {.handle = COMM, .size = 2, .rank = 1, .id = WORLD};
	MPI_Message message = MPI_MESSAGE_NULL, handle;
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Status status = {.MPI_TAG = 77};
	int flag;
	open_all(2, true);
	c.peers.n = 2, c.peers.stride = 1;
	CHECK(gompi_comm_open(&c), "no communicator");
	gompi_messages_attach(process[1]);
	for (int size = 8; size <= 16; size += 8)
		send_to(0, 1, WORLD, 1, sent, size, MODE_STANDARD);
	while (gompi_engine_progress(process[1]))
		;
	allocatable_bytes = 0;
	CHECK(gompi_mprobe(0, 1, comm, &message, &status) == MPI_ERR_NO_MEM &&
		      gompi_improbe(0, 1, comm, &flag, &message, &status) == MPI_ERR_NO_MEM,
	      "a message handle without memory");
	CHECK(message == MPI_MESSAGE_NULL && flag == 0 && status.MPI_TAG == 77, "outputs of a failed probe");
	for (int size = 8; size <= 16; size += 8) {
		allocatable_bytes = NONE;
		CHECK(gompi_mprobe(0, 1, comm, &message, &status) == MPI_SUCCESS, "no message");
		CHECK(gompi_status_bytes(&status) == size, "%d bytes, not %d", (int)gompi_status_bytes(&status), size);
		allocatable_bytes = 0;
		handle = message;
		int rc = size == 8 ? gompi_imrecv_c(received, SIZE, MPI_BYTE, &message, &request) : MPI_ERR_NO_MEM;
		CHECK(rc == MPI_ERR_NO_MEM && message == handle && request == MPI_REQUEST_NULL,
		      "a matched receive without memory: class %d", rc);
		allocatable_bytes = NONE;
		CHECK(gompi_imrecv_c(received, SIZE, MPI_BYTE, &message, &request) == MPI_SUCCESS, "no request");
		CHECK(gompi_wait(&request, &status) == MPI_SUCCESS, "the receive fails");
		CHECK(message == MPI_MESSAGE_NULL && gompi_status_bytes(&status) == size, "received %d bytes, not %d",
		      (int)gompi_status_bytes(&status), size);
	}
	gompi_messages_detach();
	gompi_comm_close(COMM);
	close_all();
}

int main(void) {
	unit_node(1);
	unit_types();
	opening();
	matched_probe();
	fill(sent, SIZE, 5);
	unexpected();
	reserve();
	return unit_end();
}
