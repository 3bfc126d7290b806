/* Proves: the tool information interface can be initialized and finalized any number of times, also before MPI_Init and
 *   after MPI_Finalize. While it is not initialized, its calls report that. Each listed item can be queried. Calls
 *   refuse an index after the last one, an unknown name and an invalid handle. MPI-5.0 15.3
 * np: 1 2
 * ref: none (MPICH 4.0 aborts at a call before MPI_T_init_thread)
 * timeout: 30
 */
#include "../check.h"

static void not_initialized(void) {
	int n = -7;
	MPI_T_pvar_session session;
	CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED, "control variables before initialization");
	CHECK(MPI_T_pvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED, "performance variables before initialization");
	CHECK(MPI_T_category_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED, "categories before initialization");
	CHECK(MPI_T_cvar_get_index("x", &n) == MPI_T_ERR_NOT_INITIALIZED, "a name before initialization");
	CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED, "a session before initialization");
	CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED, "MPI_T_finalize before initialization");
	CHECK(n == -7, "a refused call stored %d", n);
}

static void initialized(void) {
	int n, index = -7, length = 0, provided = -7;
	CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "MPI_T_init_thread");
	CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "thread level %d", provided);
	CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "MPI_T_init_thread once more");
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	n = -7;
	CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n >= 0, "%d control variables", n);
	CHECK(MPI_T_cvar_get_info(n, NULL, &length, &index, NULL, NULL, NULL, &length, &index, &index) ==
		      MPI_T_ERR_INVALID_INDEX,
	      "a control variable behind the last one");
	CHECK(MPI_T_cvar_get_index("no such variable", &index) == MPI_T_ERR_INVALID_NAME, "the name of none");
	n = -7;
	CHECK(MPI_T_pvar_get_num(&n) == MPI_SUCCESS && n >= 0, "%d performance variables", n);
	CHECK(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_T_ERR_INVALID_NAME,
	      "the name of no performance variable");
	n = -7;
	CHECK(MPI_T_category_get_num(&n) == MPI_SUCCESS && n >= 0, "%d categories", n);
	CHECK(MPI_T_category_get_index("no such category", &index) == MPI_T_ERR_INVALID_NAME,
	      "the name of no category");
	CHECK(MPI_T_category_changed(&n) == MPI_SUCCESS, "MPI_T_category_changed");
	CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n >= 0, "%d events", n);
	CHECK(MPI_T_source_get_num(&n) == MPI_SUCCESS && n >= 0, "%d sources", n);
	MPI_T_pvar_session session, other;
	CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS, "a session");
	CHECK(MPI_T_pvar_session_create(&other) == MPI_SUCCESS, "another session");
	CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "to start all of none");
	CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "to stop all of none");
	CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS, "to free a session");
	CHECK(session == MPI_T_PVAR_SESSION_NULL, "a freed session has a handle");
	CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION, "a freed session");
	CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS, "to free the other session");
	CHECK(index == -7, "a refused call stored %d", index);
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
}

int main(int argc, char **argv) {
	not_initialized();
	initialized();
	not_initialized();
	check_begin(&argc, &argv);
	not_initialized();
	initialized();
	not_initialized();
	int provided, status = check_end();
	if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS || MPI_T_finalize() != MPI_SUCCESS)
		return 1;
	return status;
}
