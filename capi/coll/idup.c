#include "coll/idup.h"

#include <stdlib.h>
#include <string.h>

#include "coll/started.h"

bool gompi_idup_start(uintptr_t comm, const void *told, uintptr_t number, uintptr_t request) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)comm);
	size_t n = (size_t)c->size;
	struct gompi_idup *d = calloc(1, sizeof *d + n * sizeof d->worst[0]);
	if (d == NULL)
		return false;
	d->number = number;
	memcpy(d->told, told, sizeof d->told);
	struct gompi_collective a = {.name = "MPI_Comm_idup", .kind = GOMPI_BCAST, .comm = comm};
	a.recv = (struct gompi_side){.buf = (uintptr_t)d->told, .count = sizeof d->told, .type = (uintptr_t)MPI_BYTE};
	bool other;
	struct gompi_started *s = gompi_started_make(c, &a, &other);
	if (s == NULL) {
		free(d);
		return false;
	}
	s->kind = GOMPI_IDUP;
	s->idup = d;
	s->parts = c->rank == 0 && d->told[0] != 0 ? 1 : 2;
	struct gompi_part_of_call *how = &s->part[1];
	how->kind = GOMPI_ALLGATHER;
	how->in = (struct gompi_piece){(char *)&d->class, sizeof d->class};
	for (size_t i = 0; i < n; i++)
		how->outs[i] = (struct gompi_piece){(char *)&d->worst[i], sizeof d->worst[i]};
	if (gompi_started_issue(s, &a, false, (MPI_Request *)request))
		return true;
	gompi_started_drop(s);
	return false;
}
