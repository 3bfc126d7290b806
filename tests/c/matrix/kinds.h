/* The window kinds of the matrix: those of ../windows.h and three more. These are shared windows with
 * alloc_shared_noncontig, dynamic windows over another window's memory, and windows on a smaller communicator in
 * reverse rank order.
 *
 *   kinds[k].run(body);      collective over MPI_COMM_WORLD; calls body(w) on the window's members
 *   kinds_disp(w, t, byte)   the displacement of a byte of target t's memory
 */
#ifndef MATRIX_KINDS_H
#define MATRIX_KINDS_H

#define WINDOWS_DYNAMIC
#include "../windows.h"
#include "classes.h"

enum { RANKS_MOST = 16 };

/* Returns the displacement of a byte of target t's memory. */
static inline MPI_Aint kinds_disp(const struct window *w, int t, MPI_Aint byte) {
	return window_at(w, t, byte / w->unit);
}

static inline MPI_Aint kinds_size(MPI_Comm comm) {
	int n;
	MPI_Comm_size(comm, &n);
	return (MPI_Aint)n * AREA;
}

typedef void kinds_body(struct window *w);

static void kinds_named(int kind, kinds_body *body) {
	windows_one(kind, kinds_size(MPI_COMM_WORLD), kind == KIND_STATIC ? 1 : 4, MPI_COMM_WORLD, body);
}

static void kinds_allocate(kinds_body *body) { kinds_named(KIND_ALLOCATE, body); }
static void kinds_shared(kinds_body *body) { kinds_named(KIND_SHARED, body); }
static void kinds_malloc(kinds_body *body) { kinds_named(KIND_MALLOC, body); }
static void kinds_stack(kinds_body *body) { kinds_named(KIND_STACK, body); }
static void kinds_static(kinds_body *body) { kinds_named(KIND_STATIC, body); }
static void kinds_alloc_mem(kinds_body *body) { kinds_named(KIND_ALLOC_MEM, body); }
static void kinds_dynamic_malloc(kinds_body *body) { kinds_named(KIND_DYNAMIC, body); }
static void kinds_dynamic_alloc_mem(kinds_body *body) { kinds_named(KIND_DYNAMIC_ALLOC_MEM, body); }

static void kinds_noncontig(kinds_body *body) {
	if (!windows_one_node(MPI_COMM_WORLD))
		return;
	struct window w = {.name = "noncontig",
			   .size = kinds_size(MPI_COMM_WORLD),
			   .unit = 4,
			   .comm = MPI_COMM_WORLD,
			   .rank = check_rank,
			   .n = check_size};
	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, "alloc_shared_noncontig", "true");
	MPI_Win_allocate_shared(w.size, w.unit, info, w.comm, &w.mem, &w.win);
	MPI_Info_free(&info);
	body(&w);
	MPI_Win_free(&w.win);
}

/* Runs the function `body` on a dynamic window over the memory of an allocated window. */
static void kinds_dynamic_window(kinds_body *body) {
	MPI_Aint at[RANKS_MOST];
	struct window w = {.name = "dynamic_window",
			   .size = kinds_size(MPI_COMM_WORLD),
			   .unit = 1,
			   .comm = MPI_COMM_WORLD,
			   .rank = check_rank,
			   .n = check_size,
			   .at = at};
	char *area;
	MPI_Win owner;
	MPI_Win_allocate(w.size + 2 * GUARD, 1, MPI_INFO_NULL, w.comm, &area, &owner);
	windows_set_guards(area, w.size);
	w.mem = area + GUARD;
	MPI_Win_create_dynamic(MPI_INFO_NULL, w.comm, &w.win);
	MPI_Win_attach(w.win, w.mem, w.size);
	MPI_Get_address(w.mem, &at[w.rank]);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, at, 1, MPI_AINT, w.comm);
	body(&w);
	MPI_Barrier(w.comm);
	MPI_Win_detach(w.win, w.mem);
	MPI_Win_free(&w.win);
	windows_check_guards(area, w.size, w.name);
	MPI_Win_free(&owner);
}

/* Runs the function `body` on a communicator with the ranks in reverse order, without rank 1 if there are three ranks
 * or more. The window memory comes from MPI_Alloc_mem and malloc alternately. */
static void kinds_subcomm(kinds_body *body) {
	MPI_Comm sub;
	MPI_Comm_split(MPI_COMM_WORLD, check_size > 2 && check_rank == 1 ? MPI_UNDEFINED : 0, -check_rank, &sub);
	if (sub == MPI_COMM_NULL)
		return;
	windows_one(KIND_MIXED, kinds_size(sub), 2, sub, body);
	MPI_Comm_free(&sub);
}

static const struct kind {
	const char *name;
	void (*run)(kinds_body *body);
} kinds[] = {{"allocate", kinds_allocate},
	     {"shared", kinds_shared},
	     {"noncontig", kinds_noncontig},
	     {"malloc", kinds_malloc},
	     {"stack", kinds_stack},
	     {"static", kinds_static},
	     {"alloc_mem", kinds_alloc_mem},
	     {"dynamic_malloc", kinds_dynamic_malloc},
	     {"dynamic_alloc_mem", kinds_dynamic_alloc_mem},
	     {"dynamic_window", kinds_dynamic_window},
	     {"subcomm", kinds_subcomm}};

enum { KINDS_NUMBER = sizeof kinds / sizeof *kinds };

#endif
