// Direct calls to the MPI library below all tools, for information that the wrappers need.
#ifndef GOMPI_INSIGHT_ASK_H
#define GOMPI_INSIGHT_ASK_H

#include "insight/record.h"

// Calls PMPI_X. Evaluates to its result, or to MPI_ERR_OTHER if there is no such function.
#define GOMPI_ASK(name, ...)                                                            \
	({                                                                              \
		static _Atomic(void *) found;                                           \
		void *next = gompi_load(&found);                                        \
		if (next == NULL)                                                       \
			gompi_store(&found, next = gompi_insight_symbol("P" #name));    \
		next == NULL ? MPI_ERR_OTHER : ((__typeof__(name) *)next)(__VA_ARGS__); \
	})

#endif
