/* Proves: on one window kind every operation gives the standard's result, as a call without and with _c, under every
 *   synchronization. Every class of datatypes is used at the target, at the origin and on both sides. The elements of
 *   the datatype get the right values, and fetching calls return the old values. No other byte changes at the target or
 *   in the origin's buffers. operations.h gives the reason for each combination that MPI does not permit. Runs with a
 *   few elements, and with enough elements for the code for bulk data. MPI-5.0 12.3, 12.5
 * np: 3
 * args: allocate shared noncontig malloc stack static alloc_mem dynamic_malloc dynamic_alloc_mem dynamic_window subcomm
 * ref: none (needs a window kind as its argument; Open MPI 4 lacks the _c forms)
 * timeout: 120
 *
 * "matrix KIND" tests one kind. "matrix KIND cells" also prints one line for each cell, a combination of
 * synchronization, operation and datatype class. "matrix axes" prints the axes of the matrix. The program in
 * tests/go/matrix makes tables from this output (make matrix):
 *     axis op|type|sync|kind NAME       reason LETTER TEXT
 *     note TEXT                         cell KIND SYNC OP TYPE ok|FAIL|LETTER
 */
#include "kinds.h"
#include "operations.h"

#ifndef MATRIX_PATH
#define MATRIX_PATH "" /* printed after the kind's name; ring.c and inplace.c define other texts */
#endif

enum { AT_TARGET, AT_ORIGIN, AT_BOTH, PLACES }; /* the side with the class's datatype; the other side is contiguous */

static const char *const place_name[PLACES] = {"at the target", "at the origin", "at both"};

struct element {
	_Alignas(16) char bytes[32];
};

static int errors[MATRIX_SYNCS][OPERATIONS][CLASSES_MOST];
static int slice_sync;
static const char *slice_kind;
static char buffers[2][RANKS_MOST][AREA], expected[AREA]; /* [0] origin buffers, [1] result buffers, one per target */

/* The current run of a cell: an operation with a class of datatypes. */
static struct run {
	const struct operation *o;
	const struct class *c;
	int large, place, n;
	size_t area; /* number of bytes used of each buffer, and of each origin's part of the window */
	struct side mine, theirs;
} r;

/* Returns the value of element k, which differs for each rank, peer (`other`) and role (`what`). Roles: 0 old value at
 * the target, 1 value at the origin, 2 value to compare with. */
static struct element value(int what, int rank, int other, int k) {
	uint64_t state = (uint64_t)what << 48 | (uint64_t)rank << 32 | (uint64_t)other << 16 | (uint64_t)k;
	struct element e = {{0}};
	if (what == 2 && other % 2 == 0)
		return value(0, rank, other, k); /* equals the old value: the swap takes place */
	r.c->leaf->set(e.bytes, check_random(&state));
	return e;
}

/* Fills an area with 0x80 | (i * 7 + salt * 29) as byte i. */
static void background(char *area, int salt) {
	static char pattern[256 + AREA]; /* its byte i is 0x80 | i * 7 */
	if (pattern[0] == 0)
		for (size_t i = 0; i < sizeof pattern; i++)
			pattern[i] = (char)(0x80 | i * 7);
	memcpy(area, pattern + (uint8_t)(salt * 29 * 183), r.area); /* 183 * 7 is 1 modulo 256 */
}

static void store(char *area, MPI_Aint at, struct element e) { memcpy(area + BEFORE + at, e.bytes, r.c->data); }

/* Checks that `area` equals `expected`. Compares elements by value, because a long double has padding bytes. */
static void check_area(const char *area, const struct side *side, const char *what, int other) {
	if (memcmp(area, expected, r.area) == 0)
		return;
	char is[AREA];
	memcpy(is, area, r.area);
	for (int k = 0; k < r.n; k++) {
		struct element a = {{0}}, b = {{0}};
		memcpy(a.bytes, is + BEFORE + side_at(side, k), r.c->data);
		memcpy(b.bytes, expected + BEFORE + side_at(side, k), r.c->data);
		CHECK(r.c->leaf->equal(a.bytes, b.bytes),
		      "%s, %s, %s%s, %d x %s %s: %s of rank %d: element %d is %s, not %s", slice_kind,
		      matrix_sync(slice_sync), r.o->name, r.large ? " (_c)" : "", r.n / r.c->n, r.c->name,
		      place_name[r.place], what, other, k, types_show(r.c->leaf, a.bytes),
		      types_show(r.c->leaf, b.bytes));
		memcpy(is + BEFORE + side_at(side, k), expected + BEFORE + side_at(side, k), r.c->data);
	}
	for (size_t i = 0; i < r.area; i++)
		if (is[i] != expected[i]) {
			CHECK(0,
			      "%s, %s, %s%s, %d x %s %s: %s of rank %d: byte %td is no part of it and changed from "
			      "%02x to %02x",
			      slice_kind, matrix_sync(slice_sync), r.o->name, r.large ? " (_c)" : "", r.n / r.c->n,
			      r.c->name, place_name[r.place], what, other, (ptrdiff_t)i - BEFORE,
			      (unsigned char)expected[i], (unsigned char)is[i]);
			return;
		}
}

