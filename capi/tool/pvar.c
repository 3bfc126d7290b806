// Performance variables (MPI-5.0 15.3.7): sessions, handles, and their values. A handle of a variable that counts adds
// up the changes of the variable while the handle is started, so handles do not influence each other.
#include <string.h>

#include "tool/tool.h"
#include "tool/z_calls.h"

struct pvar_session {
	uintptr_t handle;
	struct pvar_handle *handles;
	struct pvar_session *next;
};

struct pvar_handle {
	uintptr_t handle;
	const struct gompi_pvar *var;
	struct pvar_session *session;
	struct pvar_handle *next; // in the session
	struct gompi_pvar_object object;
	bool is_started;
	// total: value of the handle up to the last sample. last: value of the variable at that sample
	uint64_t total, last;
};

// The lock of the interface guards these and all sessions and handles.
static struct gompi_object_pool session_pool = GOMPI_OBJECT_POOL(KIND_TOOL_PVAR_SESSION, struct pvar_session);
static struct gompi_object_pool pvar_pool = GOMPI_OBJECT_POOL(KIND_TOOL_PVAR, struct pvar_handle);
static struct pvar_session *pvar_sessions;

int gompi_t_pvar_get_num(int *num_pvar) { return gompi_tool_store_count(num_pvar, gompi_pvar_count); }
GOMPI_ENTRY(MPI_T_pvar_get_num, gompi_t_pvar_get_num);

int gompi_t_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
			  MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
			  int *readonly, int *continuous, int *atomic) {
	int class = gompi_tool_check_index(pvar_index, gompi_pvar_count);
	if (class != MPI_SUCCESS)
		return class;
	const struct gompi_pvar *p = &gompi_pvars[pvar_index];
	const bool is_state = p->class == MPI_T_PVAR_CLASS_STATE;
	gompi_tool_store_text(p->name, name, name_len);
	gompi_tool_store(verbosity, p->verbosity);
	gompi_tool_store(var_class, p->class);
	if (datatype != NULL)
		*datatype = is_state ? MPI_INT : MPI_UNSIGNED_LONG_LONG;
	if (enumtype != NULL)
		*enumtype = is_state ? (MPI_T_enum)(uintptr_t)&gompi_tool_enums[ENUM_MPI_STATE] : MPI_T_ENUM_NULL;
	gompi_tool_store_text(p->desc, desc, desc_len);
	gompi_tool_store(bind, p->bind);
	gompi_tool_store(readonly, !gompi_pvar_counts(p));
	gompi_tool_store(continuous, !gompi_pvar_counts(p));
	gompi_tool_store(atomic, gompi_pvar_counts(p));
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_pvar_get_info, gompi_t_pvar_get_info);

int gompi_t_pvar_get_index(const char *name, int var_class, int *pvar_index) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (name == NULL || pvar_index == NULL)
		return MPI_T_ERR_INVALID;
	for (int i = 0; i < gompi_pvar_count; i++)
		if (gompi_pvars[i].class == var_class && strcmp(gompi_pvars[i].name, name) == 0)
			return gompi_tool_store_count(pvar_index, i);
	return MPI_T_ERR_INVALID_NAME;
}
GOMPI_ENTRY(MPI_T_pvar_get_index, gompi_t_pvar_get_index);

int gompi_t_pvar_session_create(MPI_T_pvar_session *session) {
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	struct pvar_session *s = session == NULL ? NULL : gompi_pool_alloc(&session_pool);
	uintptr_t new = s == NULL ? 0 : gompi_handles_add(&session_pool.handles, s);
	if (new != 0) {
		*s = (struct pvar_session){.handle = new, .next = pvar_sessions};
		pvar_sessions = s;
		*session = (MPI_T_pvar_session) new;
	} else if (s != NULL) {
		gompi_pool_free(&session_pool, s);
	}
	gompi_tool_unlock();
	return session == NULL ? MPI_T_ERR_INVALID : new == 0 ? MPI_T_ERR_OUT_OF_SESSIONS : MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_pvar_session_create, gompi_t_pvar_session_create);

static void free_pvar_handle(struct pvar_handle *h) {
	struct pvar_handle **at = &h->session->handles;
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	if (h->var->requests != NULL)
		gompi_sub(h->var->requests, 1);
	gompi_tool_counts_release(h->object.counts);
	gompi_handles_remove(&pvar_pool.handles, h->handle);
	gompi_pool_free(&pvar_pool, h);
}

