#include "errors/handler.h"

#include "errors/z_calls.h"

struct errhandler {
	struct errhandler *next; // next in the free list
	int kind;                // kind of objects that it can be attached to
	uint64_t refs;           // number of objects and handles that refer to it
	uintptr_t function;      // the application's function
};

static struct gompi_objects errhandlers = GOMPI_OBJECTS(GOMPI_KIND_ERRHANDLER, struct errhandler);

static struct errhandler *errhandler_at(uintptr_t h) { return gompi_table_get(&errhandlers.handles.table, h); }

// Acquires a reference. The caller holds the lock, as for the following functions.
static void keep_locked(uintptr_t h) {
	struct errhandler *x = errhandler_at(h);
	if (x != NULL)
		x->refs++;
}

// Releases a reference. Inline, because a benchmark counts the instructions of MPI_Errhandler_free.
static inline void leave_locked(struct gompi_table_entry *e, uintptr_t h) {
	struct errhandler *x = gompi_table_in(e);
	if (__builtin_expect(--x->refs > 0, 0))
		return;
	gompi_handles_leave(&errhandlers.handles, e, h);
	gompi_objects_give(&errhandlers, x);
}

static void release_locked(uintptr_t h) {
	struct gompi_table_entry *e = gompi_table_find(&errhandlers.handles.table, h);
	if (e != NULL)
		leave_locked(e, h);
}

// Sets the error handler of an object. Returns the handle of the old one.
static uintptr_t handler_set_locked(struct gompi_raises *r, uintptr_t h) {
	const struct errhandler *x = errhandler_at(h);
	uintptr_t old = gompi_load(&r->handle);
	gompi_store(&r->handle, h);
	gompi_store(&r->function, x != NULL ? x->function : h);
	return old;
}

void gompi_errhandler_begin(struct gompi_raises *r, uintptr_t h) {
	gompi_biased_take(&errhandlers.lock);
	handler_set_locked(r, h);
	gompi_biased_give(&errhandlers.lock);
}

static int not_a_handler(struct gompi_verdict *v, uintptr_t h) {
	return gompi_error(v, MPI_ERR_ERRHANDLER,
			   h == (uintptr_t)MPI_ERRHANDLER_NULL ? "the error handler is MPI_ERRHANDLER_NULL"
							       : "%#llx is not an error handler, or has been freed",
			   (unsigned long long)h);
}

int gompi_errhandler_attach_other(struct gompi_verdict *v, int kind, struct gompi_raises *r,
				  MPI_Errhandler errhandler) {
	uintptr_t h = (uintptr_t)errhandler;
	int rc = MPI_SUCCESS;
	gompi_biased_take(&errhandlers.lock);
	const struct errhandler *x = errhandler_at(h);
	if (x == NULL && !gompi_errhandler_predefined(h)) {
		rc = not_a_handler(v, h);
	} else if (x != NULL && x->kind != kind) {
		rc = gompi_error(v, MPI_ERR_ERRHANDLER, "error handler %#llx was created for another kind of object",
				 (unsigned long long)h);
	} else {
		keep_locked(h);
		release_locked(handler_set_locked(r, h));
	}
	gompi_biased_give(&errhandlers.lock);
	return rc;
}

uintptr_t gompi_errhandler_of(struct gompi_raises *r) {
	uintptr_t h = gompi_load(&r->handle);
	if (gompi_errhandler_predefined(h))
		return h;
	gompi_biased_take(&errhandlers.lock);
	h = gompi_load(&r->handle);
	keep_locked(h);
	gompi_biased_give(&errhandlers.lock);
	return h;
}

void gompi_errhandler_release(uintptr_t h) {
	if (h == 0 || gompi_errhandler_predefined(h))
		return;
	gompi_biased_take(&errhandlers.lock);
	release_locked(h);
	gompi_biased_give(&errhandlers.lock);
}

