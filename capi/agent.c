// The agent path; see agent.h.
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "agent_layout.h"
#include "apply.h"
#include "datatype.h"
#include "dynamic.h"
#include "epoch.h"
#include "op.h"
#include "poll.h"

static inline struct gompi_agent_ring *ring_of(int process) {
	return (struct gompi_agent_ring *)(gompi_node.agent_rings + (size_t)process * gompi_node.agent_stride);
}

static inline struct gompi_agent_cell *cell_at(struct gompi_agent_ring *ring, uint64_t pos) {
	return (struct gompi_agent_cell *)(ring->cells + pos % GOMPI_AGENT_CELLS * GOMPI_AGENT_CELL);
}

_Static_assert(sizeof(struct gompi_agent_ring) + (size_t)GOMPI_AGENT_CELLS * GOMPI_AGENT_CELL <= 64 << 10,
	       "the ring fits core/shm's AgentRingSize");

// The turns of the cell for position pos. A fresh ring is all zeros, so turns are counted from the position's own: a
// cell's first lap is lap 0.
static inline uint64_t lap(uint64_t pos) { return pos / GOMPI_AGENT_CELLS * 4; }
enum { TURN_FREE = 0, TURN_FILLED = 1, TURN_ANSWERED = 2, TURN_NEXT = 4 };

struct turn_wait {
	struct gompi_agent_cell *cell;
	uint64_t turn;
};

static bool turn_reached(void *arg) {
	struct turn_wait *t = arg;
	return atomic_load_explicit(&t->cell->turn, memory_order_acquire) == t->turn;
}

// Takes the next cell of process' ring for this thread, waiting for a free one. NULL if a process died.
static struct gompi_agent_cell *take(struct gompi_win *w, const char *call, int process, uint64_t *pos) {
	struct gompi_agent_ring *ring = ring_of(process);
	*pos = atomic_fetch_add_explicit(&ring->tail, 1, memory_order_seq_cst);
	struct turn_wait t = {cell_at(ring, *pos), lap(*pos) + TURN_FREE};
	if (__builtin_expect(!turn_reached(&t), 0)) {
		gompi_ring_doorbell(process); // the ring is full of what nobody has been woken for
		struct gompi_waiting what = {call, process, w->handle};
		if (gompi_await(&ring->space, turn_reached, &t, &what) != MPI_SUCCESS)
			return NULL;
	}
	return t.cell;
}

// Publishes a filled cell and, if it wants a reply, waits for it and copies its data to result. 0 or an error class.
static int publish(struct gompi_win *w, const char *call, int process, struct gompi_agent_cell *cell, uint64_t pos,
		   void *result, uint64_t bytes) {
	bool wants_reply = cell->wants_reply;
	if (!wants_reply) {
		// Nobody is woken for it now: that is left to whoever waits for its end, gompi_agent_wait. Pairs with
		// the acquire in serve.
		atomic_store_explicit(&cell->turn, lap(pos) + TURN_FILLED, memory_order_release);
		return MPI_SUCCESS;
	}
	atomic_exchange_explicit(&cell->turn, lap(pos) + TURN_FILLED,
				 memory_order_seq_cst); // release, and the barrier before the look at the pollers
	gompi_ring_doorbell(process);
	struct turn_wait t = {cell, lap(pos) + TURN_ANSWERED};
	struct gompi_waiting what = {call, process, w->handle};
	int rc = gompi_await(&gompi_my_cell()->wait, turn_reached, &t, &what);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = cell->status;
	if (rc == MPI_SUCCESS && result != NULL && bytes <= GOMPI_AGENT_INLINE)
		memcpy(result, cell->data, bytes);
	atomic_exchange_explicit(&cell->turn, lap(pos) + TURN_NEXT, memory_order_seq_cst);
	gompi_wake(&ring_of(process)->space);
	return rc;
}

