/* Proves: whatever a packet contains (transport/packet.h), applying it writes no byte outside of the window and the
 * reply, and reads no byte beyond the end of the packet. It returns success or one of the error classes of a refused
 * packet. The test corrupts fields or bytes of valid packets.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "transport/packet.h"

enum { MESSAGES = 1000000, WINDOW = 1000, PAGE = 4096, CANARY = 0x5a };

static uint64_t state = 1;
static uint64_t draw(uint64_t n) { return check_random(&state) % n; }

/* Two windows, one at the beginning and one at the end of an accessible page. The rest of each page must stay
 * unchanged. */
static unsigned char *page;
static struct gompi_win *windows[2];

static void check_canaries(void) {
	for (int i = 0; i < 2; i++) {
		const unsigned char *p = page + i * 3 * PAGE;
		for (int k = i == 0 ? WINDOW : 0; k < (i == 0 ? PAGE : PAGE - WINDOW); k++)
			CHECK(p[k] == CANARY, "byte %d beside window %d was written", k, i);
	}
}

/* Simulates the data transfer between target and origin: reads or writes a static buffer, and fails at random. */
static bool pull(int peer, uint64_t address, void *local, uint64_t bytes, bool write) {
	static unsigned char sink[128 << 10];
	static int left = 8; /* number of transfers until the next one fails */
	(void)peer;
	if (address == 0 || bytes > sizeof sink || left-- == 0) {
		left = (int)draw(8);
		return false;
	}
	memcpy(write ? (void *)sink : local, write ? local : (void *)sink, bytes);
	return true;
}

/* Writes a valid random packet for the window to m, which has space for a packet of maximum size. */
static void write_message(struct gompi_packet *m, struct gompi_win *w) {
	static const enum gompi_packet_kind kinds[] = {PACKET_PUT,      PACKET_PUT_PULL,   PACKET_GET,
						       PACKET_GET_PULL, PACKET_ACCUMULATE, PACKET_ACCUMULATE_PULL,
						       PACKET_FETCH,    PACKET_FETCH_PULL, PACKET_COMPARE_AND_SWAP};
	static const char data[WINDOW] = {1, 2, 3};
	static int64_t words[GOMPI_ELEMENTS_WORDS(16)];
	enum gompi_packet_kind kind = kinds[draw(sizeof kinds / sizeof *kinds)];
	bool elements = kind >= PACKET_ACCUMULATE, swap = kind == PACKET_COMPARE_AND_SWAP;
	const struct type *t = unit_type((int)draw((uint64_t)unit_types_count()));
	MPI_Datatype type = elements ? t->handle : MPI_BYTE;
	uint64_t size = elements ? t->size : 1, n = swap ? 1 : 1 + draw(16);
	struct gompi_operation o = {.op = op_handle((int)draw(OPS)), .compare = data};
	bool reads = kind != PACKET_GET && kind != PACKET_GET_PULL &&
		     !(o.op == MPI_NO_OP && (kind == PACKET_FETCH || kind == PACKET_FETCH_PULL));
	struct gompi_cursor pieces;
	struct gompi_outgoing out = {.operation = &o,
				     .kind = kind,
				     .offset = draw(WINDOW - 16 * 32) & ~(draw(2) ? (uint64_t)7 : 0),
				     .type = type,
				     .origin = reads ? data : NULL,
				     .result = (void *)data,
				     .element_bytes = size,
				     .bytes = n * size,
				     .in_order = draw(2)};
	if (draw(2)) {
		int64_t *at = gompi_type_of_elements(words, gompi_type_get(type), (int64_t)n, 0);
		for (uint64_t i = 0; i < n; i++)
			at[i] = (int64_t)(draw(4) ? i * size : draw(16) * size + draw(2));
		gompi_cursor_init(&pieces, (const struct gompi_type *)words, 1, GOMPI_ELEMENTS);
		out.cursor = &pieces;
	}
	gompi_packet_write(m, w, &out, GOMPI_PACKET_DATA, GOMPI_PACKET_DATA);
}

