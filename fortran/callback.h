/* Calls of Fortran procedures from C. */
#ifndef GOMPI_CALLBACK_H
#define GOMPI_CALLBACK_H

#include "gompi_f.h"

typedef void gompi_procedure(void);

/* Returns the C error code for the ierror that a procedure of the program has set. */
static inline int code_in(integer ierror) { return wide(ierror) ? MPI_ERR_OTHER : (int)ierror; }

/* Returns a C callback that converts its arguments and calls a Fortran procedure of the program. C callbacks of these
 * kinds get no extra state, so they cannot find the procedure in an argument. Therefore there is a fixed number of C
 * functions of each kind, each of which is assigned to one procedure. Returns NULL if all functions of the kind are
 * assigned. */
MPI_User_function *gompi_op_function(gompi_procedure *procedure);
MPI_User_function_c *gompi_op_function_c(gompi_procedure *procedure);
MPI_Comm_errhandler_function *gompi_comm_errhandler_function(gompi_procedure *procedure);
MPI_File_errhandler_function *gompi_file_errhandler_function(gompi_procedure *procedure);
MPI_Session_errhandler_function *gompi_session_errhandler_function(gompi_procedure *procedure);
MPI_Win_errhandler_function *gompi_win_errhandler_function(gompi_procedure *procedure);

#endif