// The numbers of what was last sent to each member, made when the first is needed. NULL: there is no memory.
static gompi_a64 *sent_numbers(struct gompi_win *w) {
	gompi_a64 *numbers = atomic_load_explicit(&w->sent, memory_order_acquire);
	if (numbers != NULL)
		return numbers;
	gompi_a64 *mine = calloc(w->n, sizeof *mine);
	if (mine == NULL || atomic_compare_exchange_strong(&w->sent, &numbers, mine))
		return mine;
	free(mine); // another thread was first
	return numbers;
}

// What is sent: an operation, or the part of one that fits a cell.
struct message {
	const char *call;           // the function that the application called
	enum gompi_agent_kind kind; // without what is added
	int rank;
	uint64_t offset; // in the target's window
	MPI_Op op;
	MPI_Datatype type;
	const void *origin, *compare; // data here, NULL: none
	void *result;
	uint64_t element, bytes;     // of one element, of all
	struct gompi_cursor *pieces; // at the target; NULL: one piece at offset
	bool reply;
	bool in_order; // the pieces may overlap
};

static bool is_pull(enum gompi_agent_kind kind) {
	return kind == AGENT_PUT_PULL || kind == AGENT_GET_PULL || kind == AGENT_ACCUMULATE_PULL ||
	       kind == AGENT_FETCH_PULL;
}

// Writes what the message says of its data into the cell: as many of its pieces as fit, after which m->bytes says how
// much that is.
static void write_data(struct gompi_agent_cell *cell, struct message *m) {
	char *data = cell->data;
	bool pull = is_pull(m->kind), inlined = m->origin != NULL && !pull;
	if (pull) {
		*(struct gompi_agent_pull *)data =
			(struct gompi_agent_pull){(uintptr_t)m->origin, (uintptr_t)m->result};
		data += sizeof(struct gompi_agent_pull);
	}
	if (m->pieces != NULL) {
		struct gompi_agent_pieces *p = (struct gompi_agent_pieces *)data;
		struct gompi_layout_limits limits = {.room = (char *)cell + GOMPI_AGENT_CELL - (char *)p->word -
							     (int64_t)sizeof p->word[0],
						     .unit = (int64_t)m->element,
						     .most = (int64_t)m->bytes,
						     .shared = inlined};
		if (!pull && limits.most > (int64_t)GOMPI_AGENT_INLINE)
			limits.most = GOMPI_AGENT_INLINE;
		int64_t bytes;
		p->n = gompi_layout_fill(p->word, m->pieces, &limits, &bytes);
		m->bytes = (uint64_t)bytes;
		data = (char *)(p->word + (p->n | 1)); // the data is aligned as in a cell without pieces
	}
	if (inlined)
		memcpy(data, m->origin, m->bytes);
	if (m->kind == AGENT_COMPARE_AND_SWAP)
		memcpy(data + m->bytes, m->compare, m->bytes);
}

// Sends one cell.
static int post(struct gompi_win *w, struct message *m) {
	int process = gompi_member(w, m->rank)->process;
	uint64_t pos;
	gompi_a64 *numbers = sent_numbers(w);
	if (numbers == NULL)
		return MPI_ERR_NO_MEM;
	struct gompi_agent_cell *cell = take(w, m->call, process, &pos);
	if (cell == NULL)
		return MPI_ERR_PROC_ABORTED;
	write_data(cell, m);
	cell->window = (uint32_t)w->handle;
	cell->origin = gompi_node.me;
	cell->kind = (uint8_t)(m->kind | (m->pieces != NULL ? AGENT_LAYOUT : 0) | (m->in_order ? AGENT_IN_ORDER : 0));
	cell->wants_reply = m->reply;
	cell->op = (uint16_t)(uintptr_t)m->op;
	cell->type = (uint16_t)(uintptr_t)m->type;
	cell->status = 0;
	cell->offset = m->offset;
	cell->count = m->bytes / m->element;
	cell->bytes = m->bytes;
	gompi_a64 *last = &numbers[m->rank];
	uint64_t sent = atomic_load_explicit(last, memory_order_relaxed);
	while (sent < pos + 1 &&
	       !atomic_compare_exchange_weak_explicit(last, &sent, pos + 1, memory_order_relaxed, memory_order_relaxed))
		;
	if (!(atomic_load_explicit(&w->flush_more, memory_order_relaxed) & FLUSH_AGENT))
		atomic_fetch_or_explicit(&w->flush_more, FLUSH_AGENT, memory_order_relaxed);
	return publish(w, m->call, process, cell, pos, is_pull(m->kind) ? NULL : m->result, m->bytes);
}

