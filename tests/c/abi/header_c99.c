/* Proves: mpi.h is valid C99 and declares the names that old and new programs use. It may be included twice, and also
 * as mpi_rma.h. */
#include <mpi.h>
#include <mpi_rma.h>
#include <mpi.h>
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The constants must be macros that constant expressions can use. */
#if !defined(MPI_ERR_RMA_RANGE) || !defined(MPI_COMM_WORLD) || MPI_VERSION < 3 || GOMPIRMA_VERSION_MAJOR < 0
#error "constants are macros"
#endif
static char port[MPI_MAX_PORT_NAME];
static const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_C_COMPLEX, MPI_LONG_LONG_INT};

static int answer(int what) {
	switch (what) {
	case MPI_ANY_SOURCE:
		return 1;
	case MPI_PROC_NULL:
		return 2;
	case MPI_ROOT:
		return 3;
	case MPI_UNDEFINED:
		return 4;
	default:
		return 0;
	}
}

static int copies;
static int copy_fn(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
	(void)comm, (void)keyval, (void)extra, (void)in, (void)out;
	copies++;
	*flag = 0;
	return MPI_SUCCESS;
}
static void errhandler_fn(MPI_Win *win, int *code, ...) { (void)win, (void)code; }

/* Calls MPI_Status_c2f with a constant NULL. The function is inline in mpi.h, so the compiler sees the NULL; it must
 * not warn about a store through NULL. */
int into_nothing(const MPI_Status *status);
int into_nothing(const MPI_Status *status) { return MPI_Status_c2f(status, NULL); }

int main(void) {
	MPI_Status status, back;
	MPI_Fint f[MPI_F_STATUS_SIZE];
	MPI_F08_status f08;
	MPI_Comm_copy_attr_function *copy = copy_fn;
	MPI_Win_errhandler_function *handler = errhandler_fn;
	int wrong = 0, i;

	memset(&status, 0, sizeof status);
	status.MPI_SOURCE = 5;
	status.MPI_TAG = 6;
	status.MPI_ERROR = 7;
	for (i = 0; i < 5; i++)
		status.MPI_internal[i] = 10 + i;
	wrong += MPI_Status_c2f(&status, f) != MPI_SUCCESS || f[MPI_F_SOURCE] != 5 || f[MPI_F_TAG] != 6 ||
		 f[MPI_F_ERROR] != 7 || f[7] != 14;
	wrong += MPI_Status_f2f08(f, &f08) != MPI_SUCCESS || f08.MPI_TAG != 6 || f08.MPI_internal[0] != 10;
	wrong += MPI_Status_f082c(&f08, &back) != MPI_SUCCESS || memcmp(&back, &status, sizeof back) != 0;
	memset(f, 0, sizeof f);
	wrong += MPI_Status_f082f(&f08, f) != MPI_SUCCESS || PMPI_Status_f2c(f, &back) != MPI_SUCCESS ||
		 memcmp(&back, &status, sizeof back) != 0;

	wrong += into_nothing(&status) != MPI_ERR_ARG || MPI_Status_c2f(MPI_STATUS_IGNORE, f) != MPI_ERR_ARG ||
		 MPI_Status_f2c(f, MPI_STATUS_IGNORE) != MPI_ERR_ARG || MPI_Status_f2f08(NULL, &f08) != MPI_ERR_ARG ||
		 MPI_Status_f082f(&f08, NULL) != MPI_ERR_ARG;

	/* Conversions of handles to integers and back: the functions of the ABI, and those for Fortran. */
	wrong += MPI_Comm_toint(MPI_COMM_WORLD) != 0x101 || MPI_Comm_fromint(0x102) != MPI_COMM_SELF;
	wrong += MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) != MPI_DOUBLE ||
		 PMPI_Win_f2c(PMPI_Win_c2f(MPI_WIN_NULL)) != MPI_WIN_NULL;
	wrong += MPI_Op_c2f(MPI_SUM) != 0x21 || MPI_Request_f2c(0x180) != MPI_REQUEST_NULL;

	/* Address arithmetic must work on absolute addresses. */
	wrong += MPI_Aint_diff(MPI_Aint_add((MPI_Aint)&port[1], 10), (MPI_Aint)&port[0]) != 11;

	/* The predefined callbacks (MPI_COMM_DUP_FN ...) differ from the program's callback, which was not called. */
	wrong += copy == MPI_COMM_DUP_FN || copy == MPI_COMM_NULL_COPY_FN || copies != 0 || !handler;
	wrong += answer(MPI_ROOT) != 3 || types[3] != MPI_LONG_LONG || MPI_Wtick() <= 0 || MPI_Wtime() > MPI_Wtime();
	assert(MPI_SUCCESS == 0);
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
