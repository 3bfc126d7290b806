// Calls of PMPI_X, which bypass other tools, for information that the wrappers need.
#ifndef GOMPI_INSIGHT_PMPI_H
#define GOMPI_INSIGHT_PMPI_H

#include "insight/record.h"

// Calls PMPI_X. Evaluates to the result of the call, or to MPI_ERR_OTHER if there is no function PMPI_X.
#define GOMPI_CALL_PMPI(name, ...)                                                        \
	({                                                                                \
		static _Atomic(void *) found;                                             \
		void *next = gompi_load(&found);                                          \
		if (next == NULL)                                                         \
			gompi_store(&found, next = gompi_insight_next_symbol("P" #name)); \
		next == NULL ? MPI_ERR_OTHER : ((__typeof__(name) *)next)(__VA_ARGS__);   \
	})

#endif