// Sends a message of any size in as many cells as it takes.
static int post_all(struct gompi_win *w, const struct message *whole) {
	for (uint64_t done = 0; done < whole->bytes;) {
		struct message m = *whole;
		m.bytes -= done;
		if (m.pieces == NULL) {
			m.offset += done;
			if (!is_pull(m.kind) && m.bytes > GOMPI_AGENT_INLINE)
				m.bytes = GOMPI_AGENT_INLINE / m.element * m.element;
		}
		if (m.origin != NULL)
			m.origin = (const char *)m.origin + done;
		if (m.result != NULL)
			m.result = (char *)m.result + done;
		int rc = post(w, &m);
		if (rc != MPI_SUCCESS)
			return rc == MPI_ERR_UNSUPPORTED_OPERATION && done != 0 ? MPI_ERR_OTHER : rc;
		done += m.bytes;
	}
	return MPI_SUCCESS;
}

// Moves bytes between this process and an address in another. Whether it could; if not, the first piece has not been
// moved either.
static bool move_process(int process, uint64_t address, void *local, uint64_t bytes, bool write) {
	int pid = atomic_load_explicit(&gompi_cell(process)->pid, memory_order_relaxed);
	for (uint64_t done = 0; done < bytes;) {
		struct iovec l = {(char *)local + done, bytes - done},
			     t = {(void *)(uintptr_t)(address + done), bytes - done};
		ssize_t k = write ? process_vm_writev(pid, &l, 1, &t, 1, 0) : process_vm_readv(pid, &l, 1, &t, 1, 0);
		if (k <= 0)
			return false;
		done += (uint64_t)k;
	}
	return true;
}

// Sends an operation whose data, if it is too large for a cell, the target moves itself between its memory and the
// buffers here, if the system allows that. It answers when it has, since the buffers may be temporary ones of this
// call.
static int post_or_pull(struct gompi_win *w, struct message *m, enum gompi_agent_kind pull,
			const struct gompi_type *type, int64_t count, enum gompi_view view) {
	struct gompi_cursor cursor;
	if (m->pieces != NULL)
		gompi_cursor_init(m->pieces = &cursor, type, count, view);
	if (gompi_node.cma && m->bytes > GOMPI_AGENT_INLINE) {
		struct message pulled = *m;
		pulled.kind = pull;
		pulled.reply = true;
		int rc = post_all(w, &pulled);
		if (rc != MPI_ERR_UNSUPPORTED_OPERATION)
			return rc;
		gompi_node.cma = false; // the system forbids it after all, and nothing has been done
		if (m->pieces != NULL)
			gompi_cursor_init(&cursor, type, count, view);
	}
	return post_all(w, m);
}

int gompi_agent_accumulate(struct gompi_win *w, const struct gompi_rma *r, MPI_Datatype element, uint64_t offset,
			   int64_t count, const struct gompi_type *type, const char *origin, char *result) {
	struct message m = {.call = r->call,
			    .rank = r->target,
			    .offset = offset,
			    .op = r->op,
			    .type = element,
			    .origin = origin,
			    .compare = r->compare,
			    .result = result,
			    .element = (uint64_t)type->elem_size,
			    .bytes = (uint64_t)(count * type->elements * type->elem_size)};
	struct gompi_cursor cursor;
	if (type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS)
		m.offset += (uint64_t)type->elem_origin;
	else
		m.pieces = &cursor;
	m.in_order = m.pieces != NULL && gompi_type_overlaps(type, count);
	m.reply = r->kind != RMA_ACCUMULATE;
	if (r->kind == RMA_COMPARE_AND_SWAP) {
		gompi_cursor_init(&cursor, type, count, GOMPI_ELEMENTS);
		m.kind = AGENT_COMPARE_AND_SWAP;
		return post(w, &m);
	}
	m.kind = m.reply ? AGENT_FETCH : AGENT_ACCUMULATE;
	return post_or_pull(w, &m, m.reply ? AGENT_FETCH_PULL : AGENT_ACCUMULATE_PULL, type, count, GOMPI_ELEMENTS);
}

