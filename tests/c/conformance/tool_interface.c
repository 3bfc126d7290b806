/* Proves: the tool information interface can be initialized and finalized any number of times, also before MPI_Init and
 *   after MPI_Finalize. While it is not initialized, its calls report that. Each listed item can be queried. Calls
 *   refuse an index after the last one, an unknown name and an invalid handle, also of events. There is a source of
 *   events, whose time stamps increase. MPI-5.0 15.3
 * np: 1 2
 * ref: none (MPICH 4.0 aborts at a call before MPI_T_init_thread)
 * timeout: 30
 */
#include "../check.h"

/* Checks that each function of events refuses an invalid index or handle with the expected class. */
static void check_events(int expected_index, int expected_handle) {
	MPI_T_event_registration none = NULL, wild = (MPI_T_event_registration)&none;
	MPI_T_event_instance event = (MPI_T_event_instance)&none;
	MPI_Info info = MPI_INFO_NULL;
	MPI_Count stamp;
	int n = 0, length = 0, buffer[4];
	CHECK(MPI_T_event_get_info(1000, NULL, &length, NULL, NULL, NULL, &n, NULL, NULL, NULL, &length, NULL) ==
		      expected_index,
	      "MPI_T_event_get_info");
	CHECK(MPI_T_event_handle_alloc(-1, NULL, info, &none) == expected_index, "MPI_T_event_handle_alloc");
	CHECK(MPI_T_event_handle_free(wild, NULL, NULL) == expected_handle, "MPI_T_event_handle_free");
	CHECK(MPI_T_event_handle_set_info(none, info) == expected_handle, "MPI_T_event_handle_set_info");
	CHECK(MPI_T_event_handle_get_info(wild, &info) == expected_handle, "MPI_T_event_handle_get_info");
	CHECK(MPI_T_event_register_callback(wild, MPI_T_CB_REQUIRE_NONE, info, NULL, NULL) == expected_handle,
	      "MPI_T_event_register_callback");
	CHECK(MPI_T_event_callback_set_info(wild, MPI_T_CB_REQUIRE_NONE, info) == expected_handle,
	      "MPI_T_event_callback_set_info");
	CHECK(MPI_T_event_callback_get_info(wild, MPI_T_CB_REQUIRE_NONE, &info) == expected_handle,
	      "MPI_T_event_callback_get_info");
	CHECK(MPI_T_event_set_dropped_handler(wild, NULL) == expected_handle, "MPI_T_event_set_dropped_handler");
	CHECK(MPI_T_event_read(event, 0, buffer) == expected_handle, "MPI_T_event_read");
	CHECK(MPI_T_event_copy(event, buffer) == expected_handle, "MPI_T_event_copy");
	CHECK(MPI_T_event_get_timestamp(event, &stamp) == expected_handle, "MPI_T_event_get_timestamp");
	CHECK(MPI_T_event_get_source(event, &n) == expected_handle, "MPI_T_event_get_source");
}

static void check_sources(void) {
	int n = 0;
	CHECK(MPI_T_source_get_num(&n) == MPI_SUCCESS && n >= 1, "%d sources", n);
	for (int i = 0; i < n; i++) {
		char name[64], desc[100];
		int name_length = sizeof name, desc_length = sizeof desc;
		MPI_T_source_order order = 0;
		MPI_Count ticks = 0, limit = 0, first = 0, next = 0;
		MPI_Info info;
		CHECK(MPI_T_source_get_info(i, name, &name_length, desc, &desc_length, &order, &ticks, &limit, &info) ==
			      MPI_SUCCESS,
		      "source %d", i);
		CHECK(name_length == (int)strlen(name) + 1 && desc_length > 1, "name of source %d", i);
		CHECK(order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED, "order of %s", name);
		CHECK(ticks > 0 && limit > ticks, "%s has %lld ticks a second", name, (long long)ticks);
		double start = MPI_Wtime();
		CHECK(MPI_T_source_get_timestamp(i, &first) == MPI_SUCCESS, "time of %s", name);
		double begin = MPI_Wtime(), end = begin;
		while (end < begin + 0.01)
			end = MPI_Wtime();
		CHECK(MPI_T_source_get_timestamp(i, &next) == MPI_SUCCESS, "time of %s", name);
		double passed = (double)(next - first) / (double)ticks;
		CHECK(passed > 0.99 * (end - begin) && passed < 1.01 * (MPI_Wtime() - start), "%s: %g s, not %g s",
		      name, passed, end - begin);
		CHECK(MPI_T_source_get_timestamp(i, NULL) == MPI_T_ERR_INVALID, "no place for the time");
	}
	MPI_Count stamp;
	CHECK(MPI_T_source_get_timestamp(n, &stamp) == MPI_T_ERR_INVALID_INDEX, "a source after the last");
	CHECK(MPI_T_source_get_timestamp(-1, &stamp) == MPI_T_ERR_INVALID_INDEX, "source -1");
}

static void not_initialized(void) {
	int n = -7;
	MPI_T_pvar_session session;
	CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED, "control variables before initialization");
	CHECK(MPI_T_pvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED, "performance variables before initialization");
	CHECK(MPI_T_category_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED, "categories before initialization");
	CHECK(MPI_T_cvar_get_index("x", &n) == MPI_T_ERR_NOT_INITIALIZED, "a name before initialization");
	CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED, "a session before initialization");
	CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED, "MPI_T_finalize before initialization");
	check_events(MPI_T_ERR_NOT_INITIALIZED, MPI_T_ERR_NOT_INITIALIZED);
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
	check_sources();
	check_events(MPI_T_ERR_INVALID_INDEX, MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_get_index("no such event", &index) == MPI_T_ERR_INVALID_NAME, "the name of no event");
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
