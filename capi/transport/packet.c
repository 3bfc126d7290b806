#include "transport/packet.h"

#include <string.h>

#include "datatype/op.h"
#include "datatype/predefined.h"
#include "update/update.h"
#include "transport/layout.h"
#include "win/attached.h"
#include "win/error_detail.h"

_Static_assert(sizeof(struct gompi_packet) == 40,
	       "the header shares a cache line with the cell's state and 16 bytes of data");
_Static_assert(offsetof(struct gompi_answer, from) == offsetof(struct gompi_packet, origin) &&
		       offsetof(struct gompi_answer, data) == offsetof(struct gompi_packet, data),
	       "an answer lies over its packet");

// --- At the origin

void gompi_packet_write(struct gompi_packet *m, const struct gompi_win *w, struct gompi_outgoing *o,
			uint64_t data_bytes, uint64_t max_bytes) {
	char *data = m->data;
	bool pull = gompi_packet_is_pull(o->kind), inlined = o->origin != NULL && !pull;
	if (pull) {
		*(struct gompi_packet_pull *)data =
			(struct gompi_packet_pull){(uintptr_t)o->origin, (uintptr_t)o->result};
		data += sizeof(struct gompi_packet_pull);
	} else if (o->cursor == NULL && o->bytes > max_bytes) {
		o->bytes = max_bytes / o->element_bytes * o->element_bytes;
	}
	if (o->cursor != NULL) {
		struct gompi_packet_layout *p = (struct gompi_packet_layout *)data;
		struct gompi_layout_limits limits = {
			.words_bytes = m->data + data_bytes - (char *)p->words - (int64_t)sizeof p->words[0],
			.unit = (int64_t)o->element_bytes,
			.max_data_bytes = (int64_t)o->bytes,
			.is_shared = inlined,
		};
		if (!pull && o->bytes > max_bytes)
			limits.max_data_bytes = (int64_t)max_bytes;
		int64_t bytes;
		p->word_count = gompi_layout_encode(p->words, o->cursor, &limits, &bytes);
		o->bytes = (uint64_t)bytes;
		// The space for layout words is rounded up to an odd number. Together with word_count, it is then a
		// multiple of 16 bytes, so the data has the same alignment as in a packet without a layout.
		data = (char *)(p->words + (p->word_count | 1));
	}
	if (inlined) {
		gompi_copy_out(data, o->origin, o->bytes);
		data += o->bytes;
	}
	if (o->kind == PACKET_COMPARE_AND_SWAP) {
		gompi_copy_out(data, o->operation->compare, o->bytes);
		data += o->bytes;
	}
	const int added = (o->cursor != NULL ? PACKET_LAYOUT : 0) | (o->in_order ? PACKET_IN_ORDER : 0);
	m->head = (struct gompi_packet_head){.kind = (uint8_t)((int)o->kind | added),
					     .flags = o->wants_reply ? PACKET_WANTS_ANSWER : 0,
					     .length = (uint16_t)(data - m->data),
					     .window = (uint32_t)w->handle};
	m->origin = gompi_node.self;
	m->op = (uint16_t)(uintptr_t)o->operation->op;
	m->type = (uint16_t)(uintptr_t)o->type;
	m->offset = o->offset;
	m->bytes = o->bytes;
}

// --- At the target

// A packet that is being applied.
struct packet_work {
	const struct gompi_packet *packet;
	struct gompi_win *w;
	gompi_pull_function *pull;
	uint64_t max_data_bytes;     // maximum bytes of the packet's data; also maximum bytes of the result
	enum gompi_packet_kind kind; // the kind; the flags PACKET_IN_ORDER and PACKET_LAYOUT are cleared
	uint64_t element_bytes;
	// Bytes of padding at the end of an element (extent - true_ub). The padding of the last element may lie outside
	// of the window.
	uint64_t gap;
	uintptr_t
		base_address; // base address of the layout's offsets; a number, since it may lie outside of any object
	struct gompi_layout layout;
	struct gompi_packet_pull buffers;
	const char *data;
};

static char *layout_address(const struct packet_work *k, int64_t offset) {
	return (char *)(k->base_address + (uint64_t)offset);
}

// Copies the bytes at `data` to the next bytes of a layout. gather_from_layout copies in the opposite direction.
static void scatter_to_layout(const struct packet_work *k, struct gompi_layout *l, const char *data, uint64_t bytes) {
	while (bytes != 0) {
		struct gompi_run r = gompi_layout_next(l, (int64_t)bytes);
		gompi_copy_blocks(layout_address(k, r.offset), r.stride, data, r.block, r.block, r.n);
		data += r.n * r.block;
		bytes -= (uint64_t)(r.n * r.block);
	}
}

