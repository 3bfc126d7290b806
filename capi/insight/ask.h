// What wrappers ask themselves they ask the library below all tools.
#ifndef GOMPI_INSIGHT_ASK_H
#define GOMPI_INSIGHT_ASK_H

#include "insight/record.h"

// Calls PMPI_X.
#define GOMPI_ASK(name, ...)                                                            \
	({                                                                              \
		static _Atomic(void *) found;                                           \
		void *next = gompi_load(&found);                                        \
		if (next == NULL)                                                       \
			gompi_store(&found, next = gompi_insight_symbol("P" #name));    \
		next == NULL ? MPI_ERR_OTHER : ((__typeof__(name) *)next)(__VA_ARGS__); \
	})

#endif
