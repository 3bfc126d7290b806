/* The functions that MPI-3.0 removed (MPI-5.0 chapter 17), for programs with mpif.h and the module mpi, which have no
 * interfaces for these functions. Each function calls the function that replaced it. Addresses, displacements and
 * extents are INTEGERs of default size; an extent that does not fit is an error. */
#include "callback.h"

/* Declares the functions that replace the removed ones (generated/f_datatypes.c). */
ENTRY extern void NAME(type_create_hvector)(const integer *count, const integer *blocklength, const MPI_Aint *stride,
					    const integer *oldtype, integer *newtype, integer *ierror);
ENTRY extern void NAME(type_create_hindexed)(const integer *count, const integer *array_of_blocklengths,
					     const MPI_Aint *array_of_displacements, const integer *oldtype,
					     integer *newtype, integer *ierror);
ENTRY extern void NAME(type_create_struct)(const integer *count, const integer *array_of_blocklengths,
					   const MPI_Aint *array_of_displacements, const integer *array_of_types,
					   integer *newtype, integer *ierror);

/* Ends an entry point: stores the result if rc is MPI_SUCCESS, and sets ierror. If the result does not fit into an
 * INTEGER, raises an error and does not store the result. */
static void narrow(int rc, const char *function, MPI_Aint from, const char *instead, integer *to, integer *ierror) {
	if (!rc && from != (integer)from)
		rc = gompi_raise_wide(function, from, instead);
	if (!rc)
		*to = (integer)from;
	done(ierror, rc);
}

/* Converts n displacements from INTEGERs to MPI_Aint. Returns MPI_SUCCESS or an error class. */
static int bytes_in(struct gompi_array *a, MPI_Count n, const integer *from) {
	int rc = gompi_array_make(a, n, sizeof(MPI_Aint));
	for (MPI_Count i = 0; !rc && i < n; i++)
		((MPI_Aint *)a->data)[i] = from[i];
	return rc;
}

/* ---- Addresses and bounds ---- */

/* Stores an address. If the address does not fit into an INTEGER, stores its lower half and sets ierror, but calls no
 * error handler. Old programs use only the differences of such addresses, which are correct without the upper halves,
 * and do not check for errors. MPICH and Open MPI support these programs too. A program that accesses memory at a
 * truncated address causes a segmentation fault. */
ENTRY void NAME(address)(void *location, integer *address, integer *ierror) {
	MPI_Aint at = 0;
	int rc = CALL(Get_address)(buffer_in(location), &at);
	if (!rc)
		*address = (integer)(uinteger)at;
	done(ierror, !rc && at != *address ? MPI_ERR_ARG : rc);
}

ENTRY void NAME(type_extent)(const integer *datatype, integer *extent, integer *ierror) {
	MPI_Aint c_lb = 0, c_extent = 0;
	int rc = CALL(Type_get_extent)(datatype_in(*datatype), &c_lb, &c_extent);
	narrow(rc, "MPI_Type_extent", c_extent, "MPI_Type_get_extent", extent, ierror);
}

ENTRY void NAME(type_lb)(const integer *datatype, integer *lb, integer *ierror) {
	MPI_Aint c_lb = 0, c_extent = 0;
	int rc = CALL(Type_get_extent)(datatype_in(*datatype), &c_lb, &c_extent);
	narrow(rc, "MPI_Type_lb", c_lb, "MPI_Type_get_extent", lb, ierror);
}

ENTRY void NAME(type_ub)(const integer *datatype, integer *ub, integer *ierror) {
	MPI_Aint c_lb = 0, c_extent = 0;
	int rc = CALL(Type_get_extent)(datatype_in(*datatype), &c_lb, &c_extent);
	narrow(rc, "MPI_Type_ub", c_lb + c_extent, "MPI_Type_get_extent", ub, ierror);
}

/* ---- Constructors, with displacements of default size. ---- */

ENTRY void NAME(type_hvector)(const integer *count, const integer *blocklength, const integer *stride,
			      const integer *oldtype, integer *newtype, integer *ierror) {
	const MPI_Aint bytes = *stride;
	NAME(type_create_hvector)(count, blocklength, &bytes, oldtype, newtype, ierror);
}

ENTRY void NAME(type_hindexed)(const integer *count, const integer *array_of_blocklengths,
			       const integer *array_of_displacements, const integer *oldtype, integer *newtype,
			       integer *ierror) {
	struct gompi_array displacements = {0};
	int rc = bytes_in(&displacements, *count, array_of_displacements);
	if (rc)
		done(ierror, gompi_raise_pending(RAISE_SELF, 0, rc));
	else
		NAME(type_create_hindexed)(count, array_of_blocklengths, displacements.data, oldtype, newtype, ierror);
	gompi_array_free(&displacements);
}

ENTRY void NAME(type_struct)(const integer *count, const integer *array_of_blocklengths,
			     const integer *array_of_displacements, const integer *array_of_types, integer *newtype,
			     integer *ierror) {
	struct gompi_array displacements = {0};
	int rc = bytes_in(&displacements, *count, array_of_displacements);
	if (rc)
		done(ierror, gompi_raise_pending(RAISE_SELF, 0, rc));
	else
		NAME(type_create_struct)
	(count, array_of_blocklengths, displacements.data, array_of_types, newtype, ierror);
	gompi_array_free(&displacements);
}

/* ---- Error handlers ---- */

ENTRY void NAME(errhandler_create)(gompi_procedure *function, integer *errhandler, integer *ierror) {
	MPI_Comm_errhandler_function *c_function = gompi_comm_errhandler_function(function);
	MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;
	int rc = c_function ? CALL(Comm_create_errhandler)(c_function, &c_errhandler)
			    : gompi_raise_pending(RAISE_SELF, 0, MPI_ERR_NO_MEM);
	if (!rc)
		*errhandler = errhandler_out(c_errhandler);
	done(ierror, rc);
}

ENTRY void NAME(errhandler_get)(const integer *comm, integer *errhandler, integer *ierror) {
	MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;
	int rc = CALL(Comm_get_errhandler)(comm_in(*comm), &c_errhandler);
	if (!rc)
		*errhandler = errhandler_out(c_errhandler);
	done(ierror, rc);
}

ENTRY void NAME(errhandler_set)(const integer *comm, const integer *errhandler, integer *ierror) {
	done(ierror, CALL(Comm_set_errhandler)(comm_in(*comm), errhandler_in(*errhandler)));
}
