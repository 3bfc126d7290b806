/* Calls of every function of the ABI with arguments that look right and are wrong: NULL, handles of another kind,
 * freed, random ones, counts, ranks, tags and displacements out of range, types without commit. All ranks of a job make
 * the same calls, drawn from one seed, one after the other (together.c); no call may crash, hang, change its outputs
 * when it fails, or succeed where an argument is certainly wrong.
 *
 *   z_calls.c     the functions, their parameters by semantic kind, generated from the table in core/abi
 *   main.c        phases of a job; one call after the other
 *   draw.c        the function, and which of its arguments are to be wrong
 *   handle.c      handles
 *   number.c      numbers: counts, ranks, tags, ...
 *   memory.c      what addresses point to: buffers, arrays, strings, outputs with guards
 *   hold.c        right calls that must not be made, such as a receive without a sender, and why
 *   judge.c       what a call must have done; findings
 *   pool.c        the objects that calls are made with; new ones, freed ones
 *   request.c     requests and messages that must be brought to an end
 *   window.c      the epochs of windows
 *   outside.c     calls before MPI_Init and after MPI_Finalize
 *   together.c    what the ranks and whoever started them share
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <limits.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "z_kinds.h"

/* ---- the functions (z_calls.c) */

union value {
	int64_t number;
	void *pointer;
	void (*function)(void);
};

enum direction { IN, OUT, INOUT };

/* Lengths of arrays that are not the value of another parameter: no array, a constant, something else. */
enum { SCALAR = -1, FIXED = -2, OTHER = -3 };

struct param {
	const char *name;
	enum kind kind;
	enum direction dir;
	int pointer;     /* passed as an address */
	int width;       /* of an element in bytes */
	int length;      /* index of the parameter that says how many elements there are, or SCALAR, FIXED, OTHER */
	int64_t fixed;   /* that many */
	int count, type; /* of a buffer: the parameters with its count or size and its datatype, -1: none */
	const char *callback; /* C type of a function */
};

enum { MISSING = 1, NO_CODE = 2 }; /* the library does not have it; it does not return an error code */

struct function {
	const char *name;
	int64_t (*call)(const union value *arguments);
	const struct param *params;
	int n, chapter, flags;
};

extern const struct function functions[FUNCTIONS];

/* ---- one call (draw.c, number.c, memory.c) */

enum { MOST = 16 }; /* parameters of a function, at least */

enum truth {
	RIGHT,
	OPEN,   /* nobody can say */
	UNSAFE, /* the call may read or write memory that is not there if nothing else is wrong */
	WRONG   /* the call must fail */
};

/* The objects of MPI that are in the pool. */
enum thing {
	T_COMM,
	T_GROUP,
	T_TYPE,
	T_OP,
	T_WIN,
	T_REQUEST,
	T_MESSAGE,
	T_INFO,
	T_ERRHANDLER,
	T_COMM_KEY,
	T_TYPE_KEY,
	T_WIN_KEY,
	T_MEMORY,
	THINGS,
	T_FILE = THINGS,
	T_SESSION,
	T_TOOL,
	NOTHING
};

struct argument {
	union value value;
	enum truth truth;
	int here;       /* wrong at this rank only */
	int classes[6]; /* error classes that tell so, then 0; none: any will do */
	struct object *object;
	int64_t n;   /* elements of an array */
	char *cell;  /* what the address points to: a cell of memory.c */
	size_t room; /* bytes of it that the call may write */
	const char *note;
};

struct call {
	uint64_t number;
	const struct function *f;
	int index;
	struct argument arg[MOST];
	uint64_t rng;
	int64_t count;                     /* the count of a call whose arguments are right */
	struct object *comm, *group, *win; /* the first of the arguments, if it is right */
	int wrong;                         /* arguments that are, at all ranks */
	int wrong_here;
	int state_error; /* the call is wrong in this state of an object; with one of these classes */
	int state_classes[6];
	const char *state_note;
	const char *state_hold; /* the call must not be made in this state */
	const char *held;       /* why it must not be made */
};

void draw_call(struct call *c, uint64_t number, int only); /* only: of this function, -1: of any */
void describe_call(const struct call *c, char *text, size_t size);
extern char described[4080]; /* the call that is being made */

uint64_t mix(uint64_t a, uint64_t b);
uint64_t next(struct call *c);
int below(struct call *c, int n);
int is_called(const struct call *c, const char *pattern); /* of fnmatch */
int is_named(const struct call *c, int i, const char *name);
int find_param(const struct call *c, const char *name); /* -1: there is none */

