/* Fuzzes every function of the ABI with wrong arguments: NULL; handles of another kind, freed handles and random
 * handles; counts, ranks, tags and displacements out of range; uncommitted types. All ranks of a job make the same
 * sequence of calls in lockstep, drawn from one seed (lockstep.c). No call may crash, hang, change its outputs when it
 * fails, or succeed with an argument that is certainly wrong.
 *
 *   generated/    the functions and the semantic kinds of their parameters, generated from the table in core/abi
 *   main.c        phases of a job; the loop over the calls
 *   draw.c        chooses the function and which of its arguments are wrong
 *   handle.c      handles
 *   number.c      numbers: counts, ranks, tags, ...
 *   memory.c      the memory that addresses point to: buffers, arrays, strings, guarded outputs
 *   would_block.c valid calls that would block forever, such as a receive without a sender
 *   verify.c      checks the effects of a call and reports findings
 *   pool.c        the objects that calls use; new and freed objects
 *   request.c     completes pending requests and messages
 *   window.c      the epochs of windows
 *   uninitialized.c  calls before MPI_Init and after MPI_Finalize
 *   lockstep.c    the file that the ranks share with their launcher */
#ifndef FUZZ_H
#define FUZZ_H

#include <limits.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/kinds.h"

/* ---- functions (generated/calls.c) */

union value {
	int64_t number;
	void *pointer;
	void (*function)(void);
};

enum direction { IN, OUT, INOUT };

/* Special values of param.length. SCALAR: the parameter is no array. FIXED: its length is constant. OTHER: its length
 * depends on more than one parameter. */
enum { SCALAR = -1, FIXED = -2, OTHER = -3 };

struct param {
	const char *name;
	enum kind kind;
	enum direction dir;
	int pointer;          /* true if the argument is an address */
	int width;            /* size of an element in bytes */
	int length;           /* index of the parameter with the number of elements, or SCALAR, FIXED or OTHER */
	int64_t fixed;        /* the number of elements if length is FIXED */
	int count, type;      /* indices of a buffer's count (or size) and datatype parameters; -1 if missing */
	const char *callback; /* C type, if the argument is a callback function */
};

enum { MISSING = 1, NO_CODE = 2 }; /* flags. MISSING: gompirma lacks the function; NO_CODE: it returns no error code */

struct function {
	const char *name;
	int64_t (*call)(const union value *arguments);
	const struct param *params;
	int n, chapter, flags;
};

extern const struct function functions[FUNCTIONS];

/* ---- a call (draw.c, number.c, memory.c) */

enum { MAX_PARAMS = 16 }; /* no function has more parameters */

enum truth {
	RIGHT,
	OPEN,   /* the test cannot decide whether the argument is right */
	UNSAFE, /* the call may access invalid memory if no other argument makes it fail */
	WRONG   /* the call must fail */
};

/* The kinds of MPI objects in the pool. */
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
	int here;       /* true if the argument is wrong at this rank only */
	int classes[6]; /* the expected error classes, terminated by 0; if empty, any class */
	struct object *object;
	int64_t n;       /* number of elements of an array */
	char *cell;      /* the memory that the argument points to: a cell of memory.c */
	size_t capacity; /* number of bytes of the cell that the call may write */
	const char *note;
};

struct call {
	uint64_t number;
	const struct function *f;
	int index;
	struct argument arg[MAX_PARAMS];
	uint64_t rng;
	int64_t count;                     /* the common count of all buffers whose count is right */
	struct object *comm, *group, *win; /* the first communicator, group and window argument, if it is right */
	int wrong;                         /* number of arguments wrong at all ranks; wrong_here: wrong at this rank */
	int wrong_here;
	int state_error; /* the state of an object makes the call erroneous; state_classes has the expected classes */
	int state_classes[6];
	const char *state_note;
	const char *state_hold; /* why the state of an object forbids the call, or NULL */
	const char *held;       /* the reason why this call is not made (would_block.c), or NULL */
};

void draw_call(struct call *c, uint64_t number, int only); /* only: index of the function to call, -1 for any */
void describe_call(const struct call *c, char *text, size_t size);
extern char described[4080]; /* text of the current call */

uint64_t mix(uint64_t a, uint64_t b);
uint64_t next(struct call *c);
int below(struct call *c, int n);
int is_called(const struct call *c, const char *pattern);
int is_named(const struct call *c, int i, const char *name);
int find_param(const struct call *c, const char *name); /* -1 if the function has no such parameter */