enum { IOVECS = 256 };

// Moves bytes between local and the pieces of the target's memory that the cursor tells, many with one system call.
// Whether it could.
static bool move_pieces(int process, uint64_t address, struct gompi_cursor *cursor, char *local, int64_t bytes,
			bool put) {
	int pid = atomic_load_explicit(&gompi_cell(process)->pid, memory_order_relaxed);
	while (bytes > 0) {
		struct iovec there[IOVECS];
		int n = 0;
		int64_t total = 0, piece, offset;
		while (n < IOVECS && total < bytes && (piece = gompi_cursor_next(cursor, bytes - total, &offset)) > 0) {
			there[n++] = (struct iovec){(void *)(uintptr_t)(address + (uint64_t)offset), (size_t)piece};
			total += piece;
		}
		struct iovec here = {local, (size_t)total};
		ssize_t k = put ? process_vm_writev(pid, &here, 1, there, (unsigned long)n, 0)
				: process_vm_readv(pid, &here, 1, there, (unsigned long)n, 0);
		if (k != total)
			return false; // also for a part, at which the system stops if addresses are not there
		local += total;
		bytes -= total;
	}
	return true;
}

enum { SERIES = 16 };
static _Thread_local unsigned small_moves __attribute__((tls_model("initial-exec")));

// Gets pieces by reading all between the first and the last, if that is little and at least a quarter of it is wanted:
// less work than a call of the system with an address for each piece. Whether it could.
enum { SPAN = 32 << 10 };
static bool get_span(int process, uint64_t address, int64_t count, const struct gompi_type *type, char *local,
		     int64_t bytes) {
	char span[SPAN];
	int64_t lo, hi;
	struct gompi_cursor cursor;
	gompi_type_bounds(type, count, &lo, &hi);
	if (hi - lo > SPAN || hi - lo > 4 * bytes ||
	    !move_process(process, address + (uint64_t)lo, span, (uint64_t)(hi - lo), false))
		return false;
	gompi_cursor_init(&cursor, type, count, GOMPI_BYTES);
	gompi_cursor_pack(local, span - lo, &cursor, bytes);
	return true;
}

// Pieces are sent through the ring unless they are so few, or so long on average, that the system moves them sooner.
enum { FEW_PIECES = 16, LONG_PIECE = 512 };

