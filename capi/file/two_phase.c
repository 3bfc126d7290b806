// The range of the file that a collective write touches is divided into domains of equal length, which fit into the
// aggregators' buffers. Domain number i belongs to aggregator i modulo the number of aggregators. So in each round the
// aggregators write adjacent domains.
//
// An aggregator's buffer holds the bytes of a domain at their distances in the file, and a bitmap with a bit for each
// byte that a process has stored. Processes on the aggregator's node store into the buffer directly; other processes
// send their blocks in a message. The aggregator writes only bytes whose bits are set. So the bytes between the blocks
// may be written by other processes at the same time, and no lock is needed.
#include "file/two_phase.h"

#include <stdlib.h>

#include "base/go_callbacks.h"
#include "base/minmax.h"
#include "coll/z_calls.h"
#include "file/transfer.h"
#include "message/z_calls.h"
#include "win/z_calls.h"

enum {
	BUFFERS = 2, // number of buffers of each aggregator
	// domains begin at multiples of this number of bytes in the file, or of the hint striping_unit
	PAGE_BYTES = 4096,
	MAX_BUFFER_BYTES = 16 << 20,
	// Two phases copy the data once more. Independent writes are used if the mean length of the blocks is at least
	// MAX_BLOCK_BYTES, or if the data is less than 1 / MAX_SPARSITY of the range from its first to its last byte.
	MAX_BLOCK_BYTES = 32 << 10,
	MAX_SPARSITY = 4,
	TAG_SIZES = 1,  // struct sizes
	TAG_BLOCKS = 2, // array of struct gompi_run, then the data of the blocks
};

// The buffers of the two phases. Each process has two buffers with their bitmaps in a window, which alternate: while
// an aggregator writes one of them, other processes may already store into the next one.
struct gompi_file_two_phase {
	MPI_Win win;
	int64_t bytes;            // bytes of data that a buffer holds
	struct message *messages; // one for each aggregator
	bool *sends;              // by rank: this process sends its blocks to that aggregator in messages
	bool *receives;           // by rank: that process sends its blocks to this one in messages
	char *memory[];           // by rank: that process' buffers, then their bitmaps; NULL if not mapped here
};

struct sizes {
	int64_t runs, bytes; // number of runs, and bytes of their data, in the message TAG_BLOCKS that follows
};

// The data that this process sends to one aggregator on another node in a round: the messages TAG_SIZES and TAG_BLOCKS.
struct message {
	struct sizes sizes;
	MPI_Request requests[2];
	char *content; // array of runs, whose offsets count from the beginning of the domain; then their data
};

// How a collective write is executed.
struct plan {
	// Range of this process's access in the file; empty if it has no bytes.
	int64_t own_first, own_end;
	// The following fields are equal at all processes.
	int64_t first, end; // range of all accesses; `first` is rounded down to the beginning of a domain
	int64_t domain_bytes;
	int aggregators;
};

// The counts of MPIX_Gompirma_file_counts.
static struct { gompi_a64 calls, bytes, writes, written_bytes; } counts;

int MPIX_Gompirma_file_counts(struct MPIX_Gompirma_file_counts *c) {
	if (c == NULL)
		return MPI_ERR_ARG;
	*c = (struct MPIX_Gompirma_file_counts){gompi_load(&counts.calls), gompi_load(&counts.bytes),
						gompi_load(&counts.writes), gompi_load(&counts.written_bytes)};
	return MPI_SUCCESS;
}

static char *aggregator_buffer(const struct gompi_file *f, int rank, int64_t round) {
	return f->two_phase->memory[rank] + round % BUFFERS * f->two_phase->bytes;
}
static gompi_a8 *aggregator_bitmap(const struct gompi_file *f, int rank, int64_t round) {
	return (gompi_a8 *)f->two_phase->memory[rank] + (BUFFERS * 8 + round % BUFFERS) * (f->two_phase->bytes / 8);
}

