// MPI_Type_get_envelope: returns the numbers of arguments with which a datatype was constructed (MPI-5.0 5.1.13).
// contents.c returns the arguments.
#include "datatype/type_props.h"

#include "base/error_status.h"
#include "datatype/z_calls.h"

int gompi_type_get_envelope(MPI_Datatype datatype, int *integers, int *addresses, int *datatypes, int *combiner) {
	static const char call[] = "MPI_Type_get_envelope";
	const struct gompi_type_props *f = gompi_type_props_get(datatype);
	if (f == NULL)
		return gompi_not_a_datatype(datatype, call);
	if (integers == NULL || addresses == NULL || datatypes == NULL || combiner == NULL)
		return gompi_null_argument_error(call, "num_integers, num_addresses, num_datatypes or combiner",
						 GOMPI_ON_NONE, 0);
	if (f->is_large)
		return gompi_return_error(
			MPI_ERR_TYPE, call,
			"the datatype was created with large counts: call the _c form of this function", GOMPI_ON_NONE,
			0);
	*integers = gompi_as_int(f->integers);
	*addresses = gompi_as_int(f->addresses);
	*datatypes = gompi_as_int(f->types);
	*combiner = f->combiner;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_get_envelope, gompi_type_get_envelope);

int gompi_type_get_envelope_c(MPI_Datatype datatype, MPI_Count *integers, MPI_Count *addresses, MPI_Count *counts,
			      MPI_Count *datatypes, int *combiner) {
	static const char call[] = "MPI_Type_get_envelope";
	const struct gompi_type_props *f = gompi_type_props_get(datatype);
	if (f == NULL)
		return gompi_not_a_datatype(datatype, call);
	if (integers == NULL || addresses == NULL || counts == NULL || datatypes == NULL || combiner == NULL)
		return gompi_null_argument_error(
			call, "num_integers, num_addresses, num_large_counts, num_datatypes or combiner", GOMPI_ON_NONE,
			0);
	*integers = f->integers;
	*addresses = f->addresses;
	*counts = f->counts;
	*datatypes = f->types;
	*combiner = f->combiner;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_get_envelope_c, gompi_type_get_envelope_c);
