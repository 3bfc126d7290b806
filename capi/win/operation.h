// The arguments of a communication call on a window.
#ifndef GOMPI_OPERATION_H
#define GOMPI_OPERATION_H

#include <stdbool.h>

#include "base/abi.h"

enum gompi_rma_kind { RMA_PUT, RMA_GET, RMA_ACCUMULATE, RMA_GET_ACCUMULATE, RMA_FETCH_AND_OP, RMA_COMPARE_AND_SWAP };

struct gompi_operation {
	enum gompi_rma_kind kind;
	bool returns_request; // a request-based call (R-form), which returns a request
	MPI_Request *request; // where to store the request; an R-form with NULL is erroneous
	// Where a transport stores the state of an R-form that is still pending when the call returns
	// (transport/rma_request.h). NULL if no request may be left pending.
	struct gompi_rma_request **rma_request;
	// where gompi_record_path stores the operation's path (MPIX_GOMPIRMA_*); initially the direct path
	int *path;
	const char *call; // name of the function
	const void *origin, *compare;
	void *result; // result buffer; origin buffer of a get
	MPI_Count origin_count, result_count, target_count;
	MPI_Datatype origin_type, result_type, target_type;
	int target; // rank
	MPI_Aint disp;
	MPI_Op op;
	MPI_Win win;
};

// Records which path an operation takes.
static inline void gompi_record_path(const struct gompi_operation *o, int path) { *o->path = path; }

#endif