// Creates the buffers when a file needs them for the first time. Returns false if a process cannot create them; then no
// process has buffers. Collective.
static bool make_buffers(struct gompi_file *f, int64_t bytes) {
	const size_t n = (size_t)f->size;
	const size_t rank_bytes = sizeof(char *) + sizeof(struct message) + 2 * sizeof(bool);
	struct gompi_file_two_phase *t = calloc(1, sizeof *t + n * rank_bytes);
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	uintptr_t win = 0;
	if (t == NULL)
		gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a collective write");
	if (gompi_file_agree(f->comm, f->rank, f->size, &v) == MPI_SUCCESS)
		v.class = gompi_go_callbacks.make_file_window((uintptr_t)f->comm, BUFFERS * (bytes + bytes / 8), &win,
							      v.text);
	if (v.class != MPI_SUCCESS) {
		free(t);
		return false;
	}
	t->win = (MPI_Win)win;
	t->bytes = bytes;
	t->messages = (struct message *)&t->memory[n];
	t->sends = (bool *)&t->messages[n];
	t->receives = t->sends + n;
	for (int i = 0; i < f->size; i++) {
		MPI_Aint size, unit;
		gompi_win_shared_query_c(t->win, i, &size, &unit, &t->memory[i]);
		t->sends[i] = t->memory[i] == NULL;
	}
	f->two_phase = t;
	memset((void *)aggregator_bitmap(f, f->rank, 0), 0, (size_t)(BUFFERS * bytes / 8));
	return gompi_alltoall_c(t->sends, 1, MPI_C_BOOL, t->receives, 1, MPI_C_BOOL, f->comm) == MPI_SUCCESS;
}

void gompi_file_two_phase_free(struct gompi_file *f) {
	if (f->two_phase == NULL)
		return;
	gompi_go_callbacks.free_file_window((uintptr_t)f->two_phase->win, (uintptr_t)f->comm);
	free(f->two_phase);
	f->two_phase = NULL;
}

// Returns true if this process can write in two phases. If so, stores in p the range of the file that it writes, and in
// *blocks the number of its blocks. `stage` is memory for packed data, or NULL.
static bool is_possible(const struct gompi_file_transfer_desc *d, const char *stage, struct plan *p, int64_t *blocks) {
	const struct gompi_file *f = d->f;
	const struct gompi_type *t = f->view.tile;
	*blocks = 0;
	if (d->b.type != NULL && stage == NULL)
		return false;
	if (d->error.class != MPI_SUCCESS || f->is_atomic || f->view.datarep != NULL || f->needs_own_writes ||
	    f->hints.value[GOMPI_HINT_CB_WRITE] == GOMPI_FILE_DISABLE)
		return false;
	if (d->bytes == 0)
		return true;
	gompi_file_range(&f->view, d->pos, d->bytes, &p->own_first, &p->own_end);
	*blocks = gompi_file_blocks(&f->view, d->bytes);
	// domain_at requires that offsets in the file increase with positions in the stream. This may not hold if
	// copies of the filetype overlap.
	return t->extent >= t->true_ub - t->true_lb;
}

int64_t gompi_file_two_phase_hint(const struct gompi_file *f, int hint) {
	const int64_t value = f->hints.value[hint];
	switch (hint) {
	case GOMPI_HINT_CB_NODES:
		return gompi_min_i64(value, f->size);
	case GOMPI_HINT_CB_BUFFER_SIZE:
		return f->two_phase != NULL
			       ? f->two_phase->bytes
			       : gompi_min_i64(gompi_max_i64(value & -PAGE_BYTES, PAGE_BYTES), MAX_BUFFER_BYTES);
	default: // GOMPI_HINT_STRIPING_UNIT
		return value > 0 && value % PAGE_BYTES == 0 &&
				       value <= gompi_file_two_phase_hint(f, GOMPI_HINT_CB_BUFFER_SIZE)
			       ? value
			       : PAGE_BYTES;
	}
}

