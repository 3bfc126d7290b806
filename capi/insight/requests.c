// Makes requests distinct. Operations that are complete when their call returns may share one predefined handle. Other
// handles are reused only after millions of other requests. --check must know which operation a call completes, so each
// operation gets its own request.

#include "insight/pmpi.h"

static int query_complete(void *extra, MPI_Status *status) {
	(void)extra;
	status->MPI_SOURCE = MPI_ANY_SOURCE;
	status->MPI_TAG = MPI_ANY_TAG;
	(void)GOMPI_CALL_PMPI(MPI_Status_set_elements_c, status, MPI_BYTE, 0);
	return GOMPI_CALL_PMPI(MPI_Status_set_cancelled, status, 0);
}

static int free_complete(void *extra) {
	(void)extra;
	return MPI_SUCCESS;
}

static int cancel_complete(void *extra, int complete) {
	(void)extra, (void)complete;
	return MPI_SUCCESS;
}

void gompi_insight_make_distinct(struct gompi_insight_thread *t, MPI_Request *request) {
	enum { FIRST_DYNAMIC_HANDLE = 0x1000 }; // smaller handles are predefined
	MPI_Request distinct = MPI_REQUEST_NULL;
	if (!(t->mode & GOMPI_INSIGHT_MODE_ACCESSES) || request == NULL ||
	    (uintptr_t)*request >= FIRST_DYNAMIC_HANDLE || *request == MPI_REQUEST_NULL ||
	    GOMPI_CALL_PMPI(MPI_Grequest_start, query_complete, free_complete, cancel_complete, NULL, &distinct) !=
		    MPI_SUCCESS)
		return;
	(void)GOMPI_CALL_PMPI(MPI_Grequest_complete, distinct);
	*request = distinct;
}