void set(struct call *c, int i, enum truth truth, const char *note, ...); /* ...: error classes, terminated by 0 */
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

/* Returns a handle for parameter i, which needs an object of kind `thing`. The argument `want` states whether the
 * handle must be right. */
void *draw_handle(struct call *c, int i, enum thing thing, enum truth want);

const char *held(struct call *c);

/* ---- objects (pool.c) */

enum { SLOTS = 16 };

enum topology { NO_TOPOLOGY, CART, GRAPH, DIST };
enum access { NONE, FENCE, START, LOCK, LOCK_ALL };

struct object {
	enum thing thing;
	int slot;
	int alive, agreed; /* alive: the object exists on this rank; agreed: on all ranks */
	int fixed;         /* true for predefined objects, which are never freed */
	union value value;
	int maker;             /* index of the function that made the object, or -1 */
	int size, rank, inter; /* for communicators, groups, windows */
	int lone;              /* the local group of an intercommunicator has one process */
	enum topology topology;
	int ndims, indegree, outdegree;
	int all_null;                     /* true if this rank has neighbors and all of them are MPI_PROC_NULL */
	int64_t bytes, extent, low, high; /* for types: size, extent, true lower and upper bound */
	int committed, usable;            /* for types; usable: small enough for the cells of memory.c */
	int flavor;                       /* this field and the next ones, up to `unit`, are properties of windows */
	enum access access;
	int target, exposed, started, completed, broken;
	void *base;
	int64_t length, unit;
	int persistent, active, general, partitioned, collective, p2p; /* properties of requests */
};

extern struct object pool[THINGS][SLOTS];

typedef int (*need)(const struct object *o);

void pool_open(void);
void pool_close(void);
void pool_refill(uint64_t number);
struct object *pool_pick(struct call *c, enum thing thing, need fits);
int pool_is_live(enum thing thing, const void *handle);
void *pool_freed(struct call *c, enum thing thing); /* NULL if none has been freed */
void pool_before(const struct call *c);
void pool_collect(struct call *c, int failed);
uint32_t pool_made(void);
void pool_settle(struct call *c, uint32_t made);
int thing_class(enum thing thing);
void *thing_null(enum thing thing);
enum thing thing_of(const struct call *c, int i); /* the kind of object that parameter i refers to */
int is_predefined(enum thing thing, const void *handle);

/* ---- requests and messages (request.c) */

void linger(const struct object *o);
void linger_on(void);
void drain(void);
int may_wait(const struct call *c);
extern int quiet; /* true if no messages are in flight */

/* ---- windows (window.c) */

need window_need(const struct call *c); /* predicate for windows whose epoch allows the call; or NULL */
void window_learn(struct object *o);
void window_state(struct call *c);
void window_after(struct call *c);
void window_move(struct object *o, uint64_t random);
void window_close(struct object *o);
uint64_t window_digest(void);

/* ---- verify.c */

/* RETURNS: MPI_ERRORS_RETURN. LEAVES: a user's handler that leaves the error code unchanged. MENDS: a user's handler
 * that sets the error code to MPI_SUCCESS. */
enum handler { RETURNS, LEAVES, MENDS };
extern enum handler handler;
extern int raised; /* number of error handler calls since the last MPI call began */
extern int raised_code;

void verify_open(void);
int has_failed(const struct call *c, int64_t result);
void verify(struct call *c, int64_t result);
void handle_errors(enum thing thing, void *object); /* sets the error handler of this job for an object */
void upkeep(int code, const char *what);
void finding(const struct call *c, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
int is_own_handler(const void *errhandler);
void ignore_errors(int on); /* if `on` is true, later calls may fail without a finding */

/* ---- uninitialized.c */

int outside(const char *phase, const char *function, uint64_t calls);
extern int running; /* true while MPI is initialized */

/* ---- lockstep.c */

enum stage { IDLE, CALLING, KEEPING, LEADERS, ENDED };

extern int ranks, me, trace;
extern uint64_t seed;

void together_open(const char *name, int rank, int n);
void record_stage(enum stage stage, const struct call *c);
void record_upkeep(const char *what);
void synchronize(void);
uint32_t agreed_made(void);
uint32_t
unequal(uint64_t word,
	const struct object *window); /* collective: the bits of the windows about whose epoch the ranks disagree */
int none(int word);                   /* collective: returns true if word is 0 on all ranks */
void count_call(const struct call *c);
void count_done(const struct call *c); /* counts a call that succeeded */

#endif