// Frees a session with its handles.
static void free_pvar_session(struct pvar_session *s) {
	while (s->handles != NULL)
		free_pvar_handle(s->handles);
	struct pvar_session **at = &pvar_sessions;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	gompi_handles_remove(&session_pool.handles, s->handle);
	gompi_pool_free(&session_pool, s);
}

void gompi_pvar_sessions_free(void) {
	while (pvar_sessions != NULL)
		free_pvar_session(pvar_sessions);
}

static struct pvar_session *find_session(MPI_T_pvar_session session) {
	return gompi_tool_find(&session_pool, (uintptr_t)session);
}

int gompi_t_pvar_session_free(MPI_T_pvar_session *session) {
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	struct pvar_session *s = session == NULL ? NULL : find_session(*session);
	if (s != NULL) {
		free_pvar_session(s);
		*session = MPI_T_PVAR_SESSION_NULL;
	}
	gompi_tool_unlock();
	return s == NULL ? MPI_T_ERR_INVALID_SESSION : MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_pvar_session_free, gompi_t_pvar_session_free);

// Creates a handle for a variable that is bound to an object. Takes over the object's reference to counters. Returns 0
// if out of memory.
static uintptr_t new_pvar_handle(struct pvar_session *s, const struct gompi_pvar *p,
				 const struct gompi_pvar_object *object) {
	struct pvar_handle *h = gompi_pool_alloc(&pvar_pool);
	uintptr_t new = h == NULL ? 0 : gompi_handles_add(&pvar_pool.handles, h);
	if (new == 0) {
		if (h != NULL)
			gompi_pool_free(&pvar_pool, h);
		gompi_tool_counts_release(object->counts);
		return 0;
	}
	*h = (struct pvar_handle){.handle = new, .var = p, .session = s, .next = s->handles, .object = *object};
	s->handles = h;
	if (p->requests != NULL)
		gompi_add(p->requests, 1);
	return new;
}

// Implements gompi_t_pvar_handle_alloc under the lock.
static int alloc_pvar_handle(MPI_T_pvar_session session, const struct gompi_pvar *p, const void *obj_handle,
			     MPI_T_pvar_handle *handle) {
	struct pvar_session *s = find_session(session);
	struct gompi_pvar_object object;
	if (s == NULL)
		return MPI_T_ERR_INVALID_SESSION;
	int class = gompi_pvar_bind(p->bind, obj_handle, &object);
	if (class != MPI_SUCCESS)
		return class;
	uintptr_t new = new_pvar_handle(s, p, &object);
	if (new == 0)
		return MPI_T_ERR_OUT_OF_HANDLES;
	*handle = (MPI_T_pvar_handle) new;
	return MPI_SUCCESS;
}

int gompi_t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle,
			      int *count) {
	int class = gompi_tool_check_index(pvar_index, gompi_pvar_count);
	if (class != MPI_SUCCESS)
		return class;
	if (handle == NULL || count == NULL)
		return MPI_T_ERR_INVALID;
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	class = alloc_pvar_handle(session, &gompi_pvars[pvar_index], obj_handle, handle);
	gompi_tool_unlock();
	if (class == MPI_SUCCESS)
		*count = 1;
	return class;
}
GOMPI_ENTRY(MPI_T_pvar_handle_alloc, gompi_t_pvar_handle_alloc);

// Acquires the lock of the interface and stores the objects of a session and one of its handles. *h is NULL for
// MPI_T_PVAR_ALL_HANDLES, if may_be_all. Returns MPI_SUCCESS, or an error class without the lock.
static int lock_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle, bool may_be_all, struct pvar_session **s,
		     struct pvar_handle **h) {
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	const bool is_all = may_be_all && handle == MPI_T_PVAR_ALL_HANDLES;
	*s = find_session(session);
	*h = is_all ? NULL : gompi_tool_find(&pvar_pool, (uintptr_t)handle);
	if (*s != NULL && (is_all || (*h != NULL && (*h)->session == *s)))
		return MPI_SUCCESS;
	gompi_tool_unlock();
	return *s == NULL ? MPI_T_ERR_INVALID_SESSION : MPI_T_ERR_INVALID_HANDLE;
}

int gompi_t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle) {
	struct pvar_session *s;
	struct pvar_handle *h;
	int class = lock_pvar(session, handle == NULL ? MPI_T_PVAR_HANDLE_NULL : *handle, false, &s, &h);
	if (class != MPI_SUCCESS)
		return class;
	free_pvar_handle(h);
	*handle = MPI_T_PVAR_HANDLE_NULL;
	gompi_tool_unlock();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_pvar_handle_free, gompi_t_pvar_handle_free);

