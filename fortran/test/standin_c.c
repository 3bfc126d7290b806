/* C functions for standin.F90 that replace those of the library. Each function checks the arguments that the bindings
 * have converted. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>

/* C's handle for Fortran's MPI_INTEGER. */
#define FORTRAN_INTEGER (sizeof(MPI_Fint) == sizeof(int) ? MPI_INTEGER : MPI_INTEGER8)

int c_errors, c_calls;

static void want(int ok) { c_errors += !ok; }

int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
		   MPI_Comm *intercomm, int errcodes[]) {
	c_calls++;
	want(!strcmp(command, "the program") && info == MPI_INFO_NULL && root == 0 && comm == MPI_COMM_SELF);
	if (maxprocs == 1) { /* the program passed MPI_ARGV_NULL and MPI_ERRCODES_IGNORE */
		want(argv == MPI_ARGV_NULL && errcodes == MPI_ERRCODES_IGNORE);
	} else {
		want(maxprocs == 2 && !strcmp(argv[0], "-n") && !strcmp(argv[1], "a b") && argv[2] == NULL);
		errcodes[0] = 70;
		errcodes[1] = 71;
	}
	*intercomm = MPI_COMM_WORLD;
	return MPI_SUCCESS;
}

int MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
			    int root, MPI_Comm comm, MPI_Comm *intercomm, int errcodes[]) {
	c_calls++;
	want(count == 2 && !strcmp(commands[0], "first") && !strcmp(commands[1], "second") && maxprocs[0] == 1 &&
	     maxprocs[1] == 3);
	want(infos[0] == MPI_INFO_ENV && infos[1] == MPI_INFO_NULL && root == 0 && comm == MPI_COMM_SELF);
	if (argvs == MPI_ARGVS_NULL) {
		want(errcodes == MPI_ERRCODES_IGNORE);
	} else {
		want(!strcmp(argvs[0][0], "x") && argvs[0][1] == NULL);
		want(!strcmp(argvs[1][0], "y") && !strcmp(argvs[1][1], "zz") && argvs[1][2] == NULL);
		for (int i = 0; i < 4; i++)
			errcodes[i] = 80 + i;
	}
	*intercomm = MPI_COMM_SELF;
	return MPI_SUCCESS;
}

int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *len, char *name) {
	static const char text[] = "mpi://WORLD";
	c_calls++;
	want(session == MPI_SESSION_NULL && info == MPI_INFO_NULL && n == 1);
	if (*len > 0) {
		strncpy(name, text, (size_t)*len - 1);
		name[*len - 1] = 0;
	}
	*len = sizeof text;
	return MPI_SUCCESS;
}

int MPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *errhandler) {
	MPI_File file = (MPI_File)2468;
	int code = 13;
	c_calls++;
	function(&file, &code);
	*errhandler = MPI_ERRORS_RETURN;
	return MPI_SUCCESS;
}

int MPI_Session_create_errhandler(MPI_Session_errhandler_function *function, MPI_Errhandler *errhandler) {
	MPI_Session session = (MPI_Session)1357;
	int code = 14;
	c_calls++;
	function(&session, &code);
	*errhandler = MPI_ERRORS_ABORT;
	return MPI_SUCCESS;
}

int MPI_Register_datarep(const char *name, MPI_Datarep_conversion_function *read,
			 MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent, void *extra) {
	MPI_Fint user[4] = {0}, file[4] = {1, 2, 3, 4};
	MPI_Aint size = 0;
	c_calls++;
	want(!strcmp(name, "mine") && write == MPI_CONVERSION_FN_NULL);
	want(read(user, FORTRAN_INTEGER, 4, file, 5000000000, extra) == MPI_SUCCESS && user[0] == 1 && user[3] == 4);
	want(extent(FORTRAN_INTEGER, &size, extra) == MPI_SUCCESS && size == 40);
	return MPI_SUCCESS;
}

int MPI_Register_datarep_c(const char *name, MPI_Datarep_conversion_function_c *read,
			   MPI_Datarep_conversion_function_c *write, MPI_Datarep_extent_function *extent, void *extra) {
	MPI_Fint user[4] = {0}, file[4] = {1, 2, 3, 4};
	(void)extent;
	c_calls++;
	want(!strcmp(name, "large") && write == MPI_CONVERSION_FN_NULL_C);
	want(read(user, FORTRAN_INTEGER, 4, file, 5000000000, extra) == MPI_SUCCESS && user[3] == 4);
	return MPI_SUCCESS;
}
