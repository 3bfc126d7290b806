/* The sizes of this compiler's default types, in the form of MPI_Abi_get_fortran_info (MPI-5.0 20.4.1). */
#include <stdio.h>

#include "gompi_f.h"

void gompi_store_sizes(MPI_Info info) {
	static const char *const type[] = {"logical", "integer", "real", "double_precision"};
	char key[MPI_MAX_INFO_KEY], size[16];
	for (int i = 0; i < 4; i++) {
		snprintf(key, sizeof key, "mpi_%s_size", type[i]);
		snprintf(size, sizeof size, "%d", gompi_f_sizes[i]);
		PMPI_Info_set(info, key, size);
	}
}