static uint64_t sample_of(const struct pvar_handle *h) {
	uint64_t value;
	return h->var->sample(h->var, &h->object, &value) ? value : 0;
}

// Adds to a started handle what the variable has counted since the last sample. MPI_Finalize and a later session reset
// some variables to 0; all of the value is then new.
static void update_total(struct pvar_handle *h) {
	uint64_t now = sample_of(h);
	h->total += now >= h->last ? now - h->last : now;
	h->last = now;
}

static void start_pvar(struct pvar_handle *h) {
	if (!h->is_started)
		h->last = sample_of(h);
	h->is_started = true;
}

static void stop_pvar(struct pvar_handle *h) {
	if (h->is_started)
		update_total(h);
	h->is_started = false;
}

static void set_pvar(struct pvar_handle *h, uint64_t value) {
	h->last = sample_of(h);
	h->total = value;
}

static void reset_pvar(struct pvar_handle *h) { set_pvar(h, 0); }

// Calls `change` for a handle or for all handles of a session whose variable counts. Returns `refused` for a handle of
// another variable.
static int change_pvars(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void (*change)(struct pvar_handle *h),
			int refused) {
	struct pvar_session *s;
	struct pvar_handle *one;
	int class = lock_pvar(session, handle, true, &s, &one);
	if (class != MPI_SUCCESS)
		return class;
	if (one != NULL && !gompi_pvar_counts(one->var))
		class = refused;
	for (struct pvar_handle *h = s->handles; h != NULL; h = h->next)
		if ((one == NULL || h == one) && gompi_pvar_counts(h->var))
			change(h);
	gompi_tool_unlock();
	return class;
}

int gompi_t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
	return change_pvars(session, handle, start_pvar, MPI_T_ERR_PVAR_NO_STARTSTOP);
}
GOMPI_ENTRY(MPI_T_pvar_start, gompi_t_pvar_start);

int gompi_t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
	return change_pvars(session, handle, stop_pvar, MPI_T_ERR_PVAR_NO_STARTSTOP);
}
GOMPI_ENTRY(MPI_T_pvar_stop, gompi_t_pvar_stop);

int gompi_t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
	return change_pvars(session, handle, reset_pvar, MPI_T_ERR_PVAR_NO_WRITE);
}
GOMPI_ENTRY(MPI_T_pvar_reset, gompi_t_pvar_reset);

// Stores the value of a handle and, if `reset`, sets it to 0.
static int read_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf, bool reset) {
	struct pvar_session *s;
	struct pvar_handle *h;
	int class = lock_pvar(session, handle, false, &s, &h);
	if (class != MPI_SUCCESS)
		return class;
	const bool counts = gompi_pvar_counts(h->var);
	if (buf == NULL) {
		class = MPI_T_ERR_INVALID;
	} else if (reset && !counts) {
		class = MPI_T_ERR_PVAR_NO_ATOMIC;
	} else if (h->var->class == MPI_T_PVAR_CLASS_STATE) {
		*(int *)buf = (int)sample_of(h);
	} else if (!counts) {
		*(unsigned long long *)buf = sample_of(h);
	} else {
		if (h->is_started)
			update_total(h);
		*(unsigned long long *)buf = h->total;
		if (reset)
			h->total = 0;
	}
	gompi_tool_unlock();
	return class;
}

int gompi_t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf) {
	return read_pvar(session, handle, buf, false);
}
GOMPI_ENTRY(MPI_T_pvar_read, gompi_t_pvar_read);

int gompi_t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf) {
	return read_pvar(session, handle, buf, true);
}
GOMPI_ENTRY(MPI_T_pvar_readreset, gompi_t_pvar_readreset);

int gompi_t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf) {
	struct pvar_session *s;
	struct pvar_handle *h;
	int class = lock_pvar(session, handle, false, &s, &h);
	if (class != MPI_SUCCESS)
		return class;
	if (!gompi_pvar_counts(h->var))
		class = MPI_T_ERR_PVAR_NO_WRITE;
	else if (buf == NULL)
		class = MPI_T_ERR_INVALID;
	else
		set_pvar(h, *(const unsigned long long *)buf);
	gompi_tool_unlock();
	return class;
}
GOMPI_ENTRY(MPI_T_pvar_write, gompi_t_pvar_write);
