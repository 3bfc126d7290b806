#include "base/verdict.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/node.h"
#include "base/up.h"

int gompi_wrong(struct gompi_verdict *v, int class, const char *text, ...) {
	va_list ap;
	va_start(ap, text);
	vsnprintf(v->text, sizeof v->text, text, ap);
	va_end(ap);
	return v->class = class;
}

// The first rank of this node that has been found dead, -1: none has.
static int dead_here(void) {
	for (int rank = 0; rank < gompi_node.size; rank++) {
		int i = gompi_on_node(rank);
		if (i >= 0 && gompi_load(&gompi_cell(i)->state) == GOMPI_STATE_DEAD)
			return rank;
	}
	return -1;
}

const char *gompi_lost_text(void) {
	static _Thread_local char text[240];
	char host[80];
	const struct gompi_header *h = gompi_header();
	const int near = h == NULL ? -1 : dead_here();
	if (near >= 0) {
		snprintf(text, sizeof text, "rank %d of MPI_COMM_WORLD (pid %d) ended without calling MPI_Finalize",
			 near, (int)gompi_load(&gompi_cell(gompi_on_node(near))->pid));
		return text;
	}
	const int rank = h == NULL ? -1 : (int)gompi_load(&h->lost) - 1;
	if (rank < 0 || gompi_up.host_of == NULL)
		return "a process of the job ended without calling MPI_Finalize while this one waited for it";
	const char *why = "ended without calling MPI_Finalize";
	switch (gompi_load(&h->lost_why)) {
	case GOMPI_LOST_CONNECTION:
		why = "has ended without calling MPI_Finalize, or its network has: the connection is gone";
		break;
	case GOMPI_LOST_SILENT:
		why = "has not been heard of for longer than GOMPIRMA_PEER_TIMEOUT allows";
		break;
	case GOMPI_LOST_UNREACHABLE:
		why = "cannot be reached over the network by a process of this one";
		break;
	case GOMPI_LOST_SILENT_NODE:
		why = "and its whole node, has not been heard of for longer than GOMPIRMA_PEER_TIMEOUT allows";
		break;
	}
	gompi_up.host_of(rank, host, sizeof host);
	snprintf(text, sizeof text, "rank %d of MPI_COMM_WORLD, on host %s, %s", rank, host, why);
	return text;
}

int gompi_refuse(int class, const char *name, const char *text, int kind, uintptr_t object) {
	return gompi_up.raise(class, name, text, kind, object);
}

int gompi_no_place(const char *name, int kind, uintptr_t object) {
	return gompi_refuse(MPI_ERR_ARG, name, "the address of a result is NULL", kind, object);
}
