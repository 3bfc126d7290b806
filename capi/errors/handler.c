#include "errors/handler.h"

#include "base/event.h"
#include "errors/codes.h"
#include "errors/z_calls.h"

_Static_assert((int)GOMPI_ON_ERRHANDLER == GOMPI_KIND_ERRHANDLER, "Go uses one constant for both");

struct errhandler {
	struct errhandler *next; // next in the free list
	int kind;                // kind of objects to which the handler can be attached
	uint64_t ref_count;      // number of objects and handles that refer to the handler
	uintptr_t function;      // the application's function
};

static struct gompi_object_pool errhandlers = GOMPI_OBJECT_POOL(GOMPI_KIND_ERRHANDLER, struct errhandler);

static struct errhandler *errhandler_at(uintptr_t h) { return gompi_table_get(&errhandlers.handles.table, h); }

// Acquires a reference. The caller of this and of each following _locked function holds errhandlers.lock.
static void acquire_locked(uintptr_t h) {
	struct errhandler *x = errhandler_at(h);
	if (x != NULL)
		x->ref_count++;
}

// Releases a reference. Inline, to save instructions in MPI_Errhandler_free, which a benchmark counts.
static inline void release_entry_locked(struct gompi_table_entry *e, uintptr_t h) {
	struct errhandler *x = gompi_table_object(e);
	if (__builtin_expect(--x->ref_count > 0, 0))
		return;
	gompi_handles_remove_entry(&errhandlers.handles, e, h);
	gompi_pool_free(&errhandlers, x);
}

static void release_locked(uintptr_t h) {
	struct gompi_table_entry *e = gompi_table_find(&errhandlers.handles.table, h);
	if (e != NULL)
		release_entry_locked(e, h);
}

// Sets the error handler of an object. Returns the handle of the old error handler.
static uintptr_t handler_set_locked(struct gompi_errhandler_ref *r, uintptr_t h) {
	const struct errhandler *x = errhandler_at(h);
	uintptr_t old = gompi_load(&r->handle);
	gompi_store(&r->handle, h);
	gompi_store(&r->function, x != NULL ? x->function : h);
	return old;
}

void gompi_errhandler_init(struct gompi_errhandler_ref *r, uintptr_t h) {
	gompi_biased_lock(&errhandlers.lock);
	handler_set_locked(r, h);
	gompi_biased_unlock(&errhandlers.lock);
}

static int invalid_handler_error(struct gompi_error_status *v, uintptr_t h) {
	return gompi_set_error(v, MPI_ERR_ERRHANDLER,
			       h == (uintptr_t)MPI_ERRHANDLER_NULL ? "the error handler is MPI_ERRHANDLER_NULL"
								   : "%#llx is not an error handler, or has been freed",
			       (unsigned long long)h);
}

// Returns the plural name of a kind of object, for error texts.
static const char *kind_name(int kind) {
	switch (kind) {
	case GOMPI_ON_COMM:
		return "communicators";
	case GOMPI_ON_WIN:
		return "windows";
	case GOMPI_ON_FILE:
		return "files";
	case GOMPI_ON_SESSION:
		return "sessions";
	default:
		return "another kind of object";
	}
}

static int check_locked(struct gompi_error_status *v, int kind, uintptr_t h) {
	const struct errhandler *x = errhandler_at(h);
	if (x == NULL && !gompi_errhandler_predefined(h))
		return invalid_handler_error(v, h);
	if (x != NULL && x->kind != kind)
		return gompi_set_error(v, MPI_ERR_ERRHANDLER, "error handler %#llx was created for %s, not for %s",
				       (unsigned long long)h, kind_name(x->kind), kind_name(kind));
	return MPI_SUCCESS;
}

int gompi_errhandler_check(struct gompi_error_status *v, int kind, MPI_Errhandler errhandler) {
	gompi_biased_lock(&errhandlers.lock);
	int rc = check_locked(v, kind, (uintptr_t)errhandler);
	gompi_biased_unlock(&errhandlers.lock);
	return rc;
}

int gompi_errhandler_attach_slow(struct gompi_error_status *v, int kind, struct gompi_errhandler_ref *r,
				 MPI_Errhandler errhandler) {
	uintptr_t h = (uintptr_t)errhandler;
	gompi_biased_lock(&errhandlers.lock);
	int rc = check_locked(v, kind, h);
	if (rc == MPI_SUCCESS) {
		acquire_locked(h);
		release_locked(handler_set_locked(r, h));
	}
	gompi_biased_unlock(&errhandlers.lock);
	return rc;
}

uintptr_t gompi_errhandler_retain(uintptr_t h) {
	gompi_biased_lock(&errhandlers.lock);
	acquire_locked(h);
	gompi_biased_unlock(&errhandlers.lock);
	return h;
}

uintptr_t gompi_errhandler_function(uintptr_t h, int *kind) {
	gompi_biased_lock(&errhandlers.lock);
	const struct errhandler *x = errhandler_at(h);
	uintptr_t function = x != NULL ? x->function : h;
	*kind = x != NULL ? x->kind : 0;
	gompi_biased_unlock(&errhandlers.lock);
	return function;
}

