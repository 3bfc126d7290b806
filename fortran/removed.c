/* The functions that MPI-3.0 removed (MPI-5.0 chapter 17), for mpif.h and the module mpi, which have no interfaces for
 * them. Addresses, displacements and extents are INTEGERs of default size: an extent that does not fit is an error.
 * Each calls the function that replaced it.
 */
#include "callback.h"

/* narrow stores the result of a function, if it was successful and the result is an INTEGER, and ends the entry point.
 */
static void narrow(int rc, const char *function, MPI_Aint from, const char *instead, int *to, int *ierror) {
	if (!rc && from != (int)from)
		rc = gompi_raise_wide(function, from, instead);
	if (!rc)
		*to = (int)from;
	done(ierror, rc);
}

/* bytes_in converts displacements in bytes. It gives MPI_SUCCESS or an error class. */
static int bytes_in(struct gompi_array *a, int n, const int *from) {
	int rc = gompi_array_make(a, n, sizeof(MPI_Aint));
	for (int i = 0; !rc && i < n; i++)
		((MPI_Aint *)a->data)[i] = from[i];
	return rc;
}

/* ---- Addresses and bounds ---- */

/* Programs take differences of addresses, which are right although the addresses have lost their upper half, and look
 * at no error: MPICH and Open MPI serve them. So the error is in ierror alone. Who uses such an address as one gets a
 * fault. */
ENTRY void NAME(address)(void *location, int *address, int *ierror) {
	MPI_Aint wide = 0;
	int rc = CALL(Get_address)(buffer_in(location), &wide);
	if (!rc)
		*address = (int)(unsigned)wide;
	done(ierror, !rc && wide != *address ? MPI_ERR_ARG : rc);
}

ENTRY void NAME(type_extent)(const int *datatype, int *extent, int *ierror) {
	MPI_Aint c_lb = 0, c_extent = 0;
	int rc = CALL(Type_get_extent)(datatype_in(*datatype), &c_lb, &c_extent);
	narrow(rc, "MPI_Type_extent", c_extent, "MPI_Type_get_extent", extent, ierror);
}

ENTRY void NAME(type_lb)(const int *datatype, int *lb, int *ierror) {
	MPI_Aint c_lb = 0, c_extent = 0;
	int rc = CALL(Type_get_extent)(datatype_in(*datatype), &c_lb, &c_extent);
	narrow(rc, "MPI_Type_lb", c_lb, "MPI_Type_get_extent", lb, ierror);
}

ENTRY void NAME(type_ub)(const int *datatype, int *ub, int *ierror) {
	MPI_Aint c_lb = 0, c_extent = 0;
	int rc = CALL(Type_get_extent)(datatype_in(*datatype), &c_lb, &c_extent);
	narrow(rc, "MPI_Type_ub", c_lb + c_extent, "MPI_Type_get_extent", ub, ierror);
}

/* ---- Constructors ---- */

ENTRY void NAME(type_hvector)(const int *count, const int *blocklength, const int *stride, const int *oldtype,
			      int *newtype, int *ierror) {
	MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
	int rc = CALL(Type_create_hvector)(*count, *blocklength, *stride, datatype_in(*oldtype), &c_newtype);
	if (!rc)
		*newtype = datatype_out(c_newtype);
	done(ierror, rc);
}

ENTRY void NAME(type_hindexed)(const int *count, const int *array_of_blocklengths, const int *array_of_displacements,
			       const int *oldtype, int *newtype, int *ierror) {
	struct gompi_array displacements = {0};
	MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
	int rc = bytes_in(&displacements, *count, array_of_displacements);
	if (rc)
		rc = gompi_raise(RAISE_SELF, 0, rc);
	else
		rc = CALL(Type_create_hindexed)(*count, array_of_blocklengths, displacements.data,
						datatype_in(*oldtype), &c_newtype);
	if (!rc)
		*newtype = datatype_out(c_newtype);
	gompi_array_free(&displacements);
	done(ierror, rc);
}

ENTRY void NAME(type_struct)(const int *count, const int *array_of_blocklengths, const int *array_of_displacements,
			     const int *array_of_types, int *newtype, int *ierror) {
	struct gompi_array displacements = {0}, types = {0};
	MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
	int rc = bytes_in(&displacements, *count, array_of_displacements);
	if (!rc)
		rc = datatypes_in(&types, *count, array_of_types);
	if (rc)
		rc = gompi_raise(RAISE_SELF, 0, rc);
	else
		rc = CALL(Type_create_struct)(*count, array_of_blocklengths, displacements.data, types.data,
					      &c_newtype);
	if (!rc)
		*newtype = datatype_out(c_newtype);
	gompi_array_free(&displacements);
	gompi_array_free(&types);
	done(ierror, rc);
}

/* ---- Error handlers ---- */

ENTRY void NAME(errhandler_create)(gompi_procedure *function, int *errhandler, int *ierror) {
	MPI_Comm_errhandler_function *c_function = gompi_comm_errhandler_function(function);
	MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;
	int rc = c_function ? CALL(Comm_create_errhandler)(c_function, &c_errhandler)
			    : gompi_raise(RAISE_SELF, 0, MPI_ERR_NO_MEM);
	if (!rc)
		*errhandler = errhandler_out(c_errhandler);
	done(ierror, rc);
}

ENTRY void NAME(errhandler_get)(const int *comm, int *errhandler, int *ierror) {
	MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;
	int rc = CALL(Comm_get_errhandler)(comm_in(*comm), &c_errhandler);
	if (!rc)
		*errhandler = errhandler_out(c_errhandler);
	done(ierror, rc);
}

ENTRY void NAME(errhandler_set)(const int *comm, const int *errhandler, int *ierror) {
	done(ierror, CALL(Comm_set_errhandler)(comm_in(*comm), errhandler_in(*errhandler)));
}
