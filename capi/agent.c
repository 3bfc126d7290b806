// The agent path; see agent.h.
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

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

_Static_assert(sizeof(struct gompi_agent_ring) + (size_t)GOMPI_AGENT_CELLS * GOMPI_AGENT_CELL <= 64 << 10, "the ring fits core/shm's AgentRingSize");

// The turns of the cell for position pos. A fresh ring is all zeros, so turns are counted from the position's own: a cell's first lap is lap 0.
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
static struct gompi_agent_cell *take(struct gompi_win *w, int rank, int process, uint64_t *pos) {
	struct gompi_agent_ring *ring = ring_of(process);
	*pos = atomic_fetch_add_explicit(&ring->tail, 1, memory_order_seq_cst);
	struct turn_wait t = {cell_at(ring, *pos), lap(*pos) + TURN_FREE};
	if (__builtin_expect(!turn_reached(&t), 0)) {
		gompi_ring_doorbell(process); // the ring is full of what nobody has been woken for
		struct gompi_waiting what = {"an RMA operation", rank, w->handle};
		if (gompi_await(&ring->space, turn_reached, &t, &what) != MPI_SUCCESS)
			return NULL;
	}
	return t.cell;
}

// Publishes a filled cell and, if it wants a reply, waits for it and copies its data to result. 0 or an error class.
static int publish(struct gompi_win *w, int rank, int process, struct gompi_agent_cell *cell, uint64_t pos, void *result, uint64_t bytes) {
	bool wants_reply = cell->wants_reply;
	if (!wants_reply) {
		// Nobody is woken for it now: that is left to whoever waits for its end, gompi_agent_wait. Pairs with the acquire in serve.
		atomic_store_explicit(&cell->turn, lap(pos) + TURN_FILLED, memory_order_release);
		return MPI_SUCCESS;
	}
	atomic_exchange_explicit(&cell->turn, lap(pos) + TURN_FILLED, memory_order_seq_cst); // release, and the barrier before the look at the pollers
	gompi_ring_doorbell(process);
	struct turn_wait t = {cell, lap(pos) + TURN_ANSWERED};
	struct gompi_waiting what = {"an RMA operation", rank, w->handle};
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

// Sends one cell.
static int post(struct gompi_win *w, const struct gompi_rma *r, enum gompi_agent_kind kind, int rank, uint64_t offset, const void *origin, void *result,
		MPI_Datatype type, uint64_t count, uint64_t bytes, bool reply) {
	int process = gompi_member(w, rank)->process;
	uint64_t pos;
	gompi_a64 *numbers = sent_numbers(w);
	if (numbers == NULL)
		return MPI_ERR_NO_MEM;
	struct gompi_agent_cell *cell = take(w, rank, process, &pos);
	if (cell == NULL)
		return MPI_ERR_PROC_ABORTED;
	cell->window = (uint32_t)w->handle;
	cell->origin = gompi_node.me;
	cell->kind = (uint8_t)kind;
	cell->wants_reply = reply;
	cell->op = (uint16_t)(uintptr_t)r->op;
	cell->type = (uint16_t)(uintptr_t)type;
	cell->status = 0;
	cell->offset = offset;
	cell->count = count;
	cell->bytes = bytes;
	if (kind == AGENT_ACCUMULATE_PULL || kind == AGENT_FETCH_PULL) {
		*(struct gompi_agent_pull *)cell->data = (struct gompi_agent_pull){(uintptr_t)origin, (uintptr_t)result};
	} else if (kind == AGENT_COMPARE_AND_SWAP) {
		memcpy(cell->data, origin, bytes);
		memcpy(cell->data + bytes, r->compare, bytes);
	} else if (kind == AGENT_PUT || kind == AGENT_ACCUMULATE || (kind == AGENT_FETCH && origin != NULL)) {
		memcpy(cell->data, origin, bytes);
	}
	gompi_a64 *last = &numbers[rank];
	uint64_t sent = atomic_load_explicit(last, memory_order_relaxed);
	while (sent < pos + 1 && !atomic_compare_exchange_weak_explicit(last, &sent, pos + 1, memory_order_relaxed, memory_order_relaxed))
		;
	if (!(atomic_load_explicit(&w->flush_more, memory_order_relaxed) & FLUSH_AGENT))
		atomic_fetch_or_explicit(&w->flush_more, FLUSH_AGENT, memory_order_relaxed);
	return publish(w, rank, process, cell, pos, result, bytes);
}

// Moves bytes between this process and an address in another. Whether it could; if not, the first piece has not been moved either.
static bool move_process(int process, uint64_t address, void *local, uint64_t bytes, bool write) {
	int pid = atomic_load_explicit(&gompi_cell(process)->pid, memory_order_relaxed);
	for (uint64_t done = 0; done < bytes;) {
		struct iovec l = {(char *)local + done, bytes - done}, t = {(void *)(uintptr_t)(address + done), bytes - done};
		ssize_t k = write ? process_vm_writev(pid, &l, 1, &t, 1, 0) : process_vm_readv(pid, &l, 1, &t, 1, 0);
		if (k <= 0)
			return false;
		done += (uint64_t)k;
	}
	return true;
}

// Sends an operation in pieces that fit cells.
static int post_pieces(struct gompi_win *w, const struct gompi_rma *r, enum gompi_agent_kind kind, int rank, uint64_t offset, const char *origin, char *result,
		       MPI_Datatype type, uint64_t element, uint64_t bytes) {
	bool reply = kind == AGENT_GET || kind == AGENT_FETCH;
	uint64_t most = GOMPI_AGENT_INLINE / element * element;
	for (uint64_t done = 0; done < bytes; done += most) {
		uint64_t n = bytes - done < most ? bytes - done : most;
		int rc = post(w, r, kind, rank, offset + done, origin ? origin + done : NULL, result ? result + done : NULL, type, n / element, n, reply);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

int gompi_agent_accumulate(struct gompi_win *w, const struct gompi_rma *r, uint64_t offset, const void *origin, void *result, MPI_Datatype type,
			   uint64_t count, uint64_t bytes) {
	if (r->kind == RMA_COMPARE_AND_SWAP)
		return post(w, r, AGENT_COMPARE_AND_SWAP, r->target, offset, origin, result, type, 1, bytes, true);
	bool fetch = r->kind != RMA_ACCUMULATE;
	if (gompi_node.cma && bytes > GOMPI_AGENT_INLINE) {
		// The target reads this process' buffer itself. It answers when it has, since the buffer may be a temporary one of this call.
		int rc = post(w, r, fetch ? AGENT_FETCH_PULL : AGENT_ACCUMULATE_PULL, r->target, offset, origin, result, type, count, bytes, true);
		if (rc != MPI_ERR_UNSUPPORTED_OPERATION)
			return rc;
		gompi_node.cma = false; // the system forbids it after all, and nothing has been done
	}
	return post_pieces(w, r, fetch ? AGENT_FETCH : AGENT_ACCUMULATE, r->target, offset, origin, result, type, bytes / count, bytes);
}

enum { IOVECS = 256 };

// Moves bytes between local and the pieces of the target's memory that the cursor tells, many with one system call. Whether it could.
static bool move_pieces(int process, uint64_t address, struct gompi_cursor *cursor, char *local, int64_t bytes, bool put) {
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
		ssize_t k = put ? process_vm_writev(pid, &here, 1, there, (unsigned long)n, 0) : process_vm_readv(pid, &here, 1, there, (unsigned long)n, 0);
		if (k != total)
			return false; // also a part only, which the system does at most for addresses that are not there
		local += total;
		bytes -= total;
	}
	return true;
}

enum { SERIES = 16 };
static _Thread_local unsigned small_moves __attribute__((tls_model("initial-exec")));

int gompi_agent_move(struct gompi_win *w, int rank, uint64_t offset, int64_t count, const struct gompi_type *type, char *local, int64_t bytes, bool put) {
	struct gompi_win_member *m = gompi_member(w, rank);
	struct gompi_rma r = {.kind = put ? RMA_PUT : RMA_GET};
	enum gompi_agent_kind kind = put ? AGENT_PUT : AGENT_GET;
	bool contiguous = type->flags & GOMPI_TYPE_CONTIGUOUS;
	// The ring is quicker where somebody at the target looks at it: in active target synchronization it comes to a call of its own soon, and the data of several
	// origins is moved by it in parallel. Otherwise the data is moved without the target.
	bool polled = !(atomic_load_explicit(&w->access, memory_order_relaxed) & ACCESS_PASSIVE) ||
		      atomic_load_explicit(&gompi_cell(m->process)->pollers, memory_order_relaxed) > 0;
	if (contiguous && polled && bytes <= (int64_t)GOMPI_AGENT_INLINE)
		return post_pieces(w, &r, kind, rank, offset + (uint64_t)type->origin, put ? local : NULL, put ? NULL : local, MPI_BYTE, 1, (uint64_t)bytes);
	// A series of small ones to a process that is blocked in a call anyway: from now on its agent looks, and they take the ring.
	if (contiguous && bytes <= (int64_t)GOMPI_AGENT_INLINE && ++small_moves % SERIES == 0 &&
	    atomic_load_explicit(&gompi_cell(m->process)->blocked, memory_order_relaxed) > 0)
		gompi_ring_doorbell(m->process);
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, type, count, GOMPI_BYTES);
	if (gompi_node.cma && move_pieces(m->process, m->address + offset, &cursor, local, bytes, put))
		return MPI_SUCCESS;
	gompi_cursor_init(&cursor, type, count, GOMPI_BYTES);
	for (int64_t done = 0, n, at; done < bytes && (n = gompi_cursor_next(&cursor, bytes - done, &at)) > 0; done += n) {
		int rc = post_pieces(w, &r, kind, rank, offset + (uint64_t)at, put ? local + done : NULL, put ? NULL : local + done, MPI_BYTE, 1, (uint64_t)n);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
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

static int wait_for(struct gompi_win *w, int rank, gompi_a64 *numbers) {
	struct ack_wait a = {&gompi_my_cell()->acks[gompi_member(w, rank)->process], atomic_load_explicit(&numbers[rank], memory_order_relaxed)};
	if (acknowledged(&a))
		return MPI_SUCCESS;
	// The target may be about to look at its ring by itself, which is quicker than waking its agent. It may also wait in the same way for this process.
	for (int i = gompi_node.crowded ? ACK_POLLS : 0; i < ACK_POLLS; i++) {
		if (acknowledged(&a))
			return MPI_SUCCESS;
		if (i % 8 == 7)
			gompi_serve();
	}
	gompi_full_fence(); // what was sent is seen before the look at the target's pollers
	gompi_ring_doorbell(gompi_member(w, rank)->process);
	struct gompi_waiting what = {"an RMA operation", rank, w->handle};
	return gompi_await(&gompi_my_cell()->wait, acknowledged, &a, &what);
}

int gompi_agent_wait(struct gompi_win *w, int rank) {
	gompi_poll_flushed();
	gompi_a64 *numbers = atomic_load_explicit(&w->sent, memory_order_acquire);
	return numbers == NULL ? MPI_SUCCESS : wait_for(w, rank, numbers);
}

int gompi_agent_wait_all(struct gompi_win *w) {
	gompi_poll_flushed();
	gompi_a64 *numbers = atomic_load_explicit(&w->sent, memory_order_acquire);
	if (numbers == NULL)
		return MPI_SUCCESS;
	int rc = MPI_SUCCESS;
	for (uint32_t i = 0; i < w->n && rc == MPI_SUCCESS; i++)
		rc = wait_for(w, (int)i, numbers);
	return rc;
}

enum { SCRATCH = 128 << 10 }; // of which one half holds what came from the origin, the other what goes back

// Applies an accumulate-type operation to contiguous elements of this process' memory. An error class.
static int update(struct gompi_win *w, enum gompi_rma_kind kind, const struct gompi_agent_cell *c, char *to, const void *origin, const void *compare, void *result,
		  uint64_t count) {
	struct gompi_update u = {.w = w, .rank = w->me, .kind = kind, .op = (MPI_Op)(uintptr_t)c->op, .element = (MPI_Datatype)(uintptr_t)c->type,
				 .compare = compare};
	int rc = gompi_update_begin(&u, count, to);
	if (rc != MPI_SUCCESS)
		return rc;
	gompi_update(&u, to, origin, result, count);
	gompi_update_end(&u);
	return MPI_SUCCESS;
}

// Applies an operation whose data stays with the origin, in pieces that fit the cache. An error class.
static int apply_pulled(struct gompi_win *w, const struct gompi_agent_cell *c, char *to, bool fetch) {
	static _Alignas(64) char scratch[SCRATCH]; // one thread serves at a time
	struct gompi_agent_pull from = *(const struct gompi_agent_pull *)c->data;
	uint64_t element = c->bytes / c->count, most = SCRATCH / 2 / element * element;
	for (uint64_t done = 0; done < c->bytes; done += most) {
		uint64_t n = c->bytes - done < most ? c->bytes - done : most;
		if (from.origin != 0 && !move_process(c->origin, from.origin + done, scratch, n, false))
			return done == 0 ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_ERR_OTHER;
		int rc = update(w, fetch ? RMA_GET_ACCUMULATE : RMA_ACCUMULATE, c, to + done, scratch, NULL, fetch ? scratch + SCRATCH / 2 : NULL, n / element);
		if (rc != MPI_SUCCESS)
			return rc;
		if (fetch && !move_process(c->origin, from.result + done, scratch + SCRATCH / 2, n, true))
			return MPI_ERR_OTHER;
	}
	return MPI_SUCCESS;
}

// Applies one cell. What it says is checked again: another process wrote it.
static int apply(struct gompi_agent_cell *c) {
	struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)c->window);
	if (w == NULL)
		return MPI_ERR_WIN;
	char *to;
	if (c->count == 0 || c->count > c->bytes)
		return MPI_ERR_INTERN;
	uint64_t reach = c->bytes; // of the window's memory; the gap behind the data of the last element need not be there
	if (c->kind != AGENT_PUT && c->kind != AGENT_GET) {
		const struct gompi_type *type = gompi_type_get((MPI_Datatype)(uintptr_t)c->type);
		if (type == NULL || c->type >= GOMPI_PREDEFINED || c->count * (uint64_t)type->extent != c->bytes)
			return MPI_ERR_TYPE;
		if (c->kind != AGENT_COMPARE_AND_SWAP && gompi_op_kernel((MPI_Op)(uintptr_t)c->op, (MPI_Datatype)(uintptr_t)c->type) == NULL)
			return MPI_ERR_OP;
		reach -= (uint64_t)(type->extent - type->true_ub);
	}
	if (w->attached != NULL) {
		if (c->offset + reach < c->offset || gompi_dynamic_find(w, w->me, c->offset, c->offset + reach, &to) != MPI_SUCCESS)
			return MPI_ERR_RMA_RANGE;
	} else {
		if (c->offset > (uint64_t)w->size || reach > (uint64_t)w->size - c->offset)
			return MPI_ERR_RMA_RANGE;
		to = (char *)w->base + c->offset;
	}
	bool inlined = c->kind != AGENT_ACCUMULATE_PULL && c->kind != AGENT_FETCH_PULL;
	if (inlined && c->bytes * (c->kind == AGENT_COMPARE_AND_SWAP ? 2 : 1) > GOMPI_AGENT_INLINE)
		return MPI_ERR_INTERN;
	_Alignas(16) char result[GOMPI_AGENT_INLINE];
	int rc = MPI_SUCCESS;
	switch (c->kind) {
	case AGENT_PUT:
		memcpy(to, c->data, c->bytes);
		return MPI_SUCCESS;
	case AGENT_GET:
		memcpy(c->data, to, c->bytes);
		return MPI_SUCCESS;
	case AGENT_ACCUMULATE:
		return update(w, RMA_ACCUMULATE, c, to, c->data, NULL, NULL, c->count);
	case AGENT_FETCH:
		rc = update(w, RMA_GET_ACCUMULATE, c, to, c->data, NULL, result, c->count);
		break;
	case AGENT_COMPARE_AND_SWAP:
		rc = update(w, RMA_COMPARE_AND_SWAP, c, to, c->data, c->data + c->bytes, result, 1);
		break;
	case AGENT_ACCUMULATE_PULL:
	case AGENT_FETCH_PULL:
		return apply_pulled(w, c, to, c->kind == AGENT_FETCH_PULL);
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