// Decides whether and how to write in two phases. Returns the same at all processes. Collective.
static bool make_plan(const struct gompi_file_transfer_desc *d, const char *stage, struct plan *p) {
	const struct gompi_file *f = d->f;
	*p = (struct plan){.own_first = INT64_MAX};
	int64_t blocks;
	enum { POSSIBLE, FIRST, NEGATED_END, LIMIT, NODES, BYTES, UNIT, N }; // indexes in `mine` and `all`
	int64_t mine[N], all[N];
	mine[POSSIBLE] = is_possible(d, stage, p, &blocks);
	mine[FIRST] = p->own_first;
	mine[NEGATED_END] = -p->own_end;
	mine[LIMIT] = f->max_bytes;
	mine[NODES] = gompi_file_two_phase_hint(f, GOMPI_HINT_CB_NODES);
	mine[BYTES] = gompi_file_two_phase_hint(f, GOMPI_HINT_CB_BUFFER_SIZE);
	mine[UNIT] = gompi_file_two_phase_hint(f, GOMPI_HINT_STRIPING_UNIT);
	if (gompi_allreduce_c(mine, all, N, MPI_INT64_T, MPI_MIN, f->comm) != MPI_SUCCESS || !all[POSSIBLE] ||
	    -all[NEGATED_END] > all[LIMIT])
		return false;
	int64_t amount[2] = {d->bytes, blocks}, sum[2];
	if (gompi_allreduce_c(amount, sum, 2, MPI_INT64_T, MPI_SUM, f->comm) != MPI_SUCCESS)
		return false;
	const int64_t buffer_bytes = all[BYTES], unit = all[UNIT] <= buffer_bytes ? all[UNIT] : PAGE_BYTES;
	p->first = all[FIRST] / unit * unit;
	p->end = -all[NEGATED_END];
	const int64_t range = p->end - p->first;
	if (sum[0] == 0 || sum[1] <= f->size || sum[0] / sum[1] >= MAX_BLOCK_BYTES || range / MAX_SPARSITY > sum[0])
		return false;
	p->aggregators = (int)gompi_min_i64(all[NODES], (range + unit - 1) / unit);
	p->domain_bytes = gompi_min_i64(buffer_bytes / unit, range / p->aggregators / unit + 1) * unit;
	if (f->two_phase == NULL && !make_buffers(d->f, buffer_bytes)) {
		d->f->hints.value[GOMPI_HINT_CB_WRITE] = GOMPI_FILE_DISABLE;
		return false;
	}
	return true;
}

// Sets the bits of the bytes [from, from + n) of a buffer. Other processes may set other bits at the same time.
static void set_bits(gompi_a8 *bitmap, int64_t from, int64_t n) {
	int64_t end = from + n, first = from / 8, last = end / 8;
	unsigned below = 0xffu << (from % 8), above = 0xffu >> (8 - end % 8); // bits in the first and last byte
	if (first == last) {
		gompi_or(&bitmap[first], (uint8_t)(below & above));
		return;
	}
	if (from % 8 != 0)
		gompi_or(&bitmap[first++], (uint8_t)below);
	// each byte becomes 0xff, so no bit of another process is lost
	memset((void *)&bitmap[first], 0xff, (size_t)(last - first));
	if (end % 8 != 0)
		gompi_or(&bitmap[last], (uint8_t)above);
}

// Returns the number of the first bit from `from` on that equals `value`, or n. n is a multiple of 64.
static int64_t find_bit(const uint64_t *words, int64_t from, int64_t n, bool value) {
	for (int64_t i = from / 64; i < n / 64; i++) {
		uint64_t word = value ? words[i] : ~words[i];
		if (i == from / 64)
			word &= UINT64_MAX << (from % 64);
		if (word != 0)
			return i * 64 + __builtin_ctzll(word);
	}
	return n;
}

// A domain in a round: its range of the file, and the part of this process's data there.
struct domain {
	int aggregator; // rank
	int64_t first;  // in the file
	int64_t bytes;
	int64_t pos, part; // position in the view's stream and number of bytes of this process
};

static struct domain domain_at(const struct gompi_file_transfer_desc *d, const struct plan *p, int64_t round, int i) {
	struct domain x = {.aggregator = (int)((int64_t)i * d->f->size / p->aggregators),
			   .first = p->first + (round * p->aggregators + i) * p->domain_bytes};
	x.bytes = gompi_max_i64(0, gompi_min_i64(p->domain_bytes, p->end - x.first));
	if (p->own_end <= x.first || p->own_first >= x.first + x.bytes)
		return x;
	int64_t end = gompi_min_i64(gompi_file_position(&d->f->view, x.first + x.bytes), d->pos + d->bytes);
	x.pos = gompi_max_i64(gompi_file_position(&d->f->view, x.first), d->pos);
	x.part = gompi_max_i64(0, end - x.pos);
	return x;
}

// Consumes and returns the next run of blocks, of at most `limit` > 0 bytes. Its offset counts from the view's disp.
static struct gompi_run next_run(struct gompi_cursor *c, int64_t limit) {
	struct gompi_run r = gompi_cursor_run(c, limit);
	if (r.n == 0)
		r = (struct gompi_run){.n = 1, .block = gompi_cursor_next(c, limit, &r.offset), .offset = r.offset};
	return r;
}