static void gather_from_layout(const struct packet_work *k, struct gompi_layout *l, char *data, uint64_t bytes) {
	while (bytes != 0) {
		struct gompi_run r = gompi_layout_next(l, (int64_t)bytes);
		gompi_copy_blocks(data, r.block, layout_address(k, r.offset), r.stride, r.block, r.n);
		data += r.n * r.block;
		bytes -= (uint64_t)(r.n * r.block);
	}
}

// Applies an accumulate operation to the next bytes of the layout. Returns 0 or an error class.
static int update_layout(struct packet_work *k, enum gompi_rma_kind kind, const char *origin, const void *compare,
			 char *result, uint64_t bytes) {
	const struct gompi_operation o = {
		.kind = kind, .target = k->w->me, .op = (MPI_Op)(uintptr_t)k->packet->op, .compare = compare};
	struct gompi_update u = {.w = k->w, .operation = &o, .element = (MPI_Datatype)(uintptr_t)k->packet->type};
	const struct gompi_layout begin = k->layout;
	struct gompi_run r = gompi_layout_next(&k->layout, (int64_t)bytes);
	int rc = gompi_update_begin(&u, bytes / k->element_bytes, layout_address(k, r.offset));
	if (rc == MPI_SUCCESS && r.block < (int64_t)bytes && !(k->packet->head.kind & PACKET_IN_ORDER) &&
	    gompi_update_can_gather(&u)) {
		struct gompi_layout write_back = k->layout = begin;
		_Alignas(64) char array[GOMPI_GATHER_BYTES];
		for (uint64_t n; bytes != 0 && rc == MPI_SUCCESS;
		     bytes -= n, origin += n, result = result != NULL ? result + n : NULL) {
			n = bytes < sizeof array ? bytes : sizeof array;
			gather_from_layout(k, &k->layout, array, n);
			rc = gompi_update(&u, array, origin, result, n / k->element_bytes);
			if (o.op != MPI_NO_OP && rc == MPI_SUCCESS)
				scatter_to_layout(k, &write_back, array, n);
		}
	}
	while (bytes != 0 && rc == MPI_SUCCESS) {
		for (int64_t i = 0; i < r.n && rc == MPI_SUCCESS; i++) {
			rc = gompi_update(&u, layout_address(k, r.offset + i * r.stride), origin, result,
					  (uint64_t)r.block / k->element_bytes);
			bytes -= (uint64_t)r.block;
			origin += r.block;
			if (result != NULL)
				result += r.block;
		}
		if (bytes != 0)
			r = gompi_layout_next(&k->layout, (int64_t)bytes);
	}
	gompi_update_end(&u);
	return rc;
}

// Applies an operation whose data is in a bounce buffer of the origin. The data has at most PACKET_MAX_PULL_BYTES
// bytes, as decode_packet has checked. Returns 0 or an error class.
static int apply_pulled(struct packet_work *k) {
	static _Alignas(64) char origin[PACKET_MAX_PULL_BYTES],
		result[PACKET_MAX_PULL_BYTES]; // static, because only one thread at a time passes a pull function
	const uint64_t total = k->packet->bytes;
	const bool puts = k->kind == PACKET_PUT_PULL, fetches = k->kind == PACKET_FETCH_PULL;
	int class = MPI_ERR_UNSUPPORTED_OPERATION; // returned if the data cannot be moved
	if ((puts || k->kind == PACKET_GET_PULL) && k->layout.run.block == (int64_t)total)
		return k->pull(k->packet->origin, puts ? k->buffers.origin : k->buffers.result,
			       layout_address(k, k->layout.run.offset), total, !puts)
			       ? MPI_SUCCESS
			       : class;
	if (k->buffers.origin != 0 && !k->pull(k->packet->origin, k->buffers.origin, origin, total, false))
		return class;
	if (puts) {
		scatter_to_layout(k, &k->layout, origin, total);
		return MPI_SUCCESS;
	}
	if (k->kind == PACKET_GET_PULL) {
		gather_from_layout(k, &k->layout, result, total);
	} else {
		int rc = update_layout(k, fetches ? RMA_GET_ACCUMULATE : RMA_ACCUMULATE, origin, NULL,
				       fetches ? result : NULL, total);
		if (rc != MPI_SUCCESS || !fetches)
			return rc;
		if ((MPI_Op)(uintptr_t)k->packet->op != MPI_NO_OP)
			class = MPI_ERR_OTHER; // the update cannot be undone
	}
	return k->pull(k->packet->origin, k->buffers.result, result, total, true) ? MPI_SUCCESS : class;
}

