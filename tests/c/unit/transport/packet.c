/* Proves: applying a packet (transport/packet.h) at its target either performs the requested operation, or returns an
 * error and has no effect. Also with invalid contents of the packet, the target accesses only bytes of the window, of
 * the packet and of the reply. To detect other accesses, the window ends at the end of accessible memory, and the
 * packet is exactly as long as its head says.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "transport/packet.h"

enum { SIZE = 4096 - 12, THERE = 2048, ELEMENTS = 160, NONSENSE = 200000 };

static struct gompi_win *w;
static char *memory;       /* the window's memory; the page after it is inaccessible */
static char *there;        /* the origin's buffers */
static bool reads, writes; /* true if the system lets the target read, and write, the origin's buffers */

static bool pull(int peer, uint64_t address, void *local, uint64_t bytes, bool write) {
	uint64_t at = address - (uint64_t)(uintptr_t)there;
	if (peer != 0 || !(write ? writes : reads) || at > THERE || bytes > THERE - at)
		return false;
	memcpy(write ? there + at : local, write ? local : there + at, bytes);
	return true;
}

/* Writes a packet for the operation `o` and applies it. Stores the reply to `reply`, unless it is NULL. Returns the
 * error class. */
static int apply(struct gompi_outgoing *o, char *reply) {
	static char discarded[GOMPI_PACKET_DATA];
	struct gompi_packet *m = malloc(sizeof *m + GOMPI_PACKET_DATA);
	gompi_packet_write(m, w, o, GOMPI_PACKET_DATA, GOMPI_PACKET_DATA);
	struct gompi_packet *copy = malloc(sizeof *m + m->head.length);
	memcpy(copy, m, sizeof *m + m->head.length);
	int rc = gompi_packet_apply(copy, reply != NULL ? reply : discarded, GOMPI_PACKET_DATA, pull);
	free(copy);
	free(m);
	return rc;
}

/* --- Valid operations */

/* Returns memory + 4, which is aligned: main chooses `memory` so. */
static int64_t *elements(void) { return (int64_t *)(void *)(memory + 4); }

static void fill(void) {
	memset(memory, 0, SIZE);
	for (int i = 0; i < ELEMENTS; i++) {
		elements()[i] = i;
		((int64_t *)(void *)there)[i] = 1000 + i;
	}
}

/* Tests MPI_SUM of n elements. The packet has the data or, if `pulled` is true, the target reads the data from the
 * origin. */
static void sums(bool pulled, bool fetch, int n) {
	int64_t back[ELEMENTS], *from = (int64_t *)(void *)there;
	struct gompi_operation operation = {.op = MPI_SUM};
	struct gompi_outgoing o = {.operation = &operation,
				   .kind = fetch ? PACKET_FETCH : PACKET_ACCUMULATE,
				   .offset = 4,
				   .type = MPI_INT64_T,
				   .origin = from,
				   .element_bytes = 8,
				   .bytes = (uint64_t)n * 8};
	fill();
	if (pulled) {
		o.kind = fetch ? PACKET_FETCH_PULL : PACKET_ACCUMULATE_PULL;
		o.result = fetch ? from : NULL;
	}
	int rc = apply(&o, (char *)back);
	CHECK(rc == MPI_SUCCESS && o.bytes == (uint64_t)n * 8, "class %d, %d bytes of %d elements", rc, (int)o.bytes,
	      n);
	for (int i = 0; i < ELEMENTS; i++) {
		int64_t want = i < n ? 1000 + 2 * i : i, old = pulled ? from[i] : back[i];
		CHECK(elements()[i] == want, "element %d is %lld", i, (long long)elements()[i]);
		CHECK(!fetch || i >= n || old == i, "element %d was %lld", i, (long long)old);
	}
}

/* Tests operations whose target may not read or write the origin's buffers. They return MPI_ERR_UNSUPPORTED_OPERATION
 * and have no effect, so that the origin can resend them in another form. Exception: a fetching sum whose result cannot
 * be written returns MPI_ERR_OTHER, because the sum is already done. */