void set(struct call *c, int i, enum truth truth, const char *note, ...); /* classes, ended by 0 */
void draw_number(struct call *c, int i, enum truth want);
int64_t draw_element(struct call *c, int i, enum truth want, int64_t k, int64_t n);
int64_t wrong_random(struct call *c, int width);
int64_t elements_of(struct call *c, int i);

void memory_open(void);
void draw_memory(struct call *c, int i, enum truth want);
void *cell_of(int i);
void handle_cell(struct call *c, int i, int64_t n);
void memory_check(const struct call *c, int failed, char *text, size_t size);
void memory_last(struct call *c);
void *lasting(uint64_t number, size_t size);

/* Draws a handle of thing and returns it. */
void *draw_handle(struct call *c, int i, enum thing thing, enum truth want);

const char *held(struct call *c);

/* ---- objects (pool.c) */

enum { SLOTS = 16 };

enum topology { NO_TOPOLOGY, CART, GRAPH, DIST };
enum access { NONE, FENCE, START, LOCK, LOCK_ALL };

struct object {
	enum thing thing;
	int slot;
	int alive, agreed; /* here, on all ranks */
	int fixed;         /* predefined: never freed */
	union value value;
	int maker; /* index of the function that made it, -1 */
	int size, rank, inter,
		lone; /* communicators, groups, windows; lone: the side of an intercommunicator that has one process */
	enum topology topology;
	int ndims, indegree, outdegree;
	int nobody;                       /* all neighbors are MPI_PROC_NULL */
	int64_t bytes, extent, low, high; /* types: size, extent, true bounds */
	int committed, usable;            /* types: usable: small */
	int flavor;                       /* windows */
	enum access access;
	int target, exposed, started, completed, broken;
	void *base;
	int64_t length, unit;
	int persistent, active, general, partitioned, collective, p2p; /* requests */
};

extern struct object pool[THINGS][SLOTS];

typedef int (*need)(const struct object *o);

void pool_open(void);
void pool_close(void);
void pool_refill(uint64_t number);
struct object *pool_pick(struct call *c, enum thing thing, need fits);
int pool_is_live(enum thing thing, const void *handle);
void *pool_freed(struct call *c, enum thing thing); /* NULL: none */
void pool_before(const struct call *c);
void pool_collect(struct call *c, int failed);
uint32_t pool_made(void);
void pool_settle(struct call *c, uint32_t made);
int thing_class(enum thing thing);
void *thing_null(enum thing thing);
enum thing thing_of(const struct call *c, int i); /* of a parameter */
int is_predefined(enum thing thing, const void *handle);

/* ---- requests and messages (request.c) */

void linger(const struct object *o);
void linger_on(void);
void drain(void);
int may_wait(const struct call *c);
extern int quiet; /* no messages are on their way */

/* ---- windows (window.c) */

need window_need(const struct call *c); /* windows in an epoch that the call is meant for */
void window_learn(struct object *o);
void window_state(struct call *c); /* is the call right in this epoch? */
void window_after(struct call *c);
void window_move(struct object *o, uint64_t random);
void window_close(struct object *o);
uint64_t window_digest(void);

/* ---- judge.c */

enum handler { RETURNS, LEAVES, MENDS }; /* MPI_ERRORS_RETURN, a user's handler, one that sets MPI_SUCCESS */
extern enum handler handler;
extern int raised; /* error handlers called since the last call began */
extern int raised_code;

void judge_open(void);
int has_failed(const struct call *c, int64_t result);
void judge(struct call *c, int64_t result);
void handle_errors(enum thing thing, void *object); /* gives an object the error handler of this job */
void upkeep(int code, const char *what);
void finding(const struct call *c, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
int is_own_handler(const void *errhandler);
void ignore_errors(int on); /* what follows may fail */

/* ---- outside.c */

int outside(const char *phase, const char *function, uint64_t calls);
extern int running; /* MPI is */

/* ---- together.c */

enum stage { IDLE, CALLING, KEEPING, LEADERS, ENDED };

extern int ranks, me, trace;
extern uint64_t seed;

void together_open(const char *name, int rank, int n);
void tell(enum stage stage, const struct call *c);
void tell_upkeep(const char *what);
void meet(void);
uint32_t agreed_made(void);
uint32_t
unequal(uint64_t word,
	const struct object
		*window); /* collective: where ranks say different words, the slots of the windows that they name */
int none(int word);       /* collective: 0 at all ranks? */
void count_call(const struct call *c);
void count_done(const struct call *c); /* without error */

#endif