// Returns true if each block of a packet lies in an attached region. This check is for packets that span several
// regions. An origin on another node may send such packets. An origin on this node looks up the regions itself, and
// sends one packet per region.
static bool all_attached(const struct packet_work *k) {
	struct gompi_layout l = k->layout;
	for (uint64_t bytes = k->packet->bytes; bytes != 0;) {
		struct gompi_run r = gompi_layout_next(&l, (int64_t)bytes);
		for (int64_t i = 0; i < r.n; i++) {
			uint64_t from = k->base_address + (uint64_t)(r.offset + i * r.stride);
			if (!gompi_attached_covers(k->w, k->w->me, from, (uint64_t)r.block / k->element_bytes,
						   k->element_bytes, k->gap))
				return false;
		}
		bytes -= (uint64_t)(r.n * r.block);
	}
	return true;
}

// Decodes the location of a packet's data in this process' window, and validates that all the data lies in the window.
// Returns 0 or an error class.
static int decode_packet(struct packet_work *k) {
	const struct gompi_packet *m = k->packet;
	const char *data = m->data, *end = data + m->head.length;
	int64_t lo = 0, hi = (int64_t)m->bytes;
	bool pulls = gompi_packet_is_pull(k->kind);
	bool fetches = k->kind == PACKET_FETCH || k->kind == PACKET_FETCH_PULL;
	bool needs_origin = k->kind != PACKET_GET && k->kind != PACKET_GET_PULL &&
			    !(fetches && (MPI_Op)(uintptr_t)m->op == MPI_NO_OP);
	if (m->head.length > k->max_data_bytes)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_DATA_TOO_LONG, m->head.length, k->max_data_bytes);
	if (m->bytes == 0 || hi < 0 || m->bytes % k->element_bytes != 0)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_PARTIAL_ELEMENT, m->bytes, k->element_bytes);
	if (pulls) {
		if (end - data < (int64_t)sizeof k->buffers)
			return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_NO_ADDRESSES, m->head.length,
						      sizeof k->buffers);
		memcpy(&k->buffers, data, sizeof k->buffers);
		data += sizeof k->buffers;
		if (k->pull == NULL)
			return MPI_ERR_UNSUPPORTED_OPERATION;
		if (m->bytes > PACKET_MAX_PULL_BYTES)
			return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_OP_TOO_LARGE, m->bytes,
						      PACKET_MAX_PULL_BYTES);
		if (needs_origin != (k->buffers.origin != 0))
			return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_ADDRESS_MISMATCH, k->buffers.origin,
						      needs_origin ? m->bytes : 0);
	}
	if (m->head.kind & PACKET_LAYOUT) {
		const struct gompi_packet_layout *p = (const struct gompi_packet_layout *)data;
		if (end - data < (int64_t)sizeof *p || p->word_count <= 0 ||
		    p->word_count > (end - (const char *)p->words) / (int64_t)sizeof p->words[0] ||
		    !gompi_layout_init(&k->layout, p->words, p->word_count, (int64_t)k->element_bytes,
				       (int64_t)m->bytes, &lo, &hi))
			return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_BAD_LAYOUT, (uint64_t)(end - data),
						      m->bytes);
		data = (const char *)(p->words + (p->word_count | 1));
	} else {
		k->layout = (struct gompi_layout){.run = {0, (int64_t)m->bytes, 1, 0}};
	}
	k->data = data;
	if (!pulls && m->bytes > k->max_data_bytes)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_OP_TOO_LARGE, m->bytes, k->max_data_bytes);
	uint64_t operand_count = k->kind == PACKET_COMPARE_AND_SWAP ? 2 : 1;
	if (!pulls && needs_origin && end - data < (int64_t)(m->bytes * operand_count))
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_DATA_TOO_SHORT,
					      end < data ? 0 : (uint64_t)(end - data), m->bytes * operand_count);
	uint64_t from = m->offset + (uint64_t)lo, to = m->offset + (uint64_t)hi - k->gap;
	if (k->w->attached != NULL) {
		char *mapped_at;
		k->base_address = (uintptr_t)m->offset; // the offset is an address of this process in a dynamic window
		if (to < from ||
		    (gompi_attached_find(k->w, k->w->me, from, to, &mapped_at) != MPI_SUCCESS && !all_attached(k)))
			return gompi_set_error_detail(MPI_ERR_RMA_RANGE, DETAIL_NOT_ATTACHED, from, to - 1);
	} else {
		if (to < from || to > (uint64_t)k->w->size)
			return gompi_set_error_detail(MPI_ERR_RMA_RANGE, DETAIL_OUTSIDE_WINDOW, to,
						      (uint64_t)k->w->size);
		k->base_address = (uintptr_t)k->w->base + m->offset;
	}
	return MPI_SUCCESS;
}

