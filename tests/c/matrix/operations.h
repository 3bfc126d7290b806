/* The operations of the matrix, each as two calls, without and with _c (MPI_Put and MPI_Put_c), and the reasons why
 * some operations cannot be combined with a synchronization or a class. */
#ifndef MATRIX_OPERATIONS_H
#define MATRIX_OPERATIONS_H

#include "../epochs.h"
#include "classes.h"

enum { CALL_PUT, CALL_GET, CALL_ACCUMULATE, CALL_GET_ACCUMULATE, CALL_FETCH_AND_OP, CALL_COMPARE_AND_SWAP };

struct operation {
	const char *name;
	int call;
	int op;
	int request; /* true for the request-based operations, MPI_R... */
};

/* The name put/put_c stands for MPI_Put and MPI_Put_c: a cell passes if both calls pass. The other names are formed in
 * the same way. */
static const struct operation operations[] = {
	{"put/put_c", CALL_PUT, OP_REPLACE, 0},
	{"get/get_c", CALL_GET, OP_NO_OP, 0},
	{"accumulate/_c:SUM", CALL_ACCUMULATE, OP_SUM, 0},
	{"accumulate/_c:REPLACE", CALL_ACCUMULATE, OP_REPLACE, 0},
	{"get_accumulate/_c:SUM", CALL_GET_ACCUMULATE, OP_SUM, 0},
	{"get_accumulate/_c:NO_OP", CALL_GET_ACCUMULATE, OP_NO_OP, 0},
	{"fetch_and_op", CALL_FETCH_AND_OP, OP_SUM, 0},
	{"compare_and_swap", CALL_COMPARE_AND_SWAP, OP_REPLACE, 0},
	{"rput/rput_c", CALL_PUT, OP_REPLACE, 1},
	{"rget/rget_c", CALL_GET, OP_NO_OP, 1},
	{"raccumulate/_c:SUM", CALL_ACCUMULATE, OP_SUM, 1},
	{"rget_accumulate/_c:SUM", CALL_GET_ACCUMULATE, OP_SUM, 1},
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

/* SYNC_REQUESTS is a synchronization in addition to those of ../epochs.h: lock_all, a wait for each operation's
 * request, unlock_all. */
enum { SYNC_REQUESTS = SYNCS, MATRIX_SYNCS };

static inline const char *matrix_sync(int sync) { return sync == SYNC_REQUESTS ? "requests" : sync_name[sync]; }

static inline int operation_single(const struct operation *o) {
	return o->call == CALL_FETCH_AND_OP || o->call == CALL_COMPARE_AND_SWAP;
}

static inline int operation_fetches(const struct operation *o) {
	return o->call != CALL_PUT && o->call != CALL_ACCUMULATE;
}

/* Returns the operation as OP_SUM, OP_MAXLOC, ... (../types.h). Uses MPI_MAXLOC for pairs, because MPI_SUM is not
 * defined for them. */
static inline int operation_op(const struct operation *o, const struct class *c) {
	return o->op == OP_SUM && c->leaf->class == CLASS_PAIR ? OP_MAXLOC : o->op;
}

static const struct {
	char letter;
	const char *text;
} reasons[] = {
	{'r', "no request: not a request-based operation"},
	{'e', "one predefined element by definition"},
	{'i', "compares integer, logical, multi-language and byte types only"},
	{'m', "accumulates take elements of one predefined type"},
};

/* Returns the letter of the reason why a cell is impossible; 0 if it is possible. */
static inline char operation_reason(const struct operation *o, const struct class *c, int sync) {
	if (!o->request && sync == SYNC_REQUESTS)
		return 'r';
	if (operation_single(o) && c->derived)
		return 'e';
	if (o->call == CALL_COMPARE_AND_SWAP &&
	    !(c->leaf->class &
	      (CLASS_INTEGER | CLASS_FORTRAN_INTEGER | CLASS_LOGICAL | CLASS_MULTI | CLASS_BYTE | CLASS_CHARACTER)))
		return 'i';
	if (c->several && o->call != CALL_PUT && o->call != CALL_GET)
		return 'm';
	return 0;
}

/* One side of an operation: a buffer of the origin, or the target. It has `count` copies of the class or, if `dense` is
 * true, `count` contiguous elements. */
struct side {
	MPI_Datatype type;
	int count;
	const struct class *class;
	int dense;
};

/* Returns the offset of element k from the buffer's address or the displacement. */
static inline MPI_Aint side_at(const struct side *s, int k) {
	return s->dense ? k * (MPI_Aint)s->class->leaf->size
			: k / s->class->n * s->class->extent + s->class->at[k % s->class->n];
}

/* Makes the call without _c, or the call with _c if `large` is true. A request-based call stores its request in
 * *request. */
static inline int operation_issue(const struct operation *o, int large, MPI_Op op, struct side mine, struct side theirs,
				  const void *origin, const void *compare, void *result, int t, MPI_Aint disp,
				  MPI_Win win, MPI_Request *request) {
	struct side none = {.type = mine.type}, *in = op == MPI_NO_OP ? &none : &mine;
	if (op == MPI_NO_OP)
		origin = NULL;
#define FORM(plain, ...) (large ? plain##_c(__VA_ARGS__) : plain(__VA_ARGS__))
	switch (o->call) {
	case CALL_PUT:
		return o->request
			       ? FORM(MPI_Rput, origin, mine.count, mine.type, t, disp, theirs.count, theirs.type, win,
				      request)
			       : FORM(MPI_Put, origin, mine.count, mine.type, t, disp, theirs.count, theirs.type, win);
	case CALL_GET:
		return o->request
			       ? FORM(MPI_Rget, result, mine.count, mine.type, t, disp, theirs.count, theirs.type, win,
				      request)
			       : FORM(MPI_Get, result, mine.count, mine.type, t, disp, theirs.count, theirs.type, win);
	case CALL_ACCUMULATE:
		return o->request ? FORM(MPI_Raccumulate, origin, mine.count, mine.type, t, disp, theirs.count,
					 theirs.type, op, win, request)
				  : FORM(MPI_Accumulate, origin, mine.count, mine.type, t, disp, theirs.count,
					 theirs.type, op, win);
	case CALL_GET_ACCUMULATE:
		return o->request ? FORM(MPI_Rget_accumulate, origin, in->count, in->type, result, mine.count,
					 mine.type, t, disp, theirs.count, theirs.type, op, win, request)
				  : FORM(MPI_Get_accumulate, origin, in->count, in->type, result, mine.count, mine.type,
					 t, disp, theirs.count, theirs.type, op, win);
	case CALL_FETCH_AND_OP:
		return MPI_Fetch_and_op(origin, result, mine.type, t, disp, op, win);
	default:
		return MPI_Compare_and_swap(origin, compare, result, mine.type, t, disp, win);
	}
#undef FORM
}

#endif
