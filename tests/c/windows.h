/* Windows of every kind: a test body is written once and runs on each kind of window.
 *
 *   static void body(struct window *w) { ... w->win, w->mem ... }
 *   windows_each(size, unit, MPI_COMM_WORLD, body);        collective; one window of each kind after another
 *
 * If WINDOWS_DYNAMIC is defined before this file is included, the kinds include dynamic windows. The displacements of a
 * dynamic window are addresses, so such a program passes window_at(w, target, d) instead of d.
 *
 * Memory that the test passes to MPI_Win_create or MPI_Win_attach has guard bytes before and after it. They are checked
 * after the window is freed.
 */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "check.h"

enum {
	KIND_MALLOC,            /* MPI_Win_create over memory of malloc */
	KIND_STATIC,            /* MPI_Win_create over a static array */
	KIND_STACK,             /* MPI_Win_create over an automatic array */
	KIND_ALLOC_MEM,         /* MPI_Win_create over memory of MPI_Alloc_mem */
	KIND_MIXED,             /* MPI_Win_create; memory of MPI_Alloc_mem on even ranks, of malloc on odd ranks */
	KIND_ALLOCATE,          /* MPI_Win_allocate */
	KIND_SHARED,            /* MPI_Win_allocate_shared; skipped if the communicator spans nodes */
	KIND_DYNAMIC,           /* MPI_Win_create_dynamic with memory of malloc attached; needs WINDOWS_DYNAMIC */
	KIND_DYNAMIC_ALLOC_MEM, /* MPI_Win_create_dynamic with memory of MPI_Alloc_mem attached */
#ifdef WINDOWS_DYNAMIC
	KINDS
#else
	KINDS = KIND_DYNAMIC
#endif
};

static const char *const kind_name[] = {"malloc",   "static", "stack",   "alloc_mem",        "mixed",
					"allocate", "shared", "dynamic", "dynamic_alloc_mem"};

struct window {
	MPI_Win win;
	int kind;
	const char *name; /* name of the kind */
	void *mem;        /* this rank's window memory */
	MPI_Aint size;    /* size of mem in bytes */
	int unit;         /* the unit that the program requested; MPI's unit of a dynamic window is 1 */
	MPI_Comm comm;
	int rank, n;  /* rank in comm; size of comm */
	MPI_Aint *at; /* dynamic windows only: the address of each rank's memory */
};

/* Returns the displacement of element d of target's memory. */
static inline MPI_Aint window_at(const struct window *w, int target, MPI_Aint d) {
	return w->at ? MPI_Aint_add(w->at[target], d * w->unit) : d;
}

/* Sets this rank's memory to 0. Collective: after the call all ranks may access the memory of all ranks. */
static inline void window_zero(struct window *w) {
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	memset(w->mem, 0, w->size);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
}

enum {
	GUARD = 64,
	STATIC_MAX = 1 << 20
}; /* GUARD: bytes before and after the memory; STATIC_MAX: bytes of a static or automatic array */

/* The info argument for creating windows; MPI_INFO_NULL unless the program sets it. */
static MPI_Info windows_info;

static char windows_static[STATIC_MAX + 2 * GUARD] __attribute__((aligned(64)));

static inline void windows_set_guards(char *area, MPI_Aint size) {
	memset(area, 0xa5, GUARD);
	memset(area + GUARD + size, 0x5a, GUARD);
}

static inline void windows_check_guards(const char *area, MPI_Aint size, const char *name) {
	for (int i = 0; i < GUARD; i++) {
		CHECK((unsigned char)area[i] == 0xa5, "%s window: byte %d before it was overwritten", name, GUARD - i);
		CHECK((unsigned char)area[GUARD + size + i] == 0x5a, "%s window: byte %d behind it was overwritten",
		      name, i);
	}
}

/* Creates a window over the memory `area`, which includes the guard bytes, or lets MPI allocate the memory if `area` is
 * NULL. Runs the function `body`, frees the window, and checks the guard bytes. */
