/* Proves: the network handler copies no pending message if a record arrives from another node while a thread copies a
 * large message. A copy in the handler would delay all further arrivals. The handler notifies the progress thread.
 * Then the progress thread or the copying thread copies the next message.
 *
 * sanitizer: address (one thread)
 */
#include "processes.h"

/* One system call copies BYTES bytes (GOMPI_ASSISTED_COPY_BYTES). */
enum { BYTES = 60000, MESSAGES = 3, REMOTE_RANK = 2 };

static bool in_handler;
static int copied, copied_in_handler, doorbell_count;
static char text[] = "from another node";

/* Replaces the system call that copies large messages: during each copy a record from another node arrives. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local, const struct iovec *remote,
			 unsigned long n_remote, unsigned long flags);

/* Passes an eager record of the process on the other node to the network handler. */
static void deliver_remote(int tag) {
	struct {
		struct gompi_record record;
		char data[64];
	} r = {.record = {.word = gompi_record_word(RECORD_EAGER, 0, gompi_record_size(sizeof text)),
			  .context = WORLD,
			  .source = REMOTE_RANK,
			  .tag = tag,
			  .from = REMOTE_RANK,
			  .size = sizeof text}};
	r.record.valid_flag = (uint64_t)(gompi_vci_of(process[0], WORLD) - process[0]->vci);
	memcpy(gompi_record_data(&r.record, sizeof text), text, sizeof text);
	in_handler = true;
	gompi_remote_handle_record(process[0], REMOTE_RANK, (const char *)&r, (size_t)gompi_record_size(sizeof text));
	in_handler = false;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local, const struct iovec *remote,
			 unsigned long n_remote, unsigned long flags) {
	ssize_t n = 0;
	if (remote[0].iov_len != sizeof(uint64_t)) { /* 8 bytes: the library only tests whether the call works */
		copied++;
		copied_in_handler += in_handler;
		if (!in_handler)
			deliver_remote(1000 + copied);
	}
	for (unsigned long i = 0, k = 0, at = 0, from = 0; i < n_local && k < n_remote;) {
		size_t a = local[i].iov_len - at, b = remote[k].iov_len - from, bytes = a < b ? a : b;
		memcpy((char *)local[i].iov_base + at, (char *)remote[k].iov_base + from, bytes);
		at += bytes, from += bytes, n += (ssize_t)bytes;
		if (at == local[i].iov_len)
			i++, at = 0;
		if (from == remote[k].iov_len)
			k++, from = 0;
	}
	return n;
}

int main(void) {
	static char out[MESSAGES][BYTES], in[MESSAGES][BYTES], small[MESSAGES][64];
	struct gompi_request *s[MESSAGES], *r[MESSAGES], *f[MESSAGES];
	static const int32_t places[] = {0, 1, -1}; /* the third process is on another node */
	unit_node(1);
	open_on_one_node(2, 3, places, false);
	struct gompi_cell *cell = gompi_messages_cell(process[0], 0);
	for (int i = 0; i < MESSAGES; i++) {
		fill(out[i], BYTES, (uint32_t)i);
		r[i] = receive_from(0, 1, WORLD, i, in[i], BYTES);
		f[i] = receive_from(0, REMOTE_RANK, WORLD, ANY_TAG, small[i], sizeof small[i]);
	}
	for (int i = 0; i < MESSAGES; i++) /* blocking sends: the receiver copies the data while the sender waits */
		s[i] = begin(1, &(struct gompi_engine_operation){.context = WORLD,
								 .source = 1,
								 .tag = i,
								 .at = (uintptr_t)out[i],
								 .size = BYTES,
								 .blocking = true});
	gompi_store(&cell->progress_sleeps, 1);
	while (!is_done(r[0]) || !is_done(r[1]) || !is_done(r[2])) {
		gompi_engine_progress(process[0]);
		doorbell_count += gompi_load(&cell->doorbell) != 0;
	}
	CHECK(copied == MESSAGES && copied_in_handler == 0, "%d of %d copies were made in the handler",
	      copied_in_handler, copied);
	CHECK(doorbell_count > 0, "nobody was told that there is more to copy");
	for (int i = 0; i < MESSAGES; i++) {
		finish(0, r[i]);
		struct gompi_engine_result result = finish(0, f[i]);
		CHECK(is_filled(in[i], BYTES, (uint32_t)i), "message %d has other data", i);
		CHECK(result.source == REMOTE_RANK && strcmp(small[i], text) == 0, "message %d from another node", i);
		finish(1, s[i]);
	}
	close_all();
	return unit_end();
}
