/* Registers the sizes of this compiler's Fortran types and the values of its LOGICALs with the MPI library at load time
 * (MPI-5.0 20.4). An MPI library that was built without Fortran knows neither. What the library knows is not
 * registered again, and nothing is registered if it has no functions for that. This file is part of libmpifort_abi
 * only, because the sizes and values are built into gompirma. */
#include <stdio.h>

#include "gompi_f.h"

#pragma weak PMPI_Abi_get_fortran_info
#pragma weak PMPI_Abi_set_fortran_info
#pragma weak PMPI_Abi_get_fortran_booleans
#pragma weak PMPI_Abi_set_fortran_booleans

extern const int gompi_f_logical_kinds[8], gompi_f_integer_kinds[8], gompi_f_real_kinds[8];

/* Sets the key mpi_TYPEn_supported in `info` for each size n of TYPE for which the ABI has a datatype. A complex type
 * has twice the size of its kind, so the argument `scale` is 2 for complex types, and 1 for all others. */
static void kinds(MPI_Info info, const char *type, const int *sizes, const int *kinds, int scale) {
	char key[MPI_MAX_INFO_KEY];
	int has;

	for (; *sizes != 0; sizes++) {
		has = 0;
		for (int i = 0; i < 8; i++)
			has = has || kinds[i] == *sizes;
		snprintf(key, sizeof key, "mpi_%s%d_supported", type, *sizes * scale);
		PMPI_Info_set(info, key, has ? "true" : "false");
	}
}

static void inform_types(void) {
	static const int all[] = {1, 2, 4, 8, 16, 0}, real[] = {2, 4, 8, 16, 0};
	MPI_Info info = MPI_INFO_NULL;

	if (PMPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info == MPI_INFO_NULL &&
	    PMPI_Info_create(&info) == MPI_SUCCESS) {
		gompi_store_sizes(info);
		kinds(info, "logical", all, gompi_f_logical_kinds, 1);
		kinds(info, "integer", all, gompi_f_integer_kinds, 1);
		kinds(info, "real", real, gompi_f_real_kinds, 1);
		kinds(info, "complex", real, gompi_f_real_kinds, 2);
		PMPI_Info_set(info, "mpi_double_complex_supported", "true");
		PMPI_Abi_set_fortran_info(info);
	}
	if (info != MPI_INFO_NULL)
		PMPI_Info_free(&info);
}

static void inform_booleans(void) {
	int size = gompi_f_sizes[0], set = 1;
	logical yes, no;

	if (size == (int)sizeof yes && PMPI_Abi_get_fortran_booleans(size, &yes, &no, &set) == MPI_SUCCESS && !set) {
		yes = gompi_f_true;
		no = gompi_f_false;
		PMPI_Abi_set_fortran_booleans(size, &yes, &no);
	}
}

__attribute__((constructor)) static void inform(void) {
	if (PMPI_Abi_get_fortran_info != NULL && PMPI_Abi_set_fortran_info != NULL)
		inform_types();
	if (PMPI_Abi_get_fortran_booleans != NULL && PMPI_Abi_set_fortran_booleans != NULL)
		inform_booleans();
}
