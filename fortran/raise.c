/* Errors that the bindings themselves find. */
#include "gompi_f.h"

#include <pthread.h>
#include <stdio.h>

int gompi_raise(enum gompi_object kind, int object, int class) {
	switch (kind) {
	case RAISE_COMM:
		PMPI_Comm_call_errhandler(comm_in(object), class);
		break;
	case RAISE_WIN:
		PMPI_Win_call_errhandler(win_in(object), class);
		break;
	case RAISE_FILE:
		PMPI_File_call_errhandler(file_in(object), class);
		break;
	case RAISE_SESSION:
		PMPI_Session_call_errhandler(session_in(object), class);
		break;
	case RAISE_SELF:
		PMPI_Comm_call_errhandler(MPI_COMM_SELF, class);
		break;
	}
	return class;
}

/* One code for all such errors, made at the first: its text is that of the latest. */
int gompi_raise_wide(const char *function, MPI_Aint value, const char *instead) {
	static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
	static int wide = MPI_SUCCESS;
	char text[MPI_MAX_ERROR_STRING];
	int code;
	snprintf(text, sizeof text, "%s: %lld does not fit into an INTEGER, which has 4 bytes; use %s", function,
		 (long long)value, instead);
	pthread_mutex_lock(&mu);
	if (wide == MPI_SUCCESS && PMPI_Add_error_code(MPI_ERR_ARG, &wide))
		wide = MPI_SUCCESS;
	code = wide == MPI_SUCCESS || PMPI_Add_error_string(wide, text) ? MPI_ERR_ARG : wide;
	pthread_mutex_unlock(&mu);
	return gompi_raise(RAISE_SELF, 0, code);
}