/* Checks that the result buffer for target t has the target's old values, and that no other byte changed. */
static void check_result(struct window *w, int t) {
	background(expected, 100 + t);
	for (int k = 0; operation_fetches(r.o) && k < r.n; k++)
		store(expected, side_at(&r.mine, k), value(0, t, w->rank, k));
	check_area(buffers[1][t], &r.mine, "result", t);
}

/* Checks origin o's part of this rank's window: it must have the old values, changed by o's operation. */
static void check_target(struct window *w, int o) {
	background(expected, o);
	int op = operation_op(r.o, r.c);
	for (int k = 0; k < r.n; k++) {
		struct element now = value(0, w->rank, o, k), in = value(1, o, w->rank, k),
			       compare = value(2, w->rank, o, k);
		if (r.o->call == CALL_COMPARE_AND_SWAP && !r.c->leaf->equal(now.bytes, compare.bytes))
			;
		else if (op != OP_NO_OP)
			r.c->leaf->apply(op, now.bytes, in.bytes);
		store(expected, side_at(&r.theirs, k), now);
	}
	check_area((char *)w->mem + (size_t)o * AREA, &r.theirs, "window, area", o);
}

static void check_origin(int me, int t) {
	background(expected, 50 + t);
	for (int k = 0; k < r.n; k++)
		store(expected, side_at(&r.mine, k), value(1, me, t, k));
	check_area(buffers[0][t], &r.mine, "origin buffer", t);
}

static void prepare(struct window *w) {
	for (int p = 0; p < w->n; p++) {
		char *area = (char *)w->mem + (size_t)p * AREA;
		background(area, p);
		background(buffers[0][p], 50 + p);
		background(buffers[1][p], 100 + p);
		for (int k = 0; k < r.n; k++) {
			store(area, side_at(&r.theirs, k), value(0, w->rank, p, k));
			store(buffers[0][p], side_at(&r.mine, k), value(1, w->rank, p, k));
		}
	}
}

static void run_once(struct window *w) {
	int sync = slice_sync == SYNC_REQUESTS ? SYNC_LOCK_ALL : slice_sync;
	int reusable = epoch_reusable(sync) || slice_sync == SYNC_REQUESTS;
	MPI_Op op = op_handle(operation_op(r.o, r.c));
	MPI_Request requests[RANKS_MOST];
	struct element compare[RANKS_MOST];
	for (int i = 0; i < w->n; i++)
		requests[i] = MPI_REQUEST_NULL;
	prepare(w);
	epoch_open(sync, w);
	for (int i = 0; i < w->n; i++) {
		int t = (w->rank + i) % w->n;
		compare[t] = value(2, t, w->rank, 0);
		epoch_target(sync, w, t);
		CHECK_OK(operation_issue(r.o, r.large, op, r.mine, r.theirs, buffers[0][t] + BEFORE, compare[t].bytes,
					 buffers[1][t] + BEFORE, t, kinds_disp(w, t, (MPI_Aint)w->rank * AREA + BEFORE),
					 w->win, &requests[t]));
		if (slice_sync == SYNC_REQUESTS)
			CHECK_OK(MPI_Wait(&requests[t], MPI_STATUS_IGNORE));
		epoch_target_done(sync, w, t);
		if (reusable) {
			CHECK_OK(MPI_Wait(&requests[t], MPI_STATUS_IGNORE));
			check_origin(w->rank, t);
			check_result(w, t);
			memset(buffers[0][t], 0x11, r.area);
		}
	}
	epoch_close(sync, w);
	CHECK_OK(MPI_Waitall(w->n, requests, MPI_STATUSES_IGNORE));
	for (int p = 0; p < w->n; p++) {
		check_target(w, p);
		if (!reusable) {
			check_origin(w->rank, p);
			check_result(w, p);
		}
	}
}

