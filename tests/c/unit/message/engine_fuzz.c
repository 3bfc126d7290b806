/* Proves that the engine accepts any records (message/record.h), in any order, from processes of this node and of other
 * nodes. It reads no byte outside of a record and writes only to buffers of pending receives. It never writes to bytes
 * beyond the reported length of a receive, to gaps of a datatype, to a send buffer, or to a buffer whose request is
 * complete.
 *
 * sanitizer: address (one thread)
 */
#include "processes.h"

#include "../fuzz.h"

enum { RECORDS = 100000, PART = 4000, SIZE = 70000, CANARY = 0x5a, ELEMENTS = 4000 };
static uintptr_t strided_type;
enum { FORGED, CHANGED, OVER, GOT, FRAGMENTS, TYPED, MOVED }; /* indices of fuzz_count */

/* Makes malloc return NULL for impossible sizes, as without a sanitizer, instead of ending the process. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=64"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=64"; }

/* --- Pending operations, and the memory that they may write */

enum { OPERATIONS = 24 };
static struct operation {
	struct gompi_request *request;
	struct gompi_message *found; /* the message of a matched probe, if the receive has not started yet */
	int me, context;
	bool receive, typed;
	char *data; /* exactly `bytes` long, so that the sanitizer detects accesses beyond it */
	int64_t bytes, size;
	uint32_t seed;
} operations[OPERATIONS];

static int64_t random_size(void) {
	static const int64_t some[] = {0,   1, 8, 9, 4000, RECORD_MAX_DATA + 1, REMOTE_MAX_DATA, REMOTE_MAX_DATA + 1,
				       SIZE};
	return draw(2) ? some[draw(sizeof some / sizeof *some)] : (int64_t)draw(300);
}

/* Makes strided_type: 8-byte elements with a stride of 16 bytes. */
static void make_type(void) {
	static int64_t words[GOMPI_ELEMENTS_WORDS(ELEMENTS)];
	int64_t *at = gompi_type_of_elements(words, gompi_type_get(MPI_INT64_T), ELEMENTS, 0);
	for (int64_t i = 0; i < ELEMENTS; i++)
		at[i] = 16 * i;
	struct gompi_type *t = (struct gompi_type *)(void *)words;
	t->root = t->elem_root;
	t->extent = t->true_ub = at[ELEMENTS - 1] + 8;
	strided_type = gompi_type_add_program((struct gompi_type_props){0}, words, t->words);
	if (strided_type == 0)
		abort();
}

static void start(struct operation *o, int me, int peer) {
	bool receives = draw(2), typed = receives && draw(6) == 0;
	*o = (struct operation){.me = me, .receive = receives, .typed = typed, .context = (int)draw(2) + 1};
	o->size = typed ? ELEMENTS * 8 : random_size();
	o->bytes = typed ? ELEMENTS * 16 - 8 : o->size;
	o->data = malloc((size_t)o->bytes);
	o->seed = (uint32_t)draw(1 << 30);
	struct gompi_engine_operation e = {.context = (uint64_t)o->context << 4,
					   .source = me,
					   .world = receives ? -1 : peer,
					   .peer = receives && draw(3) == 0 ? ANY_SOURCE : peer,
					   .tag = receives && draw(4) == 0 ? ANY_TAG : (int)draw(3),
					   .mode = draw(2) ? MODE_STANDARD : MODE_SYNCHRONOUS,
					   .receive = receives,
					   .at = (uintptr_t)o->data,
					   .size = o->size,
					   .count = typed ? 1 : 0,
					   .datatype = typed ? strided_type : 0};
	if (receives)
		memset(o->data, CANARY, (size_t)o->bytes);
	else
		fill(o->data, o->bytes, o->seed);
	struct gompi_engine_result x;
	struct gompi_message *m = receives && draw(3) == 0
					  ? gompi_engine_probe(process[me], e.context, e.peer, e.tag, true, 0, &x)
					  : NULL;
	if (m != NULL && draw(2)) { /* step() starts the receive later */
		o->found = m;
		return;
	}
	o->request = m != NULL ? gompi_engine_receive(m, &e) : begin(me, &e);
	if (o->request == NULL) { /* a send that has completed at once */
		free(o->data);
		o->data = NULL;
	}
}

static bool is_canary(const char *at, int64_t n) {
	for (int64_t i = 0; i < n; i++)
		if (at[i] != CANARY)
			return false;
	return true;
}