static void forbidden(bool may_read, bool may_write) {
	static const struct {
		enum gompi_packet_kind kind;
		uintptr_t op;
		bool needs_read, needs_write;
	} kinds[] = {
		{PACKET_PUT_PULL, 0, true, false},
		{PACKET_GET_PULL, 0, false, true},
		{PACKET_ACCUMULATE_PULL, (uintptr_t)MPI_SUM, true, false},
		{PACKET_FETCH_PULL, (uintptr_t)MPI_SUM, true, true},
		{PACKET_FETCH_PULL, (uintptr_t)MPI_NO_OP, false, true},
	};
	reads = may_read, writes = may_write;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct gompi_operation operation = {.op = (MPI_Op)kinds[i].op};
		bool moves = kinds[i].kind < PACKET_ACCUMULATE;
		struct gompi_outgoing o = {.operation = &operation,
					   .kind = kinds[i].kind,
					   .offset = 4,
					   .type = moves ? MPI_BYTE : MPI_INT64_T,
					   .origin = kinds[i].needs_read ? there : NULL,
					   .result = kinds[i].needs_write ? there : NULL,
					   .element_bytes = moves ? 1 : 8,
					   .bytes = ELEMENTS * 8};
		fill();
		int rc = apply(&o, NULL);
		int want = kinds[i].needs_read && !reads     ? MPI_ERR_UNSUPPORTED_OPERATION
			   : !kinds[i].needs_write || writes ? MPI_SUCCESS
			   : kinds[i].needs_read             ? MPI_ERR_OTHER
							     : MPI_ERR_UNSUPPORTED_OPERATION;
		CHECK(rc == want, "kind %d, op %#x: class %d, not %d", (int)kinds[i].kind, (int)kinds[i].op, rc, want);
		for (int k = 0; want == MPI_ERR_UNSUPPORTED_OPERATION && k < ELEMENTS; k++)
			CHECK(elements()[k] == k, "kind %d: element %d has changed", (int)kinds[i].kind, k);
	}
	reads = writes = true;
}

/* Checks that a pull of more than PACKET_MAX_PULL_BYTES is refused, and that no byte is moved. */
static void pull_too_large(void) {
	enum { MAX_BYTES = 2 * PACKET_MAX_PULL_BYTES };
	static const enum gompi_packet_kind kinds[] = {PACKET_PUT_PULL, PACKET_GET_PULL, PACKET_ACCUMULATE_PULL,
						       PACKET_FETCH_PULL};
	struct gompi_win *usual = w;
	char *base = unit_memory(MAX_BYTES);
	w = unit_window(1, base, MAX_BYTES, true);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct gompi_operation operation = {.op = MPI_SUM};
		bool moves = kinds[i] < PACKET_ACCUMULATE;
		struct gompi_outgoing o = {.operation = &operation,
					   .kind = kinds[i],
					   .type = moves ? MPI_BYTE : MPI_INT64_T,
					   .origin = kinds[i] != PACKET_GET_PULL ? there : NULL,
					   .result = there,
					   .element_bytes = moves ? 1 : 8,
					   .bytes = PACKET_MAX_PULL_BYTES + 8};
		int rc = apply(&o, NULL);
		CHECK(rc == MPI_ERR_INTERN, "kind %d: class %d", (int)kinds[i], rc);
	}
	w = usual;
}

/* --- Invalid packets */

/* Checks that packets with partial elements are refused, and that a compare-and-swap of more than one element is
 * refused. */
static void refused(void) {
	static const struct {
		enum gompi_packet_kind kind;
		uint64_t bytes;
		int class;
	} packets[] = {
		{PACKET_ACCUMULATE, 12, MPI_ERR_INTERN}, {PACKET_ACCUMULATE, 0, MPI_ERR_INTERN},
		{PACKET_FETCH, 7, MPI_ERR_INTERN},       {PACKET_COMPARE_AND_SWAP, 16, MPI_ERR_TYPE},
		{PACKET_ACCUMULATE, 16, MPI_SUCCESS},    {PACKET_COMPARE_AND_SWAP, 8, MPI_SUCCESS},
	};
	for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
		struct gompi_packet *m = calloc(1, sizeof *m + 64);
		char reply[GOMPI_PACKET_DATA];
		*m = (struct gompi_packet){.head.window = (uint32_t)w->handle,
					   .head.kind = (uint8_t)packets[i].kind,
					   .op = (uint16_t)(uintptr_t)MPI_SUM,
					   .type = (uint16_t)(uintptr_t)MPI_INT64_T,
					   .head.length = 64,
					   .offset = 4,
					   .bytes = packets[i].bytes};
		fill();
		int rc = gompi_packet_apply(m, reply, GOMPI_PACKET_DATA, pull);
		CHECK(rc == packets[i].class, "kind %d of %d bytes: class %d", (int)packets[i].kind,
		      (int)packets[i].bytes, rc);
		free(m);
	}
}

static uint64_t seed = 1;
static int puts_done[2]; /* [0]: number of puts done; [1]: number of puts refused */

static uint64_t draw(uint64_t below) {
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % below;
}

/* Returns a random number: valid (up to `most`), near the limit, or far beyond it. */
static uint64_t number(uint64_t most) {
	switch (draw(8)) {
	case 0:
		return most - draw(3);
	case 1:
		return (uint64_t)0 - draw(64);
	case 2:
		return draw(UINT64_MAX) >> draw(64);
	case 3:
		return (uint64_t)1 << draw(64);
	default:
		return draw(most / 8 + 1) * (draw(2) ? 8 : 1);
	}
}

/* Applies a contiguous put by the general path and by the fast path (gompi_packet_apply_put), and checks that the
 * effects are equal. */
