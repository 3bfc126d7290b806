/* Proves: gompi_vci_receive_chunks copies a record while its sender writes it. If the sender stops after some chunks,
 * or if the record is not a whole message for this receive, the receive stays posted and the inbox unchanged. The
 * record is then handled as usual once it is complete. Any other value than a valid interim flag is ignored. */
#include "processes.h"

enum { ROUNDS = UNIT_REPEATS(400), MIN_BYTES = INBOX_MIN_CHUNKED_BYTES, TAG = 5 };

static char source[RECORD_MAX_DATA], target[RECORD_MAX_DATA];

static struct gompi_vci *vci(void) { return gompi_vci_of(process[0], WORLD); }

/* Reserves a record of process 1 for process 0, and fills in its fixed part. */
static struct gompi_reservation reserve(int64_t bytes, uint64_t *word) {
	static gompi_a64 head;
	gompi_store(&head, gompi_load(&vci()->inbox->head));
	struct gompi_reservation space = gompi_inbox_reserve(vci()->inbox, &head, gompi_record_size(bytes));
	if (space.record == NULL)
		abort();
	space.record->context = WORLD;
	space.record->source = space.record->from = 1;
	space.record->tag = TAG;
	space.record->class = 0;
	space.record->id = 0;
	space.record->size = (uint64_t)bytes;
	*word = gompi_record_word(RECORD_EAGER, 0, gompi_record_size(bytes));
	return space;
}

static void write_until(struct gompi_reservation space, int64_t bytes, int64_t from, int64_t end) {
	memcpy(gompi_record_data(space.record, bytes) + from, source + from, (size_t)(end - from));
}

/* Tests a sender that stops after some chunks, and continues later. */
static void stopped_sender(void) {
	const int64_t bytes = 3 * INBOX_CHUNK_BYTES;
	uint64_t word;
	for (int chunks = 0; chunks < 3; chunks++) {
		struct gompi_request *r = receive_from(0, 1, WORLD, TAG, target, sizeof target);
		struct gompi_reservation space = reserve(bytes, &word);
		const uint64_t position = vci()->read_position;
		fill(source, bytes, (uint32_t)chunks + 1);
		memset(target, 0, sizeof target);
		write_until(space, bytes, 0, chunks * INBOX_CHUNK_BYTES);
		gompi_inbox_publish_interim(space, word, chunks);
		for (int i = 0; i < 3; i++)
			gompi_vci_receive_chunks(vci(), r);
		CHECK(!is_done(r) && r->posted && vci()->read_position == position, "%d chunks: received", chunks);
		gompi_engine_progress(process[0]);
		CHECK(!is_done(r) && r->posted && vci()->read_position == position, "%d chunks: progress", chunks);
		write_until(space, bytes, chunks * INBOX_CHUNK_BYTES, bytes);
		gompi_inbox_publish(space, word);
		struct gompi_engine_result x = finish(0, r);
		CHECK(x.class == MPI_SUCCESS && x.bytes == bytes && is_filled(target, bytes, (uint32_t)chunks + 1),
		      "%d chunks: class %d, %d bytes", chunks, x.class, (int)x.bytes);
	}
}

/* Records that gompi_vci_receive_chunks leaves to the usual progress. */
static void left_alone(void) {
	for (int how = 0; how < 5; how++) {
		const int64_t bytes = 2 * INBOX_CHUNK_BYTES, size = how == 1 ? bytes - 1 : (int64_t)sizeof target;
		uint64_t word;
		struct gompi_request *r = receive_from(0, 1, WORLD, how == 0 ? TAG + 1 : TAG, target, size);
		struct gompi_reservation space = reserve(bytes, &word), stored = space;
		const uint64_t position = vci()->read_position;
		fill(source, bytes, 77);
		write_until(space, bytes, 0, bytes);
		if (how == 2)
			space.record->size = (uint64_t)bytes + 1;
		if (how == 3)
			stored.valid_flag += GOMPI_CACHE_LINE;
		gompi_inbox_publish_interim(stored, how == 4 ? word | 0xffffffff : word, 2);
		gompi_vci_receive_chunks(vci(), r);
		CHECK(!is_done(r) && r->posted && vci()->read_position == position, "case %d: received", how);
		space.record->size = (uint64_t)bytes;
		gompi_inbox_publish(space, word);
		gompi_engine_progress(process[0]);
		if (how == 0) {
			CHECK(!is_done(r), "a message with another tag was received");
			gompi_engine_cancel(r);
			CHECK(finish(0, r).cancelled, "the receive is not cancelled");
			r = receive_from(0, 1, WORLD, TAG, target, sizeof target);
		}
		CHECK(finish(0, r).class == (how == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "case %d: class", how);
	}
}

static gompi_a32 turn; /* 2 * round + 1: the receive is posted; 2 * round + 2: the message is received */

/* Sends or receives: one thread sends, and the other one receives by gompi_vci_receive_chunks only, while the record is
 * written. */
static void send_or_receive(int i) {
	uint32_t x = 1, copied = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const int64_t bytes = MIN_BYTES + next(&x) % (RECORD_MAX_DATA - MIN_BYTES + 1);
		if (i == 1) {
			UNIT_UNTIL(gompi_load_acquire(&turn) >= 2 * round + 1);
			fill(source, bytes, round);
			struct gompi_request s = {.vci = gompi_vci_of(process[1], WORLD),
						  .context = WORLD,
						  .source = 1,
						  .tag = TAG,
						  .buf = {.at = source, .size = bytes}};
			CHECK(gompi_try_eager_chunks(gompi_link_to(s.vci, 0), &s), "round %u: not sent", round);
			UNIT_UNTIL(gompi_load_acquire(&turn) >= 2 * round + 2);
			continue;
		}
		struct gompi_request *r = receive_from(0, 1, WORLD, TAG, target, sizeof target);
		gompi_store_release(&turn, 2 * round + 1);
		while (!is_done(r) && !gompi_vci_has_work(vci()))
			gompi_vci_receive_chunks(vci(), r);
		copied += is_done(r);
		struct gompi_engine_result result = finish(0, r);
		CHECK(result.bytes == bytes && is_filled(target, bytes, round), "round %u: %d of %d bytes", round,
		      (int)result.bytes, (int)bytes);
		gompi_store_release(&turn, 2 * round + 2);
	}
	if (i == 0)
		printf("%u of %d messages were copied while they were written\n", copied, (int)ROUNDS);
}

int main(void) {
	unit_node(1);
	open_all(2, false);
	stopped_sender();
	left_alone();
	unit_threads(2, send_or_receive);
	close_all();
	return unit_end();
}
