/* Raises errors that the bindings themselves detect. */
#include "gompi_f.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>

int gompi_raise_pending(enum gompi_object kind, integer object, int code) {
	switch (kind) {
	case RAISE_COMM:
		PMPI_Comm_call_errhandler(comm_in(object), code);
		break;
	case RAISE_WIN:
		PMPI_Win_call_errhandler(win_in(object), code);
		break;
	case RAISE_FILE:
		PMPI_File_call_errhandler(file_in(object), code);
		break;
	case RAISE_SESSION:
		PMPI_Session_call_errhandler(session_in(object), code);
		break;
	case RAISE_SELF:
		PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
		break;
	}
	return code;
}

/* Returns an error code of the class, and sets its error string to `text`. Each class has one code, which the first
 * error of the class creates. Returns the class itself if no code can be created. */
static int code_of(int class, const char *text) {
	static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
	static int codes[128]; /* indexed by class; 0 if not created yet */
	int code;
	if (class < 0 || class >= (int)(sizeof codes / sizeof *codes))
		return class;
	pthread_mutex_lock(&mu);
	if (codes[class] == MPI_SUCCESS && PMPI_Add_error_code(class, &codes[class]))
		codes[class] = MPI_SUCCESS;
	code = codes[class] == MPI_SUCCESS || PMPI_Add_error_string(codes[class], text) ? class : codes[class];
	pthread_mutex_unlock(&mu);
	return code;
}

int gompi_raise_wide(const char *function, MPI_Aint value, const char *instead) {
	char text[MPI_MAX_ERROR_STRING];
	snprintf(text, sizeof text, "%s: %lld does not fit into an INTEGER of %d bytes; call %s", function,
		 (long long)value, (int)sizeof(integer), instead);
	return gompi_raise_pending(RAISE_SELF, 0, code_of(MPI_ERR_ARG, text));
}

int gompi_wide_code(const char *function, const char *argument, MPI_Count value, int class) {
	char text[MPI_MAX_ERROR_STRING];
	snprintf(text, sizeof text, "%s: %s is %lld; it must be from %d to %d", function, argument, (long long)value,
		 INT_MIN, INT_MAX);
	return code_of(class, text);
}