// Stores the blocks of a run, whose offset counts from the beginning of the domain, in an aggregator's buffer.
static void store_run(const struct gompi_file *f, int aggregator, int64_t round, const struct gompi_run *r,
		      const char *data) {
	gompi_a8 *bitmap = aggregator_bitmap(f, aggregator, round);
	gompi_copy_blocks(aggregator_buffer(f, aggregator, round) + r->offset, r->stride, data, r->block, r->block,
			  r->n);
	for (int64_t i = 0; i < r->n; i++)
		set_bits(bitmap, r->offset + i * r->stride, r->block);
}

// Stores this process's part of a domain in the buffer of an aggregator on this node.
static void store(const struct gompi_file_transfer_desc *d, const struct domain *x, int64_t round, char *stage) {
	const struct gompi_file *f = d->f;
	struct gompi_cursor c;
	gompi_file_cursor(&c, &f->view, x->pos, x->part);
	for (int64_t done = 0, length; done < x->part; done += length) {
		const char *data = d->b.at + (x->pos - d->pos) + done;
		length = x->part - done;
		if (d->b.type != NULL) {
			length = gompi_min_i64(length, GOMPI_FILE_STAGE_BYTES);
			gompi_buffer_pack(&d->b, stage, x->pos - d->pos + done, length);
			data = stage;
		}
		for (int64_t n, at = 0; at < length; at += n) {
			struct gompi_run r = next_run(&c, length - at);
			n = r.n * r.block;
			r.offset += f->view.disp - x->first;
			store_run(f, x->aggregator, round, &r, data + at);
		}
	}
}

// Starts to send this process's part of a domain, which may be empty. Returns MPI_SUCCESS or an error class.
static int send_blocks(const struct gompi_file_transfer_desc *d, const struct domain *x, struct message *m) {
	const struct gompi_file *f = d->f;
	struct gompi_cursor c;
	m->requests[0] = m->requests[1] = MPI_REQUEST_NULL;
	m->content = NULL;
	m->sizes = (struct sizes){.bytes = x->part};
	for (bool counts = true;; counts = false) { // the first pass counts the runs, the second pass stores them
		struct gompi_run *runs = (struct gompi_run *)m->content;
		m->sizes.runs = 0;
		if (x->part > 0)
			gompi_file_cursor(&c, &f->view, x->pos, x->part);
		for (int64_t done = 0; done < x->part;) {
			struct gompi_run r = next_run(&c, x->part - done);
			done += r.n * r.block;
			r.offset += f->view.disp - x->first;
			if (!counts)
				runs[m->sizes.runs] = r;
			m->sizes.runs++;
		}
		if (!counts || x->part == 0)
			break;
		m->content = malloc((size_t)(m->sizes.runs * (int64_t)sizeof *runs + x->part));
		if (m->content == NULL) {
			m->sizes = (struct sizes){0};
			break;
		}
	}
	int64_t run_bytes = m->sizes.runs * (int64_t)sizeof(struct gompi_run);
	int rc =
		gompi_isend_c(&m->sizes, sizeof m->sizes, MPI_BYTE, x->aggregator, TAG_SIZES, f->comm, &m->requests[0]);
	if (rc == MPI_SUCCESS && m->content != NULL) {
		gompi_buffer_pack(&d->b, m->content + run_bytes, x->pos - d->pos, x->part);
		rc = gompi_isend_c(m->content, run_bytes + x->part, MPI_BYTE, x->aggregator, TAG_BLOCKS, f->comm,
				   &m->requests[1]);
	}
	return rc == MPI_SUCCESS && m->content == NULL && x->part > 0 ? MPI_ERR_NO_MEM : rc;
}

// Receives the part of a process on another node and stores it in the buffer of this process.
static int receive_blocks(const struct gompi_file *f, int source, int64_t round) {
	struct sizes sizes;
	int rc = gompi_recv_c(&sizes, sizeof sizes, MPI_BYTE, source, TAG_SIZES, f->comm, MPI_STATUS_IGNORE);
	if (rc != MPI_SUCCESS || sizes.runs == 0)
		return rc;
	int64_t run_bytes = sizes.runs * (int64_t)sizeof(struct gompi_run);
	char *content = malloc((size_t)(run_bytes + sizes.bytes));
	// If out of memory, receives the message into an empty buffer, so that no message is left for the next round.
	rc = gompi_recv_c(content, content == NULL ? 0 : run_bytes + sizes.bytes, MPI_BYTE, source, TAG_BLOCKS, f->comm,
			  MPI_STATUS_IGNORE);
	if (content == NULL)
		return MPI_ERR_NO_MEM;
	const char *data = content + run_bytes;
	for (int64_t i = 0; rc == MPI_SUCCESS && i < sizes.runs; i++) {
		const struct gompi_run *r = &((struct gompi_run *)content)[i];
		store_run(f, f->rank, round, r, data);
		data += r->n * r->block;
	}
	free(content);
	return rc;
}

