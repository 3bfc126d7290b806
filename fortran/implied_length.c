/* Functions with arrays whose length is not an argument: another MPI function returns it. */
#include "section.h"

ENTRY void NAME(cart_sub)(const integer *comm, const logical *remain_dims, integer *newcomm, integer *ierror) {
	struct gompi_array c_remain_dims = {0};
	MPI_Comm c_newcomm = MPI_COMM_NULL;
	int ndims = 0, rc = PMPI_Cartdim_get(comm_in(*comm), &ndims);
	if (rc) { /* PMPI_Cartdim_get has raised the error */
		done(ierror, rc);
		return;
	}
	rc = logicals_in(&c_remain_dims, ndims, remain_dims);
	if (rc)
		rc = gompi_raise_pending(RAISE_COMM, *comm, rc);
	else
		rc = CALL(Cart_sub)(comm_in(*comm), c_remain_dims.data, &c_newcomm);
	if (!rc)
		*newcomm = comm_out(c_newcomm);
	gompi_array_free(&c_remain_dims);
	done(ierror, rc);
}
SAME(cart_sub, cart_sub_f08)

ENTRY void NAME(type_get_contents)(const integer *datatype, const integer *max_integers, const integer *max_addresses,
				   const integer *max_datatypes, integer *array_of_integers,
				   MPI_Aint *array_of_addresses, integer *array_of_datatypes, integer *ierror) {
	struct gompi_array ints = {0}, types = {0};
	int integers = 0, addresses, n = 0, combiner;
	int rc = fits("MPI_Type_get_contents", "max_integers", *max_integers, MPI_ERR_ARG);
	if (!rc)
		rc = fits("MPI_Type_get_contents", "max_addresses", *max_addresses, MPI_ERR_ARG);
	if (!rc)
		rc = fits("MPI_Type_get_contents", "max_datatypes", *max_datatypes, MPI_ERR_ARG);
	if (!rc)
		rc = ints_room(&ints, *max_integers, array_of_integers);
	if (!rc)
		rc = datatypes_in(&types, *max_datatypes,
				  array_of_datatypes); /* handles that the call does not set stay unchanged */
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	else
		rc = CALL(Type_get_contents)(datatype_in(*datatype), (int)*max_integers, (int)*max_addresses,
					     (int)*max_datatypes, ints.data, array_of_addresses, types.data);
	if (!rc && !PMPI_Type_get_envelope(datatype_in(*datatype), &integers, &addresses, &n, &combiner)) {
		ints_out(array_of_integers, integers < *max_integers ? integers : *max_integers, &ints);
		for (int i = 0; i < n && i < *max_datatypes; i++)
			array_of_datatypes[i] = datatype_out(((MPI_Datatype *)types.data)[i]);
	}
	ints_free(&ints);
	gompi_array_free(&types);
	done(ierror, rc);
}
SAME(type_get_contents, type_get_contents_f08)

ENTRY void NAME(type_get_contents_c_f08)(const integer *datatype, const MPI_Count *max_integers,
					 const MPI_Count *max_addresses, const MPI_Count *max_large_counts,
					 const MPI_Count *max_datatypes, integer *array_of_integers,
					 MPI_Aint *array_of_addresses, MPI_Count *array_of_large_counts,
					 integer *array_of_datatypes, integer *ierror) {
	struct gompi_array ints = {0}, types = {0};
	MPI_Count integers = 0, addresses, counts, n = 0;
	int combiner, rc = ints_room(&ints, *max_integers, array_of_integers);
	if (!rc)
		rc = datatypes_in(&types, *max_datatypes,
				  array_of_datatypes); /* handles that the call does not set stay unchanged */
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	else
		rc = CALL(Type_get_contents_c)(datatype_in(*datatype), *max_integers, *max_addresses, *max_large_counts,
					       *max_datatypes, ints.data, array_of_addresses, array_of_large_counts,
					       types.data);
	if (!rc && !PMPI_Type_get_envelope_c(datatype_in(*datatype), &integers, &addresses, &counts, &n, &combiner)) {
		ints_out(array_of_integers, integers < *max_integers ? integers : *max_integers, &ints);
		for (MPI_Count i = 0; i < n && i < *max_datatypes; i++)
			array_of_datatypes[i] = datatype_out(((MPI_Datatype *)types.data)[i]);
	}
	ints_free(&ints);
	gompi_array_free(&types);
	done(ierror, rc);
}