int gompi_agent_move(struct gompi_win *w, const struct gompi_rma *r, uint64_t offset, int64_t count,
		     const struct gompi_type *type, char *local, int64_t bytes) {
	struct gompi_win_member *m = gompi_member(w, r->target);
	bool put = r->kind == RMA_PUT;
	struct gompi_cursor cursor;
	bool contiguous = type->flags & GOMPI_TYPE_CONTIGUOUS, small = bytes <= (int64_t)GOMPI_AGENT_INLINE;
	struct message message = {.call = r->call,
				  .kind = put ? AGENT_PUT : AGENT_GET,
				  .rank = r->target,
				  .offset = offset,
				  .op = MPI_OP_NULL,
				  .type = MPI_BYTE,
				  .origin = put ? local : NULL,
				  .result = put ? NULL : local,
				  .element = 1,
				  .bytes = (uint64_t)bytes,
				  .pieces = contiguous ? NULL : &cursor,
				  .reply = !put};
	if (contiguous)
		message.offset += (uint64_t)type->origin;
	// The ring is quicker where somebody at the target looks at it: in active target synchronization it comes to a
	// call of its own soon, and the data of several origins is moved by it in parallel. Otherwise the data is moved
	// without the target; a get needs an answer and gains nothing by the ring.
	bool passive = atomic_load_explicit(&w->access, memory_order_relaxed) & ACCESS_PASSIVE;
	bool polled = !passive || atomic_load_explicit(&gompi_cell(m->process)->pollers, memory_order_relaxed) > 0;
	bool by_system = contiguous ? !(polled && small) || (!put && passive)
				    : (count <= FEW_PIECES && count * type->segments <= FEW_PIECES && !polled) ||
					      bytes / LONG_PIECE / count >= type->segments;
	// A series of small puts to a process that is blocked in a call anyway: from now on its agent looks, and they
	// take the ring.
	if (contiguous && put && small && by_system && ++small_moves % SERIES == 0 &&
	    atomic_load_explicit(&gompi_cell(m->process)->blocked, memory_order_relaxed) > 0)
		gompi_ring_doorbell(m->process);
	if (gompi_node.cma && !put && !contiguous &&
	    get_span(m->process, m->address + offset, count, type, local, bytes))
		return MPI_SUCCESS;
	if (gompi_node.cma && by_system) {
		gompi_cursor_init(&cursor, type, count, GOMPI_BYTES);
		if (move_pieces(m->process, m->address + offset, &cursor, local, bytes, put))
			return MPI_SUCCESS;
	}
	if (contiguous)
		return post_all(w, &message);
	return post_or_pull(w, &message, put ? AGENT_PUT_PULL : AGENT_GET_PULL, type, count, GOMPI_BYTES);
}

struct ack_wait {
	gompi_a64 *ack;
	uint64_t number;
};

static bool acknowledged(void *arg) {
	struct ack_wait *a = arg;
	return (int64_t)(atomic_load_explicit(a->ack, memory_order_acquire) - a->number) >= 0;
}

enum { ACK_POLLS = 400 };

static int wait_for(struct gompi_win *w, int rank, gompi_a64 *numbers, const char *call) {
	int process = gompi_member(w, rank)->process;
	struct ack_wait a = {&gompi_my_cell()->acks[process],
			     atomic_load_explicit(&numbers[rank], memory_order_relaxed)};
	if (acknowledged(&a))
		return MPI_SUCCESS;
	// The target may be about to look at its ring by itself, which is quicker than waking its agent. It may also
	// wait in the same way for this process.
	for (int i = gompi_node.crowded ? ACK_POLLS : 0; i < ACK_POLLS; i++) {
		if (acknowledged(&a))
			return MPI_SUCCESS;
		if (i % 8 == 7)
			gompi_serve();
	}
	gompi_full_fence(); // what was sent is seen before the look at the target's pollers
	gompi_ring_doorbell(process);
	struct gompi_waiting what = {call, process, w->handle};
	return gompi_await(&gompi_my_cell()->wait, acknowledged, &a, &what);
}

int gompi_agent_wait(struct gompi_win *w, int rank, const char *call) {
	gompi_poll_flushed();
	gompi_a64 *numbers = atomic_load_explicit(&w->sent, memory_order_acquire);
	return numbers == NULL ? MPI_SUCCESS : wait_for(w, rank, numbers, call);
}

int gompi_agent_wait_all(struct gompi_win *w, const char *call) {
	gompi_poll_flushed();
	gompi_a64 *numbers = atomic_load_explicit(&w->sent, memory_order_acquire);
	if (numbers == NULL)
		return MPI_SUCCESS;
	int rc = MPI_SUCCESS;
	for (uint32_t i = 0; i < w->n && rc == MPI_SUCCESS; i++)
		rc = wait_for(w, (int)i, numbers, call);
	return rc;
}

enum { SCRATCH = 128 << 10 }; // of which one half holds what came from the origin, the other what goes back