static void run_as(struct window *w, const struct operation *o, const struct class *c, int large, int place,
		   int copies) {
	struct side dense = {c->leaf->handle, copies * c->n, c, 1}, layout = {c->type, copies, c, 0};
	r = (struct run){.o = o, .c = c, .large = large, .place = place, .n = copies * c->n};
	r.mine = place == AT_TARGET ? dense : layout;
	r.theirs = place == AT_ORIGIN ? dense : layout;
	r.area = BEFORE + (size_t)(copies * c->extent) + BEHIND;
	run_once(w);
}

/* Runs one cell: the calls without and with _c with a few elements, then one call with many. The class is the datatype
 * at the target, the origin or both; predefined or mixed types are always at both. Calls that take a single element run
 * once only. */
static void cell(struct window *w, const struct operation *o, const struct class *c) {
	static int turn;
	int first = c->derived && !c->several ? 0 : AT_BOTH;
	if (operation_single(o)) {
		run_as(w, o, c, 0, AT_BOTH, 1);
		return;
	}
	for (int large = 0; large < 2; large++)
		for (int place = first; place < PLACES; place++)
			run_as(w, o, c, large, place, c->few);
	turn++;
	run_as(w, o, c, turn & 1, first ? AT_BOTH : turn % PLACES, MANY / (int)((size_t)c->n * c->leaf->size));
}

static void slice(struct window *w) {
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	for (int o = 0; o < OPERATIONS; o++)
		for (int c = 0; c < classes_number; c++) {
			int before = check_errors;
			if (!operation_reason(operations + o, classes + c, slice_sync))
				cell(w, operations + o, classes + c);
			errors[slice_sync][o][c] = check_errors - before;
		}
}

static void print_axes(void) {
	for (int o = 0; o < OPERATIONS; o++)
		printf("axis op %s\n", operations[o].name);
	for (int c = 0; c < classes_number; c++)
		printf("axis type %s\n", classes[c].name);
	for (int s = 0; s < MATRIX_SYNCS; s++)
		printf("axis sync %s\n", matrix_sync(s));
	for (int k = 0; k < KINDS_NUMBER; k++)
		printf("axis kind %s\n", kinds[k].name);
	printf("note ok: the call and its _c form, the datatype at the target, at the origin and at both, a few "
	       "elements and %d bytes\n",
	       MANY);
	printf("note pairs have no SUM: there it is MAXLOC\n");
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		printf("reason %c %s\n", reasons[i].letter, reasons[i].text);
}

static void print_cells(int sync) {
	for (int o = 0; o < OPERATIONS; o++)
		for (int c = 0; c < classes_number; c++) {
			char letter[2] = {operation_reason(operations + o, classes + c, sync), 0};
			printf("cell %s%s %s %s %s %s\n", slice_kind, MATRIX_PATH, matrix_sync(sync),
			       operations[o].name, classes[c].name,
			       *letter              ? letter
			       : errors[sync][o][c] ? "FAIL"
						    : "ok");
		}
	fflush(stdout);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	classes_make();
	int cells = argc > 2 && strcmp(argv[2], "cells") == 0, axes = strcmp(check_arg, "axes") == 0;
	if (axes && check_rank == 0)
		print_axes();
	CHECK(check_size <= RANKS_MOST, "at most %d ranks", RANKS_MOST);
	const struct kind *kind = NULL;
	for (int k = 0; k < KINDS_NUMBER; k++)
		if (strcmp(kinds[k].name, check_arg) == 0)
			kind = kinds + k;
	CHECK(axes || kind, "no window kind is called '%s'", check_arg);
	for (int sync = 0; kind && check_size <= RANKS_MOST && sync < MATRIX_SYNCS; sync++) {
		slice_kind = kind->name;
		slice_sync = sync;
		kind->run(slice);
		MPI_Allreduce(MPI_IN_PLACE, errors[sync], OPERATIONS * CLASSES_MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (cells && check_rank == 0)
			print_cells(sync);
	}
	classes_free();
	return check_end();
}