void gompi_errhandler_leave(struct gompi_raises *r) {
	gompi_biased_take(&errhandlers.lock);
	release_locked(handler_set_locked(r, (uintptr_t)MPI_ERRORS_ARE_FATAL));
	gompi_biased_give(&errhandlers.lock);
}

// Creates an error handler. Inline, so that each caller has its constants.
__attribute__((always_inline)) static inline int create_errhandler(const char *call, int kind, uintptr_t function,
								   MPI_Errhandler *errhandler) {
	if (errhandler == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	if (function == 0)
		return gompi_refuse(MPI_ERR_ARG, call, "the error handler function is NULL", GOMPI_ON_NONE, 0);
	gompi_biased_take(&errhandlers.lock);
	struct errhandler *x = gompi_objects_take(&errhandlers);
	uintptr_t h = x == NULL ? 0 : gompi_handles_add(&errhandlers.handles, x);
	if (__builtin_expect(h == 0, 0)) {
		if (x != NULL)
			gompi_objects_give(&errhandlers, x);
		gompi_biased_give(&errhandlers.lock);
		return gompi_refuse(MPI_ERR_NO_MEM, call, "out of memory for an error handler", GOMPI_ON_NONE, 0);
	}
	*x = (struct errhandler){.kind = kind, .refs = 1, .function = function};
	gompi_biased_give(&errhandlers.lock);
	*errhandler = (MPI_Errhandler)h;
	return MPI_SUCCESS;
}

int gompi_comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler) {
	return create_errhandler("MPI_Comm_create_errhandler", GOMPI_ON_COMM, (uintptr_t)comm_errhandler_fn,
				 errhandler);
}
GOMPI_ENTRY(MPI_Comm_create_errhandler, gompi_comm_create_errhandler);

int gompi_win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler) {
	return create_errhandler("MPI_Win_create_errhandler", GOMPI_ON_WIN, (uintptr_t)win_errhandler_fn, errhandler);
}
GOMPI_ENTRY(MPI_Win_create_errhandler, gompi_win_create_errhandler);

int gompi_file_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler) {
	return create_errhandler("MPI_File_create_errhandler", GOMPI_ON_FILE, (uintptr_t)file_errhandler_fn,
				 errhandler);
}
GOMPI_ENTRY(MPI_File_create_errhandler, gompi_file_create_errhandler);

int gompi_session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
				    MPI_Errhandler *errhandler) {
	return create_errhandler("MPI_Session_create_errhandler", GOMPI_ON_SESSION, (uintptr_t)session_errhandler_fn,
				 errhandler);
}
GOMPI_ENTRY(MPI_Session_create_errhandler, gompi_session_create_errhandler);

__attribute__((cold, noinline)) static int refuse_errhandler(const char *call, uintptr_t h) {
	struct gompi_verdict v;
	not_a_handler(&v, h);
	return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

// Executes MPI_Errhandler_free for a predefined handler, which only resets the variable.
__attribute__((cold, noinline)) static int leave_predefined(MPI_Errhandler *errhandler) {
	*errhandler = MPI_ERRHANDLER_NULL;
	return MPI_SUCCESS;
}

int gompi_errhandler_free(MPI_Errhandler *errhandler) {
	static const char call[] = "MPI_Errhandler_free";
	if (errhandler == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	uintptr_t h = (uintptr_t)*errhandler;
	if (__builtin_expect(gompi_errhandler_predefined(h), 0))
		return leave_predefined(errhandler);
	gompi_biased_take(&errhandlers.lock);
	struct gompi_table_entry *e = gompi_table_find(&errhandlers.handles.table, h);
	if (__builtin_expect(e == NULL, 0)) {
		gompi_biased_give(&errhandlers.lock);
		return refuse_errhandler(call, h);
	}
	leave_locked(e, h);
	gompi_biased_give(&errhandlers.lock);
	*errhandler = MPI_ERRHANDLER_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Errhandler_free, gompi_errhandler_free);