// A cell that is being applied. Its layout is a copy: another process may write the cell.
struct work {
	const struct gompi_agent_cell *cell;
	struct gompi_win *w;
	enum gompi_agent_kind kind; // without what is added
	uint64_t element,
		gap; // bytes of one element, and of those behind its data, which need not be there after the last
	char *to;    // where the offsets of the layout count from
	struct gompi_layout layout;
	struct gompi_agent_pull pull;
	const char *data;
	int64_t words[GOMPI_AGENT_CELL / sizeof(int64_t)];
};

// Copies the next bytes of a layout to or from data.
static void copy_to(const struct work *k, struct gompi_layout *l, const char *data, uint64_t bytes) {
	while (bytes != 0) {
		struct gompi_run r = gompi_layout_take(l, (int64_t)bytes);
		gompi_copy_blocks(k->to + r.offset, r.stride, data, r.block, r.block, r.n);
		data += r.n * r.block;
		bytes -= (uint64_t)(r.n * r.block);
	}
}

static void copy_from(const struct work *k, struct gompi_layout *l, char *data, uint64_t bytes) {
	while (bytes != 0) {
		struct gompi_run r = gompi_layout_take(l, (int64_t)bytes);
		gompi_copy_blocks(data, r.block, k->to + r.offset, r.stride, r.block, r.n);
		data += r.n * r.block;
		bytes -= (uint64_t)(r.n * r.block);
	}
}

// Applies an accumulate-type operation to the next bytes of the layout. An error class.
static int update(struct work *k, enum gompi_rma_kind kind, const char *origin, const void *compare, char *result,
		  uint64_t bytes) {
	struct gompi_update u = {.w = k->w,
				 .rank = k->w->me,
				 .kind = kind,
				 .op = (MPI_Op)(uintptr_t)k->cell->op,
				 .element = (MPI_Datatype)(uintptr_t)k->cell->type,
				 .compare = compare};
	const struct gompi_layout begin = k->layout;
	struct gompi_run r = gompi_layout_take(&k->layout, (int64_t)bytes);
	int rc = gompi_update_begin(&u, bytes / k->element, k->to + r.offset);
	if (rc != MPI_SUCCESS)
		return rc;
	if (r.block < (int64_t)bytes && !(k->cell->kind & AGENT_IN_ORDER) && gompi_update_gathers(&u)) {
		struct gompi_layout back = k->layout = begin;
		static _Alignas(64) char array[GOMPI_GATHER]; // one thread serves at a time
		for (uint64_t n; bytes != 0; bytes -= n, origin += n, result = result != NULL ? result + n : NULL) {
			n = bytes < sizeof array ? bytes : sizeof array;
			copy_from(k, &k->layout, array, n);
			gompi_update(&u, array, origin, result, n / k->element);
			if (u.op != MPI_NO_OP)
				copy_to(k, &back, array, n);
		}
	}
	while (bytes != 0) {
		for (char *to = k->to + r.offset; r.n > 0; r.n--, to += r.stride) {
			gompi_update(&u, to, origin, result, (uint64_t)r.block / k->element);
			bytes -= (uint64_t)r.block;
			origin += r.block;
			if (result != NULL)
				result += r.block;
		}
		if (bytes != 0)
			r = gompi_layout_take(&k->layout, (int64_t)bytes);
	}
	gompi_update_end(&u);
	return MPI_SUCCESS;
}

