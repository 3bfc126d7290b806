#include "transport/packet.h"

#include <string.h>

#include "datatype/op.h"
#include "datatype/simple.h"
#include "update/update.h"
#include "transport/layout.h"
#include "win/attached.h"
#include "win/why.h"

_Static_assert(sizeof(struct gompi_packet) == 40, "the header shares a cache line with a turn and 16 bytes of data");
_Static_assert(offsetof(struct gompi_answer, from) == offsetof(struct gompi_packet, origin) &&
		       offsetof(struct gompi_answer, data) == offsetof(struct gompi_packet, data),
	       "an answer lies over its packet");

// --- At the origin

void gompi_packet_write(struct gompi_packet *m, const struct gompi_win *w, struct gompi_outgoing *o, uint64_t room,
			uint64_t most) {
	char *data = m->data;
	bool pull = gompi_packet_pulls(o->kind), inlined = o->origin != NULL && !pull;
	if (pull) {
		*(struct gompi_packet_pull *)data =
			(struct gompi_packet_pull){(uintptr_t)o->origin, (uintptr_t)o->result};
		data += sizeof(struct gompi_packet_pull);
	} else if (o->pieces == NULL && o->bytes > most) {
		o->bytes = most / o->element * o->element;
	}
	if (o->pieces != NULL) {
		struct gompi_packet_pieces *p = (struct gompi_packet_pieces *)data;
		struct gompi_layout_limits limits = {
			.room = m->data + room - (char *)p->word - (int64_t)sizeof p->word[0],
			.unit = (int64_t)o->element,
			.most = (int64_t)o->bytes,
			.shared = inlined,
		};
		if (!pull && o->bytes > most)
			limits.most = (int64_t)most;
		int64_t bytes;
		p->n = gompi_layout_fill(p->word, o->pieces, &limits, &bytes);
		o->bytes = (uint64_t)bytes;
		// makes the number of words odd, so the data has the same alignment as in a packet without a layout
		data = (char *)(p->word + (p->n | 1));
	}
	if (inlined) {
		gompi_copy_out(data, o->origin, o->bytes);
		data += o->bytes;
	}
	if (o->kind == PACKET_COMPARE_AND_SWAP) {
		gompi_copy_out(data, o->operation->compare, o->bytes);
		data += o->bytes;
	}
	const int added = (o->pieces != NULL ? PACKET_LAYOUT : 0) | (o->in_order ? PACKET_IN_ORDER : 0);
	m->head = (struct gompi_packet_head){.kind = (uint8_t)((int)o->kind | added),
					     .flags = o->reply ? PACKET_ASKS : 0,
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
struct work {
	const struct gompi_packet *m;
	struct gompi_win *w;
	gompi_packet_mover *pull;
	uint64_t most;               // maximum bytes of its data, and of the result
	enum gompi_packet_kind kind; // without flags
	uint64_t element;            // size of an element
	// padding at the end of an element (extent - true_ub); need not exist after the last one
	uint64_t gap;
	uintptr_t to; // base address for the layout's offsets; a number, since it may be outside of any object
	struct gompi_layout layout;
	struct gompi_packet_pull buffers;
	const char *data;
};

static char *at_offset(const struct work *k, int64_t offset) { return (char *)(k->to + (uint64_t)offset); }

// Copies the next bytes of a layout from data (copy_to) or to data (copy_from).
static void copy_to(const struct work *k, struct gompi_layout *l, const char *data, uint64_t bytes) {
	while (bytes != 0) {
		struct gompi_run r = gompi_layout_take(l, (int64_t)bytes);
		gompi_copy_blocks(at_offset(k, r.offset), r.stride, data, r.block, r.block, r.n);
		data += r.n * r.block;
		bytes -= (uint64_t)(r.n * r.block);
	}
}

static void copy_from(const struct work *k, struct gompi_layout *l, char *data, uint64_t bytes) {
	while (bytes != 0) {
		struct gompi_run r = gompi_layout_take(l, (int64_t)bytes);
		gompi_copy_blocks(data, r.block, at_offset(k, r.offset), r.stride, r.block, r.n);
		data += r.n * r.block;
		bytes -= (uint64_t)(r.n * r.block);
	}
}

// Applies an accumulate operation to the next bytes of the layout. Returns an error class.
static int update_pieces(struct work *k, enum gompi_kind kind, const char *origin, const void *compare, char *result,
			 uint64_t bytes) {
	const struct gompi_operation o = {
		.kind = kind, .target = k->w->me, .op = (MPI_Op)(uintptr_t)k->m->op, .compare = compare};
	struct gompi_update u = {.w = k->w, .operation = &o, .element = (MPI_Datatype)(uintptr_t)k->m->type};
	const struct gompi_layout begin = k->layout;
	struct gompi_run r = gompi_layout_take(&k->layout, (int64_t)bytes);
	int rc = gompi_update_begin(&u, bytes / k->element, at_offset(k, r.offset));
	if (rc == MPI_SUCCESS && r.block < (int64_t)bytes && !(k->m->head.kind & PACKET_IN_ORDER) &&
	    gompi_update_gathers(&u)) {
		struct gompi_layout back = k->layout = begin;
		_Alignas(64) char array[GOMPI_GATHER];
		for (uint64_t n; bytes != 0 && rc == MPI_SUCCESS;
		     bytes -= n, origin += n, result = result != NULL ? result + n : NULL) {
			n = bytes < sizeof array ? bytes : sizeof array;
			copy_from(k, &k->layout, array, n);
			rc = gompi_update(&u, array, origin, result, n / k->element);
			if (o.op != MPI_NO_OP && rc == MPI_SUCCESS)
				copy_to(k, &back, array, n);
		}
	}
	while (bytes != 0 && rc == MPI_SUCCESS) {
		for (int64_t i = 0; i < r.n && rc == MPI_SUCCESS; i++) {
			rc = gompi_update(&u, at_offset(k, r.offset + i * r.stride), origin, result,
					  (uint64_t)r.block / k->element);
			bytes -= (uint64_t)r.block;
			origin += r.block;
			if (result != NULL)
				result += r.block;
		}
		if (bytes != 0)
			r = gompi_layout_take(&k->layout, (int64_t)bytes);
	}
	gompi_update_end(&u);
	return rc;
}

// Applies an operation whose data is in a bounce buffer of the origin; locate has limited it to PACKET_PULLED bytes.
// Returns an error class.
static int apply_pulled(struct work *k) {
	static _Alignas(64) char from[PACKET_PULLED], back[PACKET_PULLED]; // static: one thread pulls at a time
	const uint64_t total = k->m->bytes;
	const bool puts = k->kind == PACKET_PUT_PULL, fetches = k->kind == PACKET_FETCH_PULL;
	int class = MPI_ERR_UNSUPPORTED_OPERATION; // returned if the data cannot be moved
	if ((puts || k->kind == PACKET_GET_PULL) && k->layout.run.block == (int64_t)total)
		return k->pull(k->m->origin, puts ? k->buffers.origin : k->buffers.result,
			       at_offset(k, k->layout.run.offset), total, !puts)
			       ? MPI_SUCCESS
			       : class;
	if (k->buffers.origin != 0 && !k->pull(k->m->origin, k->buffers.origin, from, total, false))
		return class;
	if (puts) {
		copy_to(k, &k->layout, from, total);
		return MPI_SUCCESS;
	}
	if (k->kind == PACKET_GET_PULL) {
		copy_from(k, &k->layout, back, total);
	} else {
		int rc = update_pieces(k, fetches ? RMA_GET_ACCUMULATE : RMA_ACCUMULATE, from, NULL,
				       fetches ? back : NULL, total);
		if (rc != MPI_SUCCESS || !fetches)
			return rc;
		if ((MPI_Op)(uintptr_t)k->m->op != MPI_NO_OP)
			class = MPI_ERR_OTHER; // the update cannot be undone
	}
	return k->pull(k->m->origin, k->buffers.result, back, total, true) ? MPI_SUCCESS : class;
}

// Returns true if each block of a packet lies in an attached region, for packets that span several regions. An origin
// on this node looks up the regions itself, and sends one packet for each; an origin on another node does not.
static bool is_attached(const struct work *k) {
	struct gompi_layout l = k->layout;
	for (uint64_t bytes = k->m->bytes; bytes != 0;) {
		struct gompi_run r = gompi_layout_take(&l, (int64_t)bytes);
		for (int64_t i = 0; i < r.n; i++) {
			uint64_t from = k->to + (uint64_t)(r.offset + i * r.stride);
			if (!gompi_attached_covers(k->w, k->w->me, from, (uint64_t)r.block / k->element, k->element,
						   k->gap))
				return false;
		}
		bytes -= (uint64_t)(r.n * r.block);
	}
	return true;
}

// Decodes where the data of a packet is, and validates that all of it lies in this process' window. Returns an error
// class.
static int locate(struct work *k) {
	const struct gompi_packet *m = k->m;
	const char *data = m->data, *end = data + m->head.length;
	int64_t lo = 0, hi = (int64_t)m->bytes;
	bool pulls = gompi_packet_pulls(k->kind);
	bool fetches = k->kind == PACKET_FETCH || k->kind == PACKET_FETCH_PULL;
	bool takes = k->kind != PACKET_GET && k->kind != PACKET_GET_PULL && // needs data of the origin
		     !(fetches && (MPI_Op)(uintptr_t)m->op == MPI_NO_OP);
	if (m->head.length > k->most)
		return gompi_because(MPI_ERR_INTERN, WHY_TOO_LONG, m->head.length, k->most);
	if (m->bytes == 0 || hi < 0 || m->bytes % k->element != 0)
		return gompi_because(MPI_ERR_INTERN, WHY_BYTES, m->bytes, k->element);
	if (pulls) {
		if (end - data < (int64_t)sizeof k->buffers)
			return gompi_because(MPI_ERR_INTERN, WHY_NO_ADDRESSES, m->head.length, sizeof k->buffers);
		memcpy(&k->buffers, data, sizeof k->buffers);
		data += sizeof k->buffers;
		if (k->pull == NULL)
			return MPI_ERR_UNSUPPORTED_OPERATION;
		if (m->bytes > PACKET_PULLED)
			return gompi_because(MPI_ERR_INTERN, WHY_TOO_MUCH, m->bytes, PACKET_PULLED);
		if (takes != (k->buffers.origin != 0))
			return gompi_because(MPI_ERR_INTERN, WHY_OTHER_ADDRESSES, k->buffers.origin,
					     takes ? m->bytes : 0);
	}
	if (m->head.kind & PACKET_LAYOUT) {
		const struct gompi_packet_pieces *p = (const struct gompi_packet_pieces *)data;
		if (end - data < (int64_t)sizeof *p || p->n <= 0 ||
		    p->n > (end - (const char *)p->word) / (int64_t)sizeof p->word[0] ||
		    !gompi_layout_open(&k->layout, p->word, p->n, (int64_t)k->element, (int64_t)m->bytes, &lo, &hi))
			return gompi_because(MPI_ERR_INTERN, WHY_NO_LAYOUT, (uint64_t)(end - data), m->bytes);
		data = (const char *)(p->word + (p->n | 1));
	} else {
		k->layout = (struct gompi_layout){.run = {0, (int64_t)m->bytes, 1, 0}};
	}
	k->data = data;
	if (!pulls && m->bytes > k->most)
		return gompi_because(MPI_ERR_INTERN, WHY_TOO_MUCH, m->bytes, k->most);
	uint64_t sides = k->kind == PACKET_COMPARE_AND_SWAP ? 2 : 1;
	if (!pulls && takes && end - data < (int64_t)(m->bytes * sides))
		return gompi_because(MPI_ERR_INTERN, WHY_TOO_SHORT, end < data ? 0 : (uint64_t)(end - data),
				     m->bytes * sides);
	uint64_t from = m->offset + (uint64_t)lo, to = m->offset + (uint64_t)hi - k->gap;
	if (k->w->attached != NULL) {
		char *here;
		k->to = (uintptr_t)m->offset; // in a dynamic window, an address of this process
		if (to < from ||
		    (gompi_attached_find(k->w, k->w->me, from, to, &here) != MPI_SUCCESS && !is_attached(k)))
			return gompi_because(MPI_ERR_RMA_RANGE, WHY_NOT_ATTACHED, from, to);
	} else {
		if (to < from || to > (uint64_t)k->w->size)
			return gompi_because(MPI_ERR_RMA_RANGE, WHY_OUTSIDE, to, (uint64_t)k->w->size);
		k->to = (uintptr_t)k->w->base + m->offset;
	}
	return MPI_SUCCESS;
}

int gompi_packet_put(struct gompi_win *w, const struct gompi_packet *m, uint64_t most) {
	const uint64_t bytes = m->bytes, size = (uint64_t)w->size;
	if (w->attached != NULL)
		return gompi_packet_apply(m, NULL, most, NULL);
	if (m->head.length > most)
		return gompi_because(MPI_ERR_INTERN, WHY_TOO_LONG, m->head.length, most);
	if (bytes == 0 || bytes > m->head.length)
		return gompi_because(MPI_ERR_INTERN, WHY_TOO_SHORT, m->head.length, bytes);
	if (bytes > size || m->offset > size - bytes)
		return gompi_because(MPI_ERR_RMA_RANGE, WHY_OUTSIDE, m->offset + bytes, size);
	gompi_copy_in((char *)w->base + m->offset, m->data, bytes);
	return MPI_SUCCESS;
}

int gompi_packet_apply(const struct gompi_packet *m, char *reply, uint64_t most, gompi_packet_mover *pull) {
	struct work work = {.m = m,
			    .pull = pull,
			    .most = most,
			    .kind = m->head.kind & ~(PACKET_LAYOUT | PACKET_IN_ORDER),
			    .element = 1};
	struct work *k = &work;
	k->w = gompi_win_get((MPI_Win)(uintptr_t)m->head.window);
	if (k->w == NULL)
		return gompi_because(MPI_ERR_WIN, WHY_WINDOW, m->head.window, (uint64_t)m->origin);
	if (k->kind >= PACKET_ACCUMULATE) {
		MPI_Datatype element = (MPI_Datatype)(uintptr_t)m->type;
		const struct gompi_type *type = gompi_type_get(element);
		if (type == NULL || m->type >= GOMPI_PREDEFINED || type->extent <= 0)
			return gompi_because(MPI_ERR_TYPE, WHY_ELEMENT, m->type, m->bytes);
		k->element = (uint64_t)type->extent;
		if (k->kind != PACKET_COMPARE_AND_SWAP && gompi_op_kernel((MPI_Op)(uintptr_t)m->op, element) == NULL)
			return gompi_because(MPI_ERR_OP, WHY_OPERATION, m->op, m->type);
		if (k->kind == PACKET_COMPARE_AND_SWAP && (!gompi_swappable(element) || m->bytes != k->element))
			return gompi_because(MPI_ERR_TYPE, WHY_ELEMENT, m->type, m->bytes);
		k->gap = (uint64_t)(type->extent - type->true_ub);
	}
	int rc = locate(k);
	if (rc != MPI_SUCCESS)
		return rc;
	switch (k->kind) {
	case PACKET_PUT:
		copy_to(k, &k->layout, k->data, m->bytes);
		return MPI_SUCCESS;
	case PACKET_GET:
		copy_from(k, &k->layout, reply, m->bytes);
		return MPI_SUCCESS;
	case PACKET_ACCUMULATE:
		return update_pieces(k, RMA_ACCUMULATE, k->data, NULL, NULL, m->bytes);
	case PACKET_FETCH:
		return update_pieces(k, RMA_GET_ACCUMULATE, k->data, NULL, reply, m->bytes);
	case PACKET_COMPARE_AND_SWAP:
		return update_pieces(k, RMA_COMPARE_AND_SWAP, k->data, k->data + m->bytes, reply, m->bytes);
	case PACKET_PUT_PULL:
	case PACKET_GET_PULL:
	case PACKET_ACCUMULATE_PULL:
	case PACKET_FETCH_PULL:
		return apply_pulled(k);
	default:
		return gompi_because(MPI_ERR_INTERN, WHY_KIND, m->head.kind, (uint64_t)k->w->me);
	}
}
