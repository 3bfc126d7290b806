// The fields of a status (MPI-5.0 3.2.5, 3.8.4 and 13.3). datatype/count.c has the functions for counts.
#include "base/error_status.h"
#include "base/status.h"
#include "message/z_calls.h"

// Raises the error for a missing status or result.
static int null_status_error(const char *call) {
	return gompi_return_error(MPI_ERR_ARG, call,
				  "status is NULL or MPI_STATUS_IGNORE, or the output argument is NULL", GOMPI_ON_NONE,
				  0);
}

int gompi_status_get_source(const MPI_Status *status, int *source) {
	if (!status || !source)
		return null_status_error("MPI_Status_get_source");
	*source = status->MPI_SOURCE;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Status_get_source, gompi_status_get_source);

int gompi_status_get_tag(const MPI_Status *status, int *tag) {
	if (!status || !tag)
		return null_status_error("MPI_Status_get_tag");
	*tag = status->MPI_TAG;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Status_get_tag, gompi_status_get_tag);

int gompi_status_get_error(const MPI_Status *status, int *error) {
	if (!status || !error)
		return null_status_error("MPI_Status_get_error");
	*error = status->MPI_ERROR;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Status_get_error, gompi_status_get_error);

int gompi_status_set_source(MPI_Status *status, int source) {
	if (!status)
		return null_status_error("MPI_Status_set_source");
	status->MPI_SOURCE = source;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Status_set_source, gompi_status_set_source);

int gompi_status_set_tag(MPI_Status *status, int tag) {
	if (!status)
		return null_status_error("MPI_Status_set_tag");
	status->MPI_TAG = tag;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Status_set_tag, gompi_status_set_tag);

int gompi_status_set_error(MPI_Status *status, int error) {
	if (!status)
		return null_status_error("MPI_Status_set_error");
	status->MPI_ERROR = error;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Status_set_error, gompi_status_set_error);

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