// Applies an operation whose data stays with the origin, in parts that fit the cache. An error class.
static int apply_pulled(struct work *k) {
	static _Alignas(64) char scratch[SCRATCH]; // one thread serves at a time
	const struct gompi_agent_cell *c = k->cell;
	char *from = scratch, *back = scratch + SCRATCH / 2;
	uint64_t total = c->count * k->element, most = SCRATCH / 2 / k->element * k->element;
	for (uint64_t done = 0; done < total; done += most) {
		uint64_t n = total - done < most ? total - done : most;
		int class = done == 0 ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_ERR_OTHER; // of data that cannot be moved
		if (k->pull.origin != 0 && !move_process(c->origin, k->pull.origin + done, from, n, false))
			return class;
		if (k->kind == AGENT_PUT_PULL) {
			copy_to(k, &k->layout, from, n);
			continue;
		}
		if (k->kind == AGENT_GET_PULL) {
			copy_from(k, &k->layout, back, n);
		} else {
			bool fetch = k->kind == AGENT_FETCH_PULL;
			int rc = update(k, fetch ? RMA_GET_ACCUMULATE : RMA_ACCUMULATE, from, NULL, fetch ? back : NULL,
					n);
			if (rc != MPI_SUCCESS)
				return rc;
			class = MPI_ERR_OTHER;
		}
		if (k->kind != AGENT_ACCUMULATE_PULL && !move_process(c->origin, k->pull.result + done, back, n, true))
			return class;
	}
	return MPI_SUCCESS;
}

// Reads where the data of a cell is, and looks whether all of it lies in this process' memory. An error class.
static int locate(struct work *k) {
	const struct gompi_agent_cell *c = k->cell;
	const char *data = c->data, *end = (const char *)c + GOMPI_AGENT_CELL;
	int64_t lo = 0, hi = (int64_t)c->bytes;
	if (c->count == 0 || c->count > c->bytes || hi < 0)
		return MPI_ERR_INTERN;
	if (is_pull(k->kind)) {
		k->pull = *(const struct gompi_agent_pull *)data;
		data += sizeof k->pull;
	}
	if (c->kind & AGENT_LAYOUT) {
		const struct gompi_agent_pieces *p = (const struct gompi_agent_pieces *)data;
		int64_t n = p->n;
		if (n <= 0 || n > (end - (const char *)p->word) / (int64_t)sizeof p->word[0])
			return MPI_ERR_INTERN;
		memcpy(k->words, p->word, (size_t)n * sizeof p->word[0]);
		if (!gompi_layout_open(&k->layout, k->words, n, (int64_t)k->element, (int64_t)c->bytes, &lo, &hi))
			return MPI_ERR_INTERN;
		data = (const char *)(p->word + (n | 1));
	} else {
		k->layout = (struct gompi_layout){.run = {0, (int64_t)c->bytes, 1, 0}};
	}
	k->data = data;
	uint64_t inlined =
		is_pull(k->kind) || k->kind == AGENT_GET ? 0 : c->bytes * (k->kind == AGENT_COMPARE_AND_SWAP ? 2 : 1);
	if (k->kind == AGENT_FETCH && (MPI_Op)(uintptr_t)c->op == MPI_NO_OP)
		inlined = 0;
	if ((!is_pull(k->kind) && c->bytes > GOMPI_AGENT_INLINE) ||
	    (data <= end ? inlined > (uint64_t)(end - data) : inlined != 0))
		return MPI_ERR_INTERN;
	uint64_t from = c->offset + (uint64_t)lo, to = c->offset + (uint64_t)hi - k->gap;
	if (to < from)
		return MPI_ERR_RMA_RANGE;
	if (k->w->attached != NULL) {
		if (gompi_dynamic_find(k->w, k->w->me, from, to, &k->to) != MPI_SUCCESS)
			return MPI_ERR_RMA_RANGE;
		k->to -= lo;
	} else {
		if (to > (uint64_t)k->w->size)
			return MPI_ERR_RMA_RANGE;
		k->to = (char *)k->w->base + c->offset;
	}
	return MPI_SUCCESS;
}

