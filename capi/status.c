// MPI_Test_cancelled and MPI_Status_set_cancelled (MPI-5.0 3.8.4 and 13.3). datatype/count.c has the functions for
// counts.
#include "base/status.h"

#include "base/error_status.h"
#include "z_entry.h"

int gompi_test_cancelled(const MPI_Status *status, int *flag) {
	if (!status || !flag)
		return gompi_return_error(MPI_ERR_ARG, "MPI_Test_cancelled",
					  "status is NULL or MPI_STATUS_IGNORE, or flag is NULL", GOMPI_ON_NONE, 0);
	*flag = (status->MPI_internal[0] & GOMPI_STATUS_CANCELLED) != 0;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Test_cancelled, gompi_test_cancelled);

int gompi_status_set_cancelled(MPI_Status *status, int flag) {
	if (!status)
		return gompi_return_error(MPI_ERR_ARG, "MPI_Status_set_cancelled",
					  "status is NULL or MPI_STATUS_IGNORE", GOMPI_ON_NONE, 0);
	status->MPI_internal[0] = flag ? GOMPI_STATUS_CANCELLED : 0;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Status_set_cancelled, gompi_status_set_cancelled);