static uint64_t any_number(void) {
	static const uint64_t some[] = {0, 1, 8, 63, 64, 975, 976, 977, WINDOW, 1 << 16, 1u << 31, INT64_MAX};
	uint64_t x = some[draw(sizeof some / sizeof *some)] + draw(3) - 1;
	return draw(2) ? x : draw(2) ? 0 - x : check_random(&state);
}

static void change(struct gompi_packet *m) {
	for (uint64_t changes = draw(4); changes > 0; changes--) {
		switch (draw(10)) {
		case 0:
			m->head.window = draw(2) ? (uint32_t)windows[draw(2)]->handle : (uint32_t)any_number();
			break;
		case 1:
			m->head.kind ^= (uint8_t)(1 << draw(8));
			break;
		case 2:
			m->op = (uint16_t)(draw(2) ? 0x20 + draw(32) : any_number());
			break;
		case 3:
			m->type = (uint16_t)(draw(2) ? 0x200 + draw(256) : any_number());
			break;
		case 4:
			m->head.length = (uint16_t)any_number();
			break;
		case 5:
			m->offset = any_number();
			break;
		case 6:
			m->bytes = any_number();
			break;
		case 7:
			m->data[draw(64)] = (char)draw(256);
			break;
		default: { /* any word of the data, for example a word of the layout */
			uint64_t word = any_number();
			memcpy(m->data + 8 * draw(10), &word, 8);
		}
		}
	}
}

int main(void) {
	static const int classes[] = {MPI_SUCCESS,
				      MPI_ERR_INTERN,
				      MPI_ERR_WIN,
				      MPI_ERR_TYPE,
				      MPI_ERR_OP,
				      MPI_ERR_OTHER,
				      MPI_ERR_UNSUPPORTED_OPERATION,
				      MPI_ERR_RMA_RANGE};
	enum { CLASSES = sizeof classes / sizeof *classes };
	int counts[CLASSES] = {0};
	unit_node(1);
	unit_types();
	page = (unsigned char *)unit_memory(4 * PAGE);
	mprotect(page + PAGE, 2 * PAGE, PROT_NONE);
	memset(page, CANARY, PAGE);
	memset(page + 3 * PAGE, CANARY, PAGE);
	windows[0] = unit_window(1, (char *)page, WINDOW, true);
	windows[1] = unit_window(1, (char *)page + 4 * PAGE - WINDOW, WINDOW, true);
	/* m: the packet to corrupt. Its copy, which is applied, ends at the end of accessible memory, and is exactly as
	 * long as its head says. */
	struct gompi_packet *m = (struct gompi_packet *)unit_memory(PAGE);
	char *end = unit_memory(PAGE) + PAGE, *reply = unit_memory(PAGE) + PAGE - GOMPI_PACKET_DATA;
	for (int i = 0; i < MESSAGES && check_errors == 0; i++) {
		write_message(m, windows[i % 2]);
		change(m);
		size_t all = sizeof *m + (m->head.length <= GOMPI_PACKET_DATA ? (m->head.length + 7u) / 8 * 8 : 0);
		struct gompi_packet *copy = (struct gompi_packet *)(end - all);
		memcpy(copy, m, all);
		int rc = gompi_packet_apply(copy, reply, GOMPI_PACKET_DATA, draw(8) ? pull : NULL), k = 0;
		while (k < CLASSES && classes[k] != rc)
			k++;
		CHECK(k < CLASSES, "packet %d: class %d", i, rc);
		if (k < CLASSES)
			counts[k]++;
		if (i % 256 == 0)
			check_canaries();
	}
	check_canaries();
	for (int k = 0; k < CLASSES; k++)
		CHECK(counts[k] > (k == 0 ? MESSAGES / 10 : 10), "class %d came %d times", classes[k], counts[k]);
	return unit_end();
}