// Writes the bytes of a domain that have been stored in this process's buffer, and clears their bits. If v has an error
// already, it only clears the bits.
static void write_domain(const struct gompi_file *f, const struct domain *x, int64_t round,
			 struct gompi_error_status *v) {
	char *buffer = aggregator_buffer(f, f->rank, round);
	uint64_t *words = (uint64_t *)aggregator_bitmap(f, f->rank, round); // the barrier has ended all other accesses
	int64_t n = (x->bytes + 63) & -64, first, end = 0, done;
	while (v->class == MPI_SUCCESS && (first = find_bit(words, end, n, true)) < n) {
		end = find_bit(words, first, n, false);
		gompi_file_transfer_bytes(f, true, x->first + first, buffer + first, end - first, &done, v);
		gompi_add(&counts.writes, 1);
		gompi_add(&counts.written_bytes, (uint64_t)done);
	}
	memset(words, 0, (size_t)(n / 8));
}

// Executes a round: stores or sends the blocks of this process, and writes the domain of this process if it is an
// aggregator. Stores the first error in v. After an error the round continues, because the other processes wait for the
// messages of this process.
static void execute_round(const struct gompi_file_transfer_desc *d, const struct plan *p, int64_t round, char *stage,
			  struct gompi_error_status *v) {
	const struct gompi_file *f = d->f;
	const struct gompi_file_two_phase *t = f->two_phase;
	struct domain own = {.aggregator = -1};
	int rc = MPI_SUCCESS, sent = 0;
	for (int i = 0; i < p->aggregators; i++) {
		// Each process begins with a different domain, so that processes seldom store to the same cache lines.
		const struct domain x = domain_at(d, p, round, (int)(((int64_t)i + f->rank) % p->aggregators));
		if (x.aggregator == f->rank)
			own = x;
		if (t->sends[x.aggregator] && x.bytes > 0) {
			int sent_rc = send_blocks(d, &x, &t->messages[sent++]);
			rc = rc == MPI_SUCCESS ? sent_rc : rc;
		} else if (x.part > 0) {
			store(d, &x, round, stage);
		}
	}
	for (int i = 0; own.bytes > 0 && i < f->size; i++) {
		if (t->receives[i]) {
			int received_rc = receive_blocks(f, i, round);
			rc = rc == MPI_SUCCESS ? received_rc : rc;
		}
	}
	for (int i = 0; i < sent; i++) {
		int wait_rc = gompi_waitall(2, t->messages[i].requests, MPI_STATUSES_IGNORE);
		rc = rc == MPI_SUCCESS ? wait_rc : rc;
		free(t->messages[i].content);
	}
	int barrier_rc = gompi_barrier(f->comm); // all blocks have been stored
	rc = rc == MPI_SUCCESS ? barrier_rc : rc;
	if (rc != MPI_SUCCESS && v->class == MPI_SUCCESS)
		gompi_set_error(v, rc, "cannot exchange the data of a collective write");
	if (own.bytes > 0)
		write_domain(f, &own, round, v);
}

bool gompi_file_write_two_phase(struct gompi_file_transfer_desc *d) {
	struct gompi_file *f = d->f;
	struct plan p;
	char *stage = d->b.type != NULL ? gompi_file_stage_acquire(f) : NULL;
	bool is_planned = make_plan(d, stage, &p);
	const int64_t round_bytes = is_planned ? p.aggregators * p.domain_bytes : 0;
	for (int64_t round = 0; is_planned && round * round_bytes < p.end - p.first; round++)
		execute_round(d, &p, round, stage, &d->error);
	gompi_file_stage_release(f, stage);
	if (is_planned && d->error.class == MPI_SUCCESS) {
		d->done_bytes = d->bytes;
		gompi_add(&counts.calls, 1);
		gompi_add(&counts.bytes, (uint64_t)d->bytes);
	}
	return is_planned;
}