/* Completes an operation: checks the data that was written, and frees the buffer. */
static void end(struct operation *o) {
	struct gompi_engine_result x = finish(o->me, o->request);
	CHECK(x.class >= 0 && x.class <= MPI_ERR_LASTCODE, "class %d", x.class);
	if (o->receive && (x.class == MPI_SUCCESS || x.class == MPI_ERR_TRUNCATE)) {
		CHECK(x.bytes >= 0 && x.bytes <= o->size, "%lld bytes of %lld", (long long)x.bytes, (long long)o->size);
		int64_t from = !o->typed ? x.bytes : x.bytes == 0 ? 0 : (x.bytes - 1) / 8 * 16 + (x.bytes - 1) % 8 + 1;
		CHECK(is_canary(o->data + from, o->bytes - from), "bytes behind the %lld of a message",
		      (long long)x.bytes);
		fuzz_count[GOT] += x.bytes > 0;
	}
	for (int64_t i = 0; o->typed && i + 1 < ELEMENTS; i++)
		if (!is_canary(o->data + 16 * i + 8, 8)) {
			CHECK(false, "a gap was written");
			break;
		}
	fuzz_count[TYPED] += o->typed && x.bytes > 0;
	CHECK(o->receive || is_filled(o->data, o->bytes, o->seed), "a send buffer was written");
	fuzz_count[OVER]++;
	free(o->data); /* the sanitizer detects a late store */
	*o = (struct operation){.data = NULL};
}

/* Chooses a random operation and starts, completes, cancels or frees it. */
static void step(void) {
	struct operation *o = &operations[draw(OPERATIONS)];
	if (o->data == NULL) {
		int me = (int)draw(2);
		start(o, me, !me);
	} else if (o->found != NULL) {
		struct gompi_engine_operation e = {.receive = true,
						   .at = (uintptr_t)o->data,
						   .size = o->size,
						   .count = o->typed ? 1 : 0,
						   .datatype = o->typed ? strided_type : 0};
		o->request = gompi_engine_receive(o->found, &e);
		o->found = NULL;
	} else if (is_done(o->request)) {
		end(o);
	} else if (draw(12) == 0) {
		gompi_engine_cancel(o->request);
	} else if (draw(100) == 0) {
		gompi_engine_free(o->request);
		o->data = NULL; /* leaks the buffer: the test does not learn when the operation completes */
	}
}

/* --- Forged records for process 0, most of them valid */

static char *foreign_memory; /* memory that forged records name as the sender's data */

static void forge(void) {
	struct {
		struct gompi_record h;
		char payload[2048];
	} w;
	memset(&w, 0, sizeof w);
	int64_t length = (int64_t)(draw(5) * 16 + (draw(8) == 0 ? draw(1900) : 0));
	enum gompi_record_kind kind = (enum gompi_record_kind)draw(RECORD_KIND_COUNT);
	w.h.context = (1 + draw(2)) << 4;
	w.h.source = 1, w.h.from = 1, w.h.tag = (int32_t)draw(3);
	w.h.size = draw(2) ? (uint64_t)length : draw(SIZE);
	w.h.id = (1 + draw(2)) << 32 | draw(20);
	uint64_t sum = 0;
	for (int64_t i = 0; i + 16 <= length; i += 16) { /* ranges of the sender's data, for direct reads */
		struct iovec v = {foreign_memory + draw(100), draw(500)};
		memcpy(w.payload + i, &v, sizeof v);
		sum += v.iov_len;
	}
	if (kind == RECORD_RTS && draw(2))
		w.h.size = sum;
	if (kind == RECORD_FRAGMENT)
		w.h.context = draw(2) ? 0 : draw(5) * 16;
	switch (draw(7)) {
	case 0:
		w.h.size = any_number();
		break;
	case 1:
		w.h.source = (int32_t)draw(1 << 24) * 77;
		break;
	case 2:
		w.h.from = (int32_t)draw(5) - 1;
		break;
	case 3:
		w.h.id = check_random(&fuzz_state);
		break;
	case 4:
		w.h.class = (int32_t)any_number();
		break;
	}
	w.h.word = gompi_record_word(kind, (unsigned)draw(64), gompi_record_size(length));
	struct gompi_vci *l = &process[0]->vci[1 + draw(2)];
	fuzz_count[FORGED]++;
	if (!one_per_node) {
		gompi_vci_lock(l);
		gompi_handle_record(l, &w.h, w.payload);
		gompi_vci_unlock_progress(l);
		return;
	}
	size_t size = (size_t)gompi_record_size(length);
	char *copy = calloc(1, size); /* exactly as long as the record: the sanitizer detects reads beyond it */
	struct gompi_record *r = (struct gompi_record *)(void *)copy;
	*r = w.h;
	memcpy(gompi_record_data(r, length), w.payload, (size_t)length);
	r->valid_flag = draw(16) == 0 ? draw(1 << 24) : 1 + draw(2);
	if (draw(16) == 0)
		r->word += draw(100);
	gompi_remote_handle_record(process[0], draw(50) == 0 ? (int)draw(5) - 1 : 1, copy,
				   draw(50) == 0 ? (size_t)draw(size) : size);
	free(copy);
}

/* --- Corrupted copies of records that two processes exchange */

enum { OLD_RECORDS = 64 };
static struct {
	size_t length;
	int to, from;
	char *data;
} old_records[OLD_RECORDS];

