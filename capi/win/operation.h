// A communication call on a window, as the application made it.
#ifndef GOMPI_OPERATION_H
#define GOMPI_OPERATION_H

#include <stdbool.h>

#include "base/abi.h"

enum gompi_kind { RMA_PUT, RMA_GET, RMA_ACCUMULATE, RMA_GET_ACCUMULATE, RMA_FETCH_AND_OP, RMA_COMPARE_AND_SWAP };

struct gompi_operation {
	enum gompi_kind kind;
	bool requests;        // one of the R-forms
	MPI_Request *request; // where its request goes; NULL: nowhere, which is an error of an R-form
	// Where what an R-form leaves under way is made when it is needed (transport/ongoing.h); NULL: nothing may be.
	struct gompi_ongoing **ongoing;
	int *way;         // where its way is written down, unless that is the direct one; NULL: nobody asks
	const char *call; // name of the function
	const void *origin, *compare;
	void *result; // also the origin buffer of a get
	MPI_Count origin_count, result_count, target_count;
	MPI_Datatype origin_type, result_type, target_type;
	int target; // rank
	MPI_Aint disp;
	MPI_Op op;
	MPI_Win win;
};

// Says which way an operation takes.
static inline void gompi_takes(const struct gompi_operation *o, int way) {
	if (__builtin_expect(o->way != NULL, 0))
		*o->way = way;
}

#endif