// Applies one cell. What it says is checked again: another process wrote it.
static int apply(struct gompi_agent_cell *c) {
	static struct work work; // one thread serves at a time
	struct work *k = &work;
	k->cell = c;
	k->kind = c->kind & ~(AGENT_LAYOUT | AGENT_IN_ORDER);
	k->w = gompi_win_get((MPI_Win)(uintptr_t)c->window);
	if (k->w == NULL)
		return MPI_ERR_WIN;
	k->element = 1;
	k->gap = 0;
	if (k->kind >= AGENT_ACCUMULATE) {
		const struct gompi_type *type = gompi_type_get((MPI_Datatype)(uintptr_t)c->type);
		if (type == NULL || c->type >= GOMPI_PREDEFINED || c->count * (uint64_t)type->extent != c->bytes)
			return MPI_ERR_TYPE;
		k->element = (uint64_t)type->extent;
		if (k->kind != AGENT_COMPARE_AND_SWAP &&
		    gompi_op_kernel((MPI_Op)(uintptr_t)c->op, (MPI_Datatype)(uintptr_t)c->type) == NULL)
			return MPI_ERR_OP;
		k->gap = (uint64_t)(type->extent - type->true_ub);
	}
	int rc = locate(k);
	if (rc != MPI_SUCCESS)
		return rc;
	_Alignas(16) char result[GOMPI_AGENT_INLINE];
	switch (k->kind) {
	case AGENT_PUT:
		copy_to(k, &k->layout, k->data, c->bytes);
		return MPI_SUCCESS;
	case AGENT_GET:
		copy_from(k, &k->layout, c->data, c->bytes);
		return MPI_SUCCESS;
	case AGENT_ACCUMULATE:
		return update(k, RMA_ACCUMULATE, k->data, NULL, NULL, c->bytes);
	case AGENT_FETCH:
		rc = update(k, RMA_GET_ACCUMULATE, k->data, NULL, result, c->bytes);
		break;
	case AGENT_COMPARE_AND_SWAP:
		rc = update(k, RMA_COMPARE_AND_SWAP, k->data, k->data + c->bytes, result, c->bytes);
		break;
	case AGENT_PUT_PULL:
	case AGENT_GET_PULL:
	case AGENT_ACCUMULATE_PULL:
	case AGENT_FETCH_PULL:
		return apply_pulled(k);
	default:
		return MPI_ERR_INTERN;
	}
	memcpy(c->data, result, c->bytes);
	return rc;
}

static bool filled(struct gompi_agent_ring *ring) {
	uint64_t pos = atomic_load_explicit(&ring->head, memory_order_relaxed);
	return atomic_load_explicit(&cell_at(ring, pos)->turn, memory_order_seq_cst) == lap(pos) + TURN_FILLED;
}

// Serves until the ring is empty. Called by the one thread that holds the flag `serving`.
static void serve(struct gompi_agent_ring *ring) {
	for (;;) {
		uint64_t pos = atomic_load_explicit(&ring->head, memory_order_relaxed);
		struct gompi_agent_cell *c = cell_at(ring, pos);
		if (atomic_load_explicit(&c->turn, memory_order_acquire) != lap(pos) + TURN_FILLED)
			return;
		int origin = c->origin;
		bool reply = c->wants_reply;
		int rc = apply(c);
		c->status = (uint16_t)rc;
		atomic_store_explicit(&ring->head, pos + 1, memory_order_relaxed);
		atomic_store_explicit(&c->turn, lap(pos) + (reply ? TURN_ANSWERED : TURN_NEXT), memory_order_release);
		if ((uint32_t)origin < (uint32_t)gompi_node.n) {
			// release: the operation is before it; pairs with the acquire in acknowledged
			atomic_store_explicit(&gompi_cell(origin)->acks[gompi_node.me], pos + 1, memory_order_release);
			gompi_full_fence();
			gompi_wake(&gompi_cell(origin)->wait);
			gompi_wake(&ring->space);
		}
	}
}

bool gompi_agent_serve(void) {
	static atomic_flag serving = ATOMIC_FLAG_INIT;
	struct gompi_agent_ring *ring = ring_of(gompi_node.me);
	bool worked = false;
	// Who finds the flag taken goes away; so its holder looks once more after it has given the flag back.
	while (filled(ring) && !atomic_flag_test_and_set_explicit(&serving, memory_order_seq_cst)) {
		serve(ring);
		worked = true;
		atomic_flag_clear_explicit(&serving, memory_order_seq_cst);
	}
	return worked;
}