static inline void windows_over(struct window *w, char *area, void (*body)(struct window *w)) {
	check_kind_tried = 1;
	if (w->kind >= KIND_DYNAMIC) {
		windows_set_guards(area, w->size);
		w->mem = area + GUARD;
		MPI_Win_create_dynamic(windows_info, w->comm, &w->win);
		MPI_Win_attach(w->win, w->mem, w->size);
		w->at = malloc(w->n * sizeof *w->at);
		MPI_Get_address(w->mem, &w->at[w->rank]);
		MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, w->at, 1, MPI_AINT, w->comm);
	} else if (area) {
		windows_set_guards(area, w->size);
		w->mem = area + GUARD;
		MPI_Win_create(w->mem, w->size, w->unit, windows_info, w->comm, &w->win);
	} else if (w->kind == KIND_ALLOCATE) {
		MPI_Win_allocate(w->size, w->unit, windows_info, w->comm, &w->mem, &w->win);
	} else {
		MPI_Win_allocate_shared(w->size, w->unit, windows_info, w->comm, &w->mem, &w->win);
	}
	body(w);
	if (w->at) {
		MPI_Barrier(w->comm); /* detach only when no rank accesses the memory any more */
		MPI_Win_detach(w->win, w->mem);
	}
	MPI_Win_free(&w->win);
	free(w->at);
	if (area)
		windows_check_guards(area, w->size, w->name);
}

/* Returns true if all ranks of `comm` are on one node. */
static inline int windows_one_node(MPI_Comm comm) {
	MPI_Comm node;
	int n, all;
	MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &n);
	MPI_Comm_free(&node);
	MPI_Comm_size(comm, &all);
	return n == all;
}

static inline void windows_on_stack(struct window *w, void (*body)(struct window *w)) {
	char area[w->size + 2 * GUARD] __attribute__((aligned(64)));
	windows_over(w, area, body);
}

/* Runs the function `body` on one window of the kind, with `size` bytes and this displacement unit on every rank of
 * `comm`. Does nothing if the argument kind=NAME selects another kind, or if the kind is not possible on `comm`. */
static inline void windows_one(int kind, MPI_Aint size, int unit, MPI_Comm comm, void (*body)(struct window *w)) {
	if (!windows_info)
		windows_info = MPI_INFO_NULL;
	struct window w = {.kind = kind, .name = kind_name[kind], .size = size, .unit = unit, .comm = comm};
	MPI_Comm_rank(comm, &w.rank);
	MPI_Comm_size(comm, &w.n);
	if (check_kind && strcmp(check_kind, w.name) != 0)
		return;
	if ((kind == KIND_STATIC || kind == KIND_STACK) && size > STATIC_MAX)
		return;
	char *area = NULL;
	switch (kind) {
	case KIND_STATIC:
		windows_over(&w, windows_static, body);
		return;
	case KIND_STACK:
		windows_on_stack(&w, body);
		return;
	case KIND_MALLOC:
	case KIND_ALLOC_MEM:
	case KIND_MIXED:
	case KIND_DYNAMIC:
	case KIND_DYNAMIC_ALLOC_MEM:
		if (kind == KIND_MALLOC || kind == KIND_DYNAMIC || (kind == KIND_MIXED && w.rank % 2 == 1)) {
			area = malloc(size + 2 * GUARD);
			windows_over(&w, area, body);
			free(area);
		} else {
			MPI_Alloc_mem(size + 2 * GUARD, MPI_INFO_NULL, &area);
			windows_over(&w, area, body);
			MPI_Free_mem(area);
		}
		return;
	case KIND_SHARED:
		if (!windows_one_node(comm))
			return;
	}
	windows_over(&w, NULL, body);
}

/* Runs the function `body` on one window of each kind, one after another. */
static inline void windows_each(MPI_Aint size, int unit, MPI_Comm comm, void (*body)(struct window *w)) {
	for (int kind = 0; kind < KINDS; kind++)
		windows_one(kind, size, unit, comm, body);
}

#endif