static void same_put(const struct gompi_packet *m) {
	static char old[SIZE], want[SIZE];
	uint64_t most = draw(2) ? GOMPI_PACKET_DATA : draw(GOMPI_PACKET_DATA);
	memcpy(old, memory, SIZE);
	int class = gompi_packet_apply(m, NULL, most, NULL);
	memcpy(want, memory, SIZE);
	memcpy(memory, old, SIZE);
	int rc = gompi_packet_apply_put(w, m, most);
	CHECK(rc == class && memcmp(memory, want, SIZE) == 0,
	      "a put of %llu bytes at %llu, of %u: class %d, and by the other path %d", (unsigned long long)m->bytes,
	      (unsigned long long)m->offset, m->head.length, rc, class);
	puts_done[class != MPI_SUCCESS]++;
}

static void nonsense(int i) {
	static const int ops = (int)(uintptr_t)MPI_OP_NULL;
	uint64_t length = draw(4) ? draw(200) : draw(GOMPI_PACKET_DATA + 1);
	struct gompi_packet *m = malloc(sizeof *m + length);
	*m = (struct gompi_packet){
		.head.window = (uint32_t)w->handle,
		.head.kind = (uint8_t)(draw(50) ? draw(10) | draw(2) * PACKET_LAYOUT | draw(2) * PACKET_IN_ORDER
						: draw(256)),
		.op = (uint16_t)(draw(20) ? (uint64_t)ops + draw(18) : draw(UINT16_MAX)),
		.type = (uint16_t)(draw(20) ? (uintptr_t)unit_type((int)draw((uint64_t)unit_types_count()))->handle
					    : draw(UINT16_MAX)),
		.head.length = (uint16_t)length,
		.origin = draw(20) ? 0 : (int32_t)number(4),
		.offset = number(SIZE),
		.bytes = draw(2) ? draw(16) * 8 : number(SIZE),
	};
	for (uint64_t k = 0; k < length; k++)
		m->data[k] = (char)draw(256);
	uint64_t at = 0, word;
	if (gompi_packet_is_pull(m->head.kind & 0x3f)) {
		for (int k = 0; k < 2 && at + 8 <= length; k++, at += 8) {
			word = draw(4) ? (uint64_t)(uintptr_t)there + draw(64) : draw(2) ? 0 : number(SIZE);
			memcpy(m->data + at, &word, 8);
		}
	}
	if (m->head.kind & PACKET_LAYOUT) {
		uint64_t sum = 0, groups = draw(5) + 1, unit = draw(2) ? 8 : 16, first = at, place = at + 8;
		for (; groups > 0 && place + 32 <= length; groups--) {
			uint64_t n = draw(3) + 1, block = draw(3) * unit + unit, list = draw(2);
			uint64_t words[4] = {block, list ? (uint64_t)0 - n : n, number(256), number(1024)};
			if (list && n != 2)
				words[1] = (uint64_t)-2, n = 2;
			memcpy(m->data + place, words, sizeof words);
			place += sizeof words;
			sum += n * block;
		}
		if (first + 8 <= length) {
			word = draw(20) ? (place - first - 8) / 8 : number(16);
			memcpy(m->data + first, &word, 8);
		}
		if (draw(8))
			m->bytes = sum;
	}
	if (draw(8) == 0) { // a type with padding at its end; the last padding may lie beyond the window
		m->type = (uint16_t)(uintptr_t)MPI_LONG_DOUBLE_INT;
		m->op = (uint16_t)(uintptr_t)MPI_REPLACE;
		m->bytes = (m->bytes + 31) / 32 * 32;
	}
	if (draw(4) == 0) // the data ends near the end of the window
		m->offset = SIZE - m->bytes + draw(64) - 32;
	if (m->head.kind == PACKET_PUT)
		same_put(m);
	char *reply = malloc(GOMPI_PACKET_DATA);
	int rc = gompi_packet_apply(m, reply, GOMPI_PACKET_DATA, pull);
	CHECK(rc >= 0 && rc <= MPI_ERR_LASTCODE, "packet %d: class %d", i, rc);
	CHECK((gompi_load(&gompi_member(w, 0)->accumulate_state) & 2) == 0, "packet %d: the lock is left", i);
	free(reply);
	free(m);
}

int main(void) {
	unit_node(1);
	unit_types();
	/* The window begins 4 bytes after a multiple of 8, so that the elements at offset 4 are aligned. */
	memory = unit_memory(4096) + 12;
	there = unit_memory(4096) + 4096 - THERE;
	w = unit_window(1, memory, SIZE, true);
	reads = writes = true;
	for (int i = 0; i < 8; i++) {
		sums(false, i % 2, 1 + i * 17);
		sums(true, i % 2, 1 + i * 22);
		gompi_store(&gompi_member(w, 0)->accumulate_state, 0);
	}
	for (int i = 0; i < 4; i++)
		forbidden(i % 2, i / 2);
	pull_too_large();
	refused();
	for (int i = 0; i < NONSENSE; i++)
		nonsense(i);
	CHECK(puts_done[0] > 500 && puts_done[1] > 500, "%d puts done, %d refused", puts_done[0], puts_done[1]);
	return unit_end();
}
