// Initialization and finalization of the tool information interface (MPI-5.0 15.3.4), and MPI_Pcontrol.
#include "tool/tool.h"
#include "tool/z_calls.h"

int gompi_t_init_thread(int required, int *provided) {
	if (provided == NULL)
		return MPI_T_ERR_INVALID;
	gompi_mutex_lock(&gompi_tool_mutex);
	gompi_cvar_times_read();
	gompi_add(&gompi_tool_users, 1);
	gompi_mutex_unlock(&gompi_tool_mutex);
	*provided = MPI_THREAD_MULTIPLE;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_init_thread, gompi_t_init_thread);

// Ends a use of the interface. The last call frees all sessions and handles.
int gompi_t_finalize(void) {
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (gompi_load(&gompi_tool_users) == 1) {
		gompi_cvar_handles_free();
		gompi_pvar_sessions_free();
		gompi_event_registrations_free();
	}
	gompi_sub(&gompi_tool_users, 1);
	gompi_tool_unlock();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_finalize, gompi_t_finalize);

// Does nothing: MPI_Pcontrol is a hook for profiling libraries (MPI-5.0 15.2).
int gompi_pcontrol(const int level, ...) {
	(void)level;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Pcontrol, gompi_pcontrol);