uintptr_t gompi_errhandler_acquire(struct gompi_errhandler_ref *r) {
	uintptr_t h = gompi_load(&r->handle);
	if (gompi_errhandler_predefined(h))
		return h;
	gompi_biased_lock(&errhandlers.lock);
	h = gompi_load(&r->handle);
	acquire_locked(h);
	gompi_biased_unlock(&errhandlers.lock);
	return h;
}

void gompi_errhandler_release(uintptr_t h) {
	if (h == 0 || gompi_errhandler_predefined(h))
		return;
	gompi_biased_lock(&errhandlers.lock);
	release_locked(h);
	gompi_biased_unlock(&errhandlers.lock);
}

void gompi_errhandler_detach(struct gompi_errhandler_ref *r) {
	gompi_biased_lock(&errhandlers.lock);
	release_locked(handler_set_locked(r, (uintptr_t)MPI_ERRORS_ARE_FATAL));
	gompi_biased_unlock(&errhandlers.lock);
}

int gompi_errhandler_run(uintptr_t function, uintptr_t object, int code) {
	// The functions of communicators, windows, files and sessions differ only in the type of the handle, and all
	// handle types are pointers.
	void *handle = (void *)object;
	((void (*)(void **, int *, ...))function)(&handle, &code);
	return code;
}

__attribute__((cold, noinline)) static int invalid_code_error(const char *call, int code, int kind, uintptr_t object) {
	struct gompi_error_status v;
	gompi_set_error(&v, MPI_ERR_ARG, "%d is not an error class or code", code);
	return gompi_return_error(v.class, call, v.text, kind, object);
}

int gompi_errhandler_call(const struct gompi_errhandler_ref *r, const char *call, int code, int kind,
			  uintptr_t object) {
	uintptr_t h = gompi_load(&r->function);
	if (code < 0)
		return invalid_code_error(call, code, kind, object);
	if (code == MPI_ERR_RMA_CONFLICT) // gompirun --check=error calls the error handler of the object
		gompi_event_raise(EVENT_CONFLICT_FOUND, MPI_T_CB_REQUIRE_MPI_RESTRICTED, (uint64_t)kind, object, 0);
	if (h == (uintptr_t)MPI_ERRORS_ARE_FATAL || h == (uintptr_t)MPI_ERRORS_ABORT)
		return gompi_return_error(code, call, NULL, kind, object); // ends the job
	gompi_error_note_called(code, kind, object);
	if (h != (uintptr_t)MPI_ERRORS_RETURN)
		gompi_errhandler_run(h, object, code);
	return MPI_SUCCESS;
}

// Creates an error handler. Inline, so that the arguments of each caller are constants.
__attribute__((always_inline)) static inline int create_errhandler(const char *call, int kind, uintptr_t function,
								   MPI_Errhandler *errhandler) {
	if (errhandler == NULL)
		return gompi_null_argument_error(call, "errhandler", GOMPI_ON_NONE, 0);
	if (function == 0)
		return gompi_return_error(MPI_ERR_ARG, call, "the error handler function is NULL", GOMPI_ON_NONE, 0);
	gompi_biased_lock(&errhandlers.lock);
	struct errhandler *x = gompi_pool_alloc(&errhandlers);
	uintptr_t h = x == NULL ? 0 : gompi_handles_add(&errhandlers.handles, x);
	if (__builtin_expect(h == 0, 0)) {
		if (x != NULL)
			gompi_pool_free(&errhandlers, x);
		gompi_biased_unlock(&errhandlers.lock);
		return gompi_return_error(MPI_ERR_NO_MEM, call, "out of memory for an error handler", GOMPI_ON_NONE, 0);
	}
	*x = (struct errhandler){.kind = kind, .ref_count = 1, .function = function};
	gompi_biased_unlock(&errhandlers.lock);
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

__attribute__((cold, noinline)) static int raise_errhandler(const char *call, uintptr_t h) {
	struct gompi_error_status v;
	invalid_handler_error(&v, h);
	return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

// Executes MPI_Errhandler_free for a predefined handler: only sets the variable to MPI_ERRHANDLER_NULL.
__attribute__((cold, noinline)) static int free_predefined(MPI_Errhandler *errhandler) {
	*errhandler = MPI_ERRHANDLER_NULL;
	return MPI_SUCCESS;
}

int gompi_errhandler_free(MPI_Errhandler *errhandler) {
	static const char call[] = "MPI_Errhandler_free";
	if (errhandler == NULL)
		return gompi_null_argument_error(call, "errhandler", GOMPI_ON_NONE, 0);
	uintptr_t h = (uintptr_t)*errhandler;
	if (__builtin_expect(gompi_errhandler_predefined(h), 0))
		return free_predefined(errhandler);
	gompi_biased_lock(&errhandlers.lock);
	struct gompi_table_entry *e = gompi_table_find(&errhandlers.handles.table, h);
	if (__builtin_expect(e == NULL, 0)) {
		gompi_biased_unlock(&errhandlers.lock);
		return raise_errhandler(call, h);
	}
	release_entry_locked(e, h);
	gompi_biased_unlock(&errhandlers.lock);
	*errhandler = MPI_ERRHANDLER_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Errhandler_free, gompi_errhandler_free);
