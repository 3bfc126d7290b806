/* Procedures of Fortran that C calls. */
#ifndef GOMPI_CALLBACK_H
#define GOMPI_CALLBACK_H

#include "gompi_f.h"

typedef void gompi_procedure(void);

/* code_in returns the error code that a procedure of the program gave. */
static inline int code_in(integer ierror) { return wide(ierror) ? MPI_ERR_OTHER : (int)ierror; }

/* A C function for a procedure of the program, which gets what C passes as Fortran wants it; NULL if there are too
 * many. These callbacks have no extra state that could name the procedure, so there is a fixed number of C functions,
 * one for each different procedure. */
MPI_User_function *gompi_op_function(gompi_procedure *procedure);
MPI_User_function_c *gompi_op_function_c(gompi_procedure *procedure);
MPI_Comm_errhandler_function *gompi_comm_errhandler_function(gompi_procedure *procedure);
MPI_File_errhandler_function *gompi_file_errhandler_function(gompi_procedure *procedure);
MPI_Session_errhandler_function *gompi_session_errhandler_function(gompi_procedure *procedure);
MPI_Win_errhandler_function *gompi_win_errhandler_function(gompi_procedure *procedure);

#endif
