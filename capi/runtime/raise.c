#include "runtime/raise.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error_status.h"
#include "base/go_callbacks.h"
#include "base/state.h"
#include "comm/failures.h"
#include "errors/codes.h"
#include "session/session.h"
#include "win/win.h"

// A pending call of an application's error handler; the field `function` is 0 if no call is pending.
struct pending_call {
	uintptr_t function, object;
	int code;
};
static _Thread_local struct pending_call pending_call __attribute__((tls_model("initial-exec")));

// Returns the error handler function of an object (struct gompi_errhandler_ref). Stores in *on the handle to pass to
// the function. If a file does not exist, uses the handler of MPI_FILE_NULL. If another object does not exist, uses the
// handler and handle of MPI_COMM_WORLD, or of MPI_COMM_SELF if the program has set a handler on it. If MPI is not
// initialized, or has been finalized, returns MPI_ERRORS_ARE_FATAL.
static uintptr_t handler_for(int kind, uintptr_t object, uintptr_t *on) {
	struct gompi_comm *c = kind == GOMPI_ON_COMM ? gompi_comm_get((MPI_Comm)object) : NULL;
	struct gompi_win *w = kind == GOMPI_ON_WIN ? gompi_win_get((MPI_Win)object) : NULL;
	struct gompi_session *s = kind == GOMPI_ON_SESSION ? gompi_session_get((MPI_Session)object) : NULL;
	*on = object;
	if (s != NULL)
		return gompi_load(&s->errhandler.function);
	if (kind == GOMPI_ON_ERRHANDLER) {
		int of;
		uintptr_t function = gompi_errhandler_function(object, &of);
		*on = of == GOMPI_ON_SESSION ? (uintptr_t)MPI_SESSION_NULL : (uintptr_t)MPI_COMM_NULL;
		return function;
	}
	if (c != NULL)
		return gompi_load(&c->errhandler.function);
	if (w != NULL)
		return gompi_load(&w->errhandler.function);
	if (kind == GOMPI_ON_FILE)
		return gompi_go_callbacks.file_errhandler_function((MPI_File)object);
	bool self = gompi_load(&gompi_comm_self_handler_set) || gompi_comm_world.handle == 0;
	*on = self ? (uintptr_t)MPI_COMM_SELF : (uintptr_t)MPI_COMM_WORLD;
	if (gompi_comm_world.handle == 0)
		return (uintptr_t)MPI_ERRORS_ARE_FATAL;
	return gompi_load(self ? &gompi_comm_self.errhandler.function : &gompi_comm_world.errhandler.function);
}

// Appends the name of an object to an error text, or its handle if the application has not named the object. Appends
// nothing if there is no object. Returns the end of the text.
static char *append_object(char *to, int kind, uintptr_t object) {
	char *at = to;
	int n = 0;
	if (kind == GOMPI_ON_COMM && gompi_comm_get((MPI_Comm)object) != NULL) {
		at = stpcpy(at, " on communicator ");
		n = gompi_comm_name((MPI_Comm)object, at);
	} else if (kind == GOMPI_ON_WIN && gompi_win_get((MPI_Win)object) != NULL) {
		at = stpcpy(at, " on window ");
		n = gompi_win_name((MPI_Win)object, at);
	} else if (kind == GOMPI_ON_FILE) {
		return at + gompi_go_callbacks.file_label((MPI_File)object, at);
	}
	return n > 0 || at == to ? at + n : at + sprintf(at, "%#llx", (unsigned long long)object);
}

// Appends a description of an error code that the application raised. Omits the stored text of a predefined class,
// because this text describes the last error of the class, not this one.
static char *append_code(char *to, int code) {
	char digits[16], *first = digits + sizeof digits - 1;
	int n, rest = code;
	*first = 0;
	do
		*--first = (char)('0' + rest % 10);
	while ((rest /= 10) != 0);
	to = stpcpy(stpcpy(to, "error code "), first);
	if (gompi_error_class_name(code) != NULL || (n = gompi_error_text(code, to + 2)) <= 0)
		return to;
	to[0] = ' ';
	to[1] = '(';
	return stpcpy(to + 2 + n, ")");
}

