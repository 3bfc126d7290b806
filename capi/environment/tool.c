// The tool information interface (MPI-5.0 15.3). It offers no variables, categories, events or sources yet. Functions
// that take an index, a name or a handle of such an object are generated stubs that return an error (core/abi/gen).
#include "environment/tool.h"

#include "base/atomics.h"
#include "environment/z_calls.h"

static gompi_a32 initialized; // number of MPI_T_init_thread calls without a matching MPI_T_finalize
// Number of performance variable sessions. Without variables all sessions are alike, so all have the same handle: the
// address of this counter.
static gompi_a32 sessions;

// Decrements *count unless it is 0. Returns true if *count has been decremented.
static bool decrement_if_positive(gompi_a32 *count) {
	uint32_t old = gompi_load(count);
	while (old > 0 && !gompi_cas_weak(count, &old, old - 1))
		;
	return old > 0;
}

int gompi_tool_error(int code) { return gompi_load(&initialized) == 0 ? MPI_T_ERR_NOT_INITIALIZED : code; }

int gompi_t_init_thread(int required, int *provided) {
	if (provided == NULL)
		return MPI_T_ERR_INVALID;
	gompi_add(&initialized, 1);
	*provided = MPI_THREAD_MULTIPLE;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_init_thread, gompi_t_init_thread);

int gompi_t_finalize(void) { return decrement_if_positive(&initialized) ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED; }
GOMPI_ENTRY(MPI_T_finalize, gompi_t_finalize);

// Stores 0 as the number of objects of a kind that the library does not offer.
static int store_none(int *number) {
	if (number == NULL || gompi_load(&initialized) == 0)
		return gompi_tool_error(MPI_T_ERR_INVALID);
	*number = 0;
	return MPI_SUCCESS;
}

int gompi_t_cvar_get_num(int *num_cvar) { return store_none(num_cvar); }
GOMPI_ENTRY(MPI_T_cvar_get_num, gompi_t_cvar_get_num);

int gompi_t_pvar_get_num(int *num_pvar) { return store_none(num_pvar); }
GOMPI_ENTRY(MPI_T_pvar_get_num, gompi_t_pvar_get_num);

int gompi_t_category_get_num(int *num_cat) { return store_none(num_cat); }
GOMPI_ENTRY(MPI_T_category_get_num, gompi_t_category_get_num);

// Stores 0, since categories never change.
int gompi_t_category_changed(int *update_number) { return store_none(update_number); }
GOMPI_ENTRY(MPI_T_category_changed, gompi_t_category_changed);

int gompi_t_event_get_num(int *num_events) { return store_none(num_events); }
GOMPI_ENTRY(MPI_T_event_get_num, gompi_t_event_get_num);

int gompi_t_source_get_num(int *num_sources) { return store_none(num_sources); }
GOMPI_ENTRY(MPI_T_source_get_num, gompi_t_source_get_num);

static bool is_session(MPI_T_pvar_session session) {
	return session == (MPI_T_pvar_session)(void *)&sessions && gompi_load(&sessions) > 0;
}

int gompi_t_pvar_session_create(MPI_T_pvar_session *session) {
	if (session == NULL || gompi_load(&initialized) == 0)
		return gompi_tool_error(MPI_T_ERR_INVALID);
	gompi_add(&sessions, 1);
	*session = (MPI_T_pvar_session)(void *)&sessions;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_pvar_session_create, gompi_t_pvar_session_create);

int gompi_t_pvar_session_free(MPI_T_pvar_session *session) {
	if (gompi_load(&initialized) == 0)
		return MPI_T_ERR_NOT_INITIALIZED;
	if (session == NULL || !is_session(*session) || !decrement_if_positive(&sessions))
		return MPI_T_ERR_INVALID_SESSION;
	*session = MPI_T_PVAR_SESSION_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_pvar_session_free, gompi_t_pvar_session_free);

// Implements MPI_T_pvar_start, MPI_T_pvar_stop and MPI_T_pvar_reset. A session has no performance variable handles, so
// there is nothing to start, stop or reset: the function only checks the arguments.
static int check_pvar_call(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
	if (gompi_load(&initialized) == 0)
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!is_session(session))
		return MPI_T_ERR_INVALID_SESSION;
	return handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int gompi_t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
	return check_pvar_call(session, handle);
}
GOMPI_ENTRY(MPI_T_pvar_start, gompi_t_pvar_start);

int gompi_t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) { return check_pvar_call(session, handle); }
GOMPI_ENTRY(MPI_T_pvar_stop, gompi_t_pvar_stop);

int gompi_t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
	return check_pvar_call(session, handle);
}
GOMPI_ENTRY(MPI_T_pvar_reset, gompi_t_pvar_reset);

// Does nothing: MPI_Pcontrol is a hook for profiling libraries (MPI-5.0 15.2).
int gompi_pcontrol(const int level, ...) {
	(void)level;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Pcontrol, gompi_pcontrol);
