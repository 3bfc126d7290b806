/* C callbacks without extra state that call Fortran procedures. There are MOST C functions of each kind. C function i
 * calls the procedure in entry i of a table. If the program passes a procedure again, it gets the same C function. */
#include <pthread.h>

#include "callback.h"

enum { MOST = 256 };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

struct kind {
	int used;
	gompi_procedure *procedure[MOST]; /* entry i is written once, before function i is first returned */
};

/* Returns the index of a procedure in a table. Adds the procedure if it is not in the table. Returns -1 if the table is
 * full. */
static int number(struct kind *k, gompi_procedure *procedure) {
	int i = 0;
	pthread_mutex_lock(&mu);
	while (i < k->used && k->procedure[i] != procedure)
		i++;
	if (i == MOST)
		i = -1;
	else if (i == k->used)
		k->procedure[k->used++] = procedure;
	pthread_mutex_unlock(&mu);
	return i;
}

/* ALL(M) expands to M(00) to M(ff). */
// clang-format off
#define ROW(M, h) M(h##0) M(h##1) M(h##2) M(h##3) M(h##4) M(h##5) M(h##6) M(h##7) \
    M(h##8) M(h##9) M(h##a) M(h##b) M(h##c) M(h##d) M(h##e) M(h##f)
#define ALL(M) ROW(M, 0) ROW(M, 1) ROW(M, 2) ROW(M, 3) ROW(M, 4) ROW(M, 5) ROW(M, 6) ROW(M, 7) \
    ROW(M, 8) ROW(M, 9) ROW(M, a) ROW(M, b) ROW(M, c) ROW(M, d) ROW(M, e) ROW(M, f)
// clang-format on

/* ---- Reduction operations, with the arguments (invec, inoutvec, len, datatype) ---- */

static struct kind ops, large_ops;

static void call_op(int i, void *in, void *inout, int *len, MPI_Datatype *type) {
	integer datatype = datatype_out(*type), n = *len;
	((void (*)(void *, void *, integer *, integer *))ops.procedure[i])(in, inout, &n, &datatype);
}

static void call_large_op(int i, void *in, void *inout, MPI_Count *len, MPI_Datatype *type) {
	integer datatype = datatype_out(*type);
	((void (*)(void *, void *, MPI_Count *, integer *))large_ops.procedure[i])(in, inout, len, &datatype);
}

#define OP(x)                                                                     \
	static void op_##x(void *in, void *inout, int *len, MPI_Datatype *type) { \
		call_op(0x##x, in, inout, len, type);                             \
	}
#define LARGE_OP(x)                                                                           \
	static void large_op_##x(void *in, void *inout, MPI_Count *len, MPI_Datatype *type) { \
		call_large_op(0x##x, in, inout, len, type);                                   \
	}
ALL(OP)
ALL(LARGE_OP)
#define OP_NAME(x) op_##x,
#define LARGE_OP_NAME(x) large_op_##x,

MPI_User_function *gompi_op_function(gompi_procedure *procedure) {
	static MPI_User_function *const functions[MOST] = {ALL(OP_NAME)};
	int i = number(&ops, procedure);
	return i < 0 ? NULL : functions[i];
}

MPI_User_function_c *gompi_op_function_c(gompi_procedure *procedure) {
	static MPI_User_function_c *const functions[MOST] = {ALL(LARGE_OP_NAME)};
	int i = number(&large_ops, procedure);
	return i < 0 ? NULL : functions[i];
}

/* ---- Error handlers, with the arguments (object, error_code) ---- */

#define ERRHANDLER(type, name)                                                                    \
	static struct kind name##_handlers;                                                       \
	static void call_##name(int i, MPI_##type *object, int *code) {                           \
		integer handle = name##_out(*object), f_code = *code;                             \
		((void (*)(integer *, integer *))name##_handlers.procedure[i])(&handle, &f_code); \
		*code = code_in(f_code);                                                          \
	}

ERRHANDLER(Comm, comm)
ERRHANDLER(File, file)
ERRHANDLER(Session, session)
ERRHANDLER(Win, win)

#define ON_COMM(x) \
	static void comm_##x(MPI_Comm *comm, int *code, ...) { call_comm(0x##x, comm, code); }
#define ON_FILE(x) \
	static void file_##x(MPI_File *file, int *code, ...) { call_file(0x##x, file, code); }
#define ON_SESSION(x) \
	static void session_##x(MPI_Session *session, int *code, ...) { call_session(0x##x, session, code); }
#define ON_WIN(x) \
	static void win_##x(MPI_Win *win, int *code, ...) { call_win(0x##x, win, code); }
ALL(ON_COMM)
ALL(ON_FILE)
ALL(ON_SESSION)
ALL(ON_WIN)
#define COMM_NAME(x) comm_##x,
#define FILE_NAME(x) file_##x,
#define SESSION_NAME(x) session_##x,
#define WIN_NAME(x) win_##x,

MPI_Comm_errhandler_function *gompi_comm_errhandler_function(gompi_procedure *procedure) {
	static MPI_Comm_errhandler_function *const functions[MOST] = {ALL(COMM_NAME)};
	int i = number(&comm_handlers, procedure);
	return i < 0 ? NULL : functions[i];
}

MPI_File_errhandler_function *gompi_file_errhandler_function(gompi_procedure *procedure) {
	static MPI_File_errhandler_function *const functions[MOST] = {ALL(FILE_NAME)};
	int i = number(&file_handlers, procedure);
	return i < 0 ? NULL : functions[i];
}

MPI_Session_errhandler_function *gompi_session_errhandler_function(gompi_procedure *procedure) {
	static MPI_Session_errhandler_function *const functions[MOST] = {ALL(SESSION_NAME)};
	int i = number(&session_handlers, procedure);
	return i < 0 ? NULL : functions[i];
}

MPI_Win_errhandler_function *gompi_win_errhandler_function(gompi_procedure *procedure) {
	static MPI_Win_errhandler_function *const functions[MOST] = {ALL(WIN_NAME)};
	int i = number(&win_handlers, procedure);
	return i < 0 ? NULL : functions[i];
}
