// The values of the predefined attributes of communicators. Go sets them when MPI is initialized.
#ifndef GOMPI_COMM_ATTRIBUTES_H
#define GOMPI_COMM_ATTRIBUTES_H

#include <stdbool.h>

#include "attribute/attribute.h"

#pragma GCC visibility push(hidden)

struct gompi_comm_predefined {
	int tag_ub, host, io, wtime_is_global, appnum, fault_tolerant;
	int universe_size; // 0 if unknown
	bool has_appnum;
};
extern struct gompi_comm_predefined gompi_comm_predefined;

#pragma GCC visibility pop
#endif