static void deliver_tampered(int to, int from, const char *record, size_t length, bool changes) {
	size_t size = length;
	if (changes && draw(6) == 0) /* makes the copy shorter or longer */
		size = draw(2) ? draw(length) + 1 : length + draw(64);
	char *copy = calloc(1, size); /* exactly as long as the copied record: the sanitizer detects reads beyond it */
	memcpy(copy, record, size < length ? size : length);
	struct gompi_record *r = (struct gompi_record *)(void *)copy;
	if (size != length && size >= sizeof *r && draw(4)) /* sets the length in the record's word, too */
		r->word = (r->word & ~(uint64_t)UINT32_MAX) | size;
	for (uint64_t n = changes ? draw(3) : 0; n > 0 && size >= sizeof *r; n--) {
		switch (draw(12)) {
		case 0:
			r->valid_flag = draw(2) ? draw(GOMPI_VCI_COUNT + 1) : any_number();
			break;
		case 1: /* changes kind and flags */
			r->word = gompi_record_word((enum gompi_record_kind)draw(RECORD_KIND_COUNT + 1),
						    (unsigned)draw(64), gompi_record_length(r->word));
			break;
		case 2:
			r->context = draw(2) ? (1 + draw(3)) << 4 : any_number();
			break;
		case 3:
			r->source = (int32_t)(draw(2) ? draw(4) - 1 : any_number());
			break;
		case 4:
			r->tag = (int32_t)(draw(2) ? draw(4) - 1 : any_number());
			break;
		case 5:
			r->class = (int32_t)any_number();
			break;
		case 6:
			r->size = draw(2) ? r->size + draw(17) - 8 : any_number();
			break;
		case 7:
			r->id = draw(2) ? (1 + draw(20)) << 32 | draw(8) : r->id ^ 1ull << draw(64);
			break;
		case 8:
			r->context += draw(65) - 32;
			break;
		case 9:
			change_bytes(copy, size);
			break;
		}
	}
	fuzz_count[CHANGED]++;
	fuzz_count[FRAGMENTS] += size >= sizeof *r && gompi_record_kind(r->word) == RECORD_FRAGMENT;
	gompi_remote_handle_record(process[to], from, copy, size);
	free(copy);
}

static void tamper(int to, int from, const char *record, size_t length) {
	size_t k = draw(OLD_RECORDS);
	if (draw(4) == 0)
		deliver_tampered(to, from, record, length, true); /* may be accepted instead of the valid record */
	if (draw(20) == 0)                                        /* as if from another or an invalid rank */
		deliver_tampered(to, (int)draw(6) - 1, record, length, draw(2));
	if (old_records[k].data != NULL && draw(6) == 0)
		deliver_tampered(old_records[k].to, old_records[k].from, old_records[k].data, old_records[k].length,
				 draw(2));
	if (draw(40) != 0)
		deliver_tampered(to, from, record, length, false);
	if (draw(40) == 0)
		deliver_tampered(to, from, record, length, draw(2));
	if (draw(4) == 0) {
		free(old_records[k].data);
		old_records[k].data = memcpy(malloc(length), record, length);
		old_records[k].length = length, old_records[k].to = to, old_records[k].from = from;
	}
}

/* --- Main */

static void part(uint64_t records) {
	gompi_fabric_has_rdma = draw(2);
	int how = (int)draw(4); /* 0: all processes are on one node; 1 to 3: each process is on its own node */
	uint64_t first = fuzz_count[FORGED] + fuzz_count[CHANGED];
	unit_node(1);
	unit_types();
	make_type();
	one_per_node = how != 0;
	foreign_memory = calloc(1, SIZE);
	if (one_per_node && how != 1)
		network_tamper = tamper;
	open_all(how < 2 ? 2 : 3, draw(2));
	for (uint64_t i = 0; fuzz_count[FORGED] + fuzz_count[CHANGED] - first < records; i++) {
		step();
		if (how < 2)
			forge();
		if (draw(how < 2 ? 20 : 4) == 0)
			progress_all();
		if (draw(2000) == 0)
			gompi_close_contexts(process[0], (1 + draw(2)) << 4, 1);
		if (draw(1000) == 0)
			gompi_messages_remind(process[draw(2)]);
		if (draw(1000) == 0)
			gompi_messages_flushed(process[draw(2)]);
	}
	set_state(0, GOMPI_STATE_FINISHING);
	for (int k = 0; k < 100; k++) {
		gompi_messages_flushed(process[0]);
		progress_all();
	}
	for (int i = 0; i < OPERATIONS; i++)
		if (operations[i].data != NULL && operations[i].found == NULL && is_done(operations[i].request))
			end(&operations[i]);
	for (int i = 1; i <= 2; i++)
		gompi_close_contexts(process[0], (uint64_t)i << 4, 1);
	for (int k = 0; k < 100; k++)
		progress_all();
	fuzz_count[MOVED] += (uint64_t)network_transfer_count;
}

int main(int argc, char **argv) {
	if (fuzz(argc, argv, RECORDS, PART, part) && fuzz_count[CHANGED] + fuzz_count[FORGED] >= RECORDS) {
		static const char *const names[] = {"forged",    "changed", "over", "messages",
						    "fragments", "typed",   "moved"};
		static const uint64_t least[] = {RECORDS / 10, RECORDS / 10, 1000, 1000, 1000, 100, 100};
		for (int i = 0; i < 7; i++)
			CHECK(fuzz_count[i] > least[i], "%s: %llu", names[i], (unsigned long long)fuzz_count[i]);
	}
	return unit_end();
}
