// Addresses and their arithmetic (MPI-5.0 5.1.5). The functions compute with unsigned integers, because overflow of
// signed integers is undefined behavior in C.
#include "base/error_status.h"
#include "datatype/z_calls.h"

int gompi_get_address(const void *location, MPI_Aint *address) {
	if (address == NULL)
		return gompi_null_argument_error("MPI_Get_address", "address", GOMPI_ON_NONE, 0);
	*address = (MPI_Aint)(uintptr_t)location;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Get_address, gompi_get_address);

MPI_Aint gompi_aint_add(MPI_Aint base, MPI_Aint disp) { return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp); }
GOMPI_ENTRY(MPI_Aint_add, gompi_aint_add);
MPI_Aint gompi_aint_diff(MPI_Aint addr1, MPI_Aint addr2) { return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2); }
GOMPI_ENTRY(MPI_Aint_diff, gompi_aint_diff);
