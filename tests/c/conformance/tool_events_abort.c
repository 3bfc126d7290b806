/* Proves: a callback of an event may call MPI_Abort, which ends the job with the message of MPI_Abort. This is also
 *   true if the event is raised below a function of MPI that is implemented in Go. MPI-5.0 9.7, 15.3.8
 * np: 1 2
 * args: window_created window_freed
 * ref: none (the events are gompirma's)
 * timeout: 30
 * status: nonzero
 * stderr window_created: called MPI_Abort with status 5
 * stderr window_freed: called MPI_Abort with status 5
 */
#include "../check.h"

static void end_job(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *unused) {
	(void)e, (void)r, (void)safety, (void)unused;
	MPI_Abort(MPI_COMM_WORLD, 5);
}

int main(int argc, char **argv) {
	MPI_T_event_registration r;
	MPI_Win win;
	int provided, index, *memory;
	check_begin(&argc, &argv);
	MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
	MPI_T_event_get_index(check_arg, &index);
	MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r);
	MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, end_job);
	MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_free(&win);
	printf("FAIL: no event of the type %s\n", check_arg);
	return 0;
}