int gompi_packet_apply_put(struct gompi_win *w, const struct gompi_packet *m, uint64_t max_bytes) {
	const uint64_t bytes = m->bytes, size = (uint64_t)w->size;
	if (w->attached != NULL)
		return gompi_packet_apply(m, NULL, max_bytes, NULL);
	if (m->head.length > max_bytes)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_DATA_TOO_LONG, m->head.length, max_bytes);
	if (bytes == 0 || bytes > m->head.length)
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_DATA_TOO_SHORT, m->head.length, bytes);
	if (bytes > size || m->offset > size - bytes)
		return gompi_set_error_detail(MPI_ERR_RMA_RANGE, DETAIL_OUTSIDE_WINDOW, m->offset + bytes, size);
	gompi_copy_in((char *)w->base + m->offset, m->data, bytes);
	return MPI_SUCCESS;
}

int gompi_packet_apply(const struct gompi_packet *m, char *reply, uint64_t max_bytes, gompi_pull_function *pull) {
	struct packet_work work = {.packet = m,
				   .pull = pull,
				   .max_data_bytes = max_bytes,
				   .kind = m->head.kind & ~(PACKET_LAYOUT | PACKET_IN_ORDER),
				   .element_bytes = 1};
	struct packet_work *k = &work;
	k->w = gompi_win_get((MPI_Win)(uintptr_t)m->head.window);
	if (k->w == NULL)
		return gompi_set_error_detail(MPI_ERR_WIN, DETAIL_NO_WINDOW, m->head.window, (uint64_t)m->origin);
	if (k->kind >= PACKET_ACCUMULATE) {
		MPI_Datatype element = (MPI_Datatype)(uintptr_t)m->type;
		const struct gompi_type *type = gompi_type_get(element);
		if (type == NULL || m->type >= GOMPI_PREDEFINED_HANDLES || type->extent <= 0)
			return gompi_set_error_detail(MPI_ERR_TYPE, DETAIL_BAD_ELEMENT, m->type, m->bytes);
		k->element_bytes = (uint64_t)type->extent;
		if (k->kind != PACKET_COMPARE_AND_SWAP && gompi_op_kernel((MPI_Op)(uintptr_t)m->op, element) == NULL)
			return gompi_set_error_detail(MPI_ERR_OP, DETAIL_BAD_OP, m->op, m->type);
		if (k->kind == PACKET_COMPARE_AND_SWAP &&
		    (!gompi_cas_type_bytes(element) || m->bytes != k->element_bytes))
			return gompi_set_error_detail(MPI_ERR_TYPE, DETAIL_BAD_ELEMENT, m->type, m->bytes);
		k->gap = (uint64_t)(type->extent - type->true_ub);
	}
	int rc = decode_packet(k);
	if (rc != MPI_SUCCESS)
		return rc;
	switch (k->kind) {
	case PACKET_PUT:
		scatter_to_layout(k, &k->layout, k->data, m->bytes);
		return MPI_SUCCESS;
	case PACKET_GET:
		gather_from_layout(k, &k->layout, reply, m->bytes);
		return MPI_SUCCESS;
	case PACKET_ACCUMULATE:
		return update_layout(k, RMA_ACCUMULATE, k->data, NULL, NULL, m->bytes);
	case PACKET_FETCH:
		return update_layout(k, RMA_GET_ACCUMULATE, k->data, NULL, reply, m->bytes);
	case PACKET_COMPARE_AND_SWAP:
		return update_layout(k, RMA_COMPARE_AND_SWAP, k->data, k->data + m->bytes, reply, m->bytes);
	case PACKET_PUT_PULL:
	case PACKET_GET_PULL:
	case PACKET_ACCUMULATE_PULL:
	case PACKET_FETCH_PULL:
		return apply_pulled(k);
	default:
		return gompi_set_error_detail(MPI_ERR_INTERN, DETAIL_BAD_KIND, m->head.kind, (uint64_t)k->w->me);
	}
}