// Appends the text of an error: call, object and description. If `text` is NULL, `class` is an error code that the
// application raised, and append_code describes the code.
static char *append_error(char *to, int class, const char *call, const char *text, int kind, uintptr_t object) {
	to = stpcpy(append_object(stpcpy(to, call), kind, object), ": ");
	return text != NULL ? stpcpy(to, text) : append_code(to, class);
}

// Stores the text of an error for MPI_Error_string. If `fatal` is set, aborts the job and does not return.
static void store_error_text(int class, const char *call, const char *text, int kind, uintptr_t object, bool fatal) {
	const char *class_name = gompi_error_class_name(class); // NULL for a code that the application added
	char text_buffer[2 * MPI_MAX_OBJECT_NAME + MPI_MAX_ERROR_STRING + strlen(call) +
			 (text != NULL ? strlen(text) : 0)];
	char *class_end = class_name != NULL ? stpcpy(stpcpy(text_buffer, class_name), ": ") : text_buffer;
	*append_error(class_end, class, call, text, kind, object) = 0;
	gompi_error_store_text(class, class_end);
	if (fatal)
		gompi_go_callbacks.abort_error(class, text_buffer);
}

int gompi_called_error_text(int class, int kind, uintptr_t object, char *text) {
	const char *call = kind == GOMPI_ON_WIN    ? "MPI_Win_call_errhandler"
			   : kind == GOMPI_ON_FILE ? "MPI_File_call_errhandler"
						   : "MPI_Comm_call_errhandler";
	return (int)(append_error(text, class, call, NULL, kind, object) - text);
}

// Finds the error handler of the object, and stores its call in *to_call. If no error handler of the application has to
// run, returns the value that the MPI function must return, else -1. Does not return if the error handler ends the job.
static int prepare_handler_call(int class, const char *call, const char *text, int kind, uintptr_t object,
				struct pending_call *to_call) {
	// before MPI_Init and after MPI_Finalize no handle is valid, so report that MPI is not running, not the handle
	if ((class == MPI_ERR_COMM || class == MPI_ERR_WIN || class == MPI_ERR_FILE) &&
	    !gompi_load(&gompi_state.running)) {
		class = MPI_ERR_OTHER;
		text = "MPI is not initialized, or has been finalized";
	}
	class = gompi_fault_class(class, kind == GOMPI_ON_COMM ? object : 0);
	uintptr_t on, h = handler_for(kind, object, &on);
	bool fatal = h == (uintptr_t)MPI_ERRORS_ARE_FATAL || h == (uintptr_t)MPI_ERRORS_ABORT;
	if (fatal || gompi_error_class_name(class) != NULL)
		store_error_text(class, call, text, kind, object, fatal);
	uintptr_t function = h == (uintptr_t)MPI_ERRORS_RETURN ? 0 : h;
	*to_call = (struct pending_call){function, on, class};
	return function == 0 ? class : -1;
}

// Runs the pending handler, if any, and returns the error code. Must be called without Go frames below, so that the
// handler may call MPI or leave by longjmp.
static int call_handler(const struct pending_call *p) {
	const int in_status = gompi_class_in_status;
	gompi_class_in_status = MPI_SUCCESS;
	if (p->function == 0)
		return p->code;
	const int passed = p->code == MPI_ERR_IN_STATUS && in_status != MPI_SUCCESS ? in_status : p->code;
	const int code = gompi_errhandler_run(p->function, p->object, passed);
	return code == passed ? p->code : code;
}

int gompi_raise_from_go(int class, const char *call, const char *text, int kind, uintptr_t object) {
	return prepare_handler_call(class, call, text, kind, object, &pending_call);
}

int gompi_raise_pending(int token) {
	struct pending_call pending = pending_call;
	return call_handler(&pending);
}

int gompi_raise_error(int class, const char *call, const char *text, int kind, uintptr_t object) {
	struct pending_call pending;
	prepare_handler_call(class, call, text, kind, object, &pending);
	return call_handler(&pending);
}

int gompi_unsupported(const char *name, int kind, uintptr_t object) {
	return gompi_raise_error(MPI_ERR_UNSUPPORTED_OPERATION, name, "gompirma does not implement this function", kind,
				 object);
}
