/* Proves: the library exports the conversions between C and Fortran as functions, with the prefixes MPI_ and PMPI_, for
 * programs in other languages. (In mpi.h they are macros for handles, and inline functions for statuses.) */
#define GOMPIRMA_NO_INLINE
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define HANDLE(object, type, handle) \
	HANDLE_UNDER(MPI_##object, type, handle) + HANDLE_UNDER(PMPI_##object, type, handle)
#define HANDLE_UNDER(name, type, handle) handle_##type(name##_c2f, name##_f2c, handle)

/* Defines a function that returns 1 if the two conversion functions of the handle type are wrong. */
#define CHECKER(type)                                                                         \
	static int handle_##type(MPI_Fint (*c2f)(type), type (*f2c)(MPI_Fint), type handle) { \
		MPI_Fint f = c2f(handle);                                                     \
		return f != (MPI_Fint)(intptr_t)handle || f2c(f) != handle;                   \
	}
CHECKER(MPI_Comm)
CHECKER(MPI_Errhandler)
CHECKER(MPI_File)
CHECKER(MPI_Group)
CHECKER(MPI_Info)
CHECKER(MPI_Message)
CHECKER(MPI_Op)
CHECKER(MPI_Request)
CHECKER(MPI_Session)
CHECKER(MPI_Datatype)
CHECKER(MPI_Win)

int main(void) {
	MPI_Status status = {.MPI_SOURCE = 5, .MPI_TAG = 6, .MPI_ERROR = 7, .MPI_internal = {10, 11, 12, 13, 14}};
	MPI_Status back;
	MPI_Fint f[MPI_F_STATUS_SIZE];
	MPI_F08_status f08;
	int wrong = HANDLE(Comm, MPI_Comm, MPI_COMM_WORLD) + HANDLE(Errhandler, MPI_Errhandler, MPI_ERRORS_RETURN) +
		    HANDLE(File, MPI_File, MPI_FILE_NULL) + HANDLE(Group, MPI_Group, MPI_GROUP_EMPTY) +
		    HANDLE(Info, MPI_Info, MPI_INFO_ENV) + HANDLE(Message, MPI_Message, MPI_MESSAGE_NO_PROC) +
		    HANDLE(Op, MPI_Op, MPI_SUM) + HANDLE(Request, MPI_Request, MPI_REQUEST_NULL) +
		    HANDLE(Session, MPI_Session, MPI_SESSION_NULL) + HANDLE(Type, MPI_Datatype, MPI_DOUBLE) +
		    HANDLE(Win, MPI_Win, MPI_WIN_NULL);

	wrong += MPI_Status_c2f(&status, f) != MPI_SUCCESS || f[MPI_F_SOURCE] != 5 || f[MPI_F_TAG] != 6 ||
		 f[MPI_F_ERROR] != 7 || f[7] != 14;
	wrong += MPI_Status_f2f08(f, &f08) != MPI_SUCCESS || f08.MPI_TAG != 6 || f08.MPI_internal[4] != 14;
	wrong += PMPI_Status_f082c(&f08, &back) != MPI_SUCCESS || memcmp(&back, &status, sizeof back) != 0;
	memset(f, 0, sizeof f);
	memset(&f08, 0, sizeof f08);
	wrong += PMPI_Status_c2f08(&back, &f08) != MPI_SUCCESS || MPI_Status_f082f(&f08, f) != MPI_SUCCESS ||
		 PMPI_Status_f2c(f, &back) != MPI_SUCCESS || memcmp(&back, &status, sizeof back) != 0;
	wrong += MPI_Status_c2f(MPI_STATUS_IGNORE, f) != MPI_ERR_ARG || MPI_Status_f2c(f, NULL) != MPI_ERR_ARG;
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
