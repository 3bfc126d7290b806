// Distinct requests. All operations that are complete when their call returns may share one predefined handle. Other
// handles are not reused before millions of other requests have been created. --check must know which operation a call
// completes, so it gives each operation a request of its own.

#include "insight/ask.h"

static int query_complete(void *extra, MPI_Status *status) {
	(void)extra;
	status->MPI_SOURCE = MPI_ANY_SOURCE;
	status->MPI_TAG = MPI_ANY_TAG;
	(void)GOMPI_ASK(MPI_Status_set_elements_c, status, MPI_BYTE, 0);
	return GOMPI_ASK(MPI_Status_set_cancelled, status, 0);
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
	enum { FIRST_MADE = 0x1000 }; // smaller handles are predefined
	MPI_Request own = MPI_REQUEST_NULL;
	if (!(t->mode & GOMPI_INSIGHT_MODE_ACCESSES) || request == NULL || (uintptr_t)*request >= FIRST_MADE ||
	    *request == MPI_REQUEST_NULL ||
	    GOMPI_ASK(MPI_Grequest_start, query_complete, free_complete, cancel_complete, NULL, &own) != MPI_SUCCESS)
		return;
	(void)GOMPI_ASK(MPI_Grequest_complete, own);
	*request = own;
}
