#include "coll/idup.h"

#include <stdlib.h>
#include <string.h>

#include "coll/nbc_op.h"

bool gompi_idup_start(uintptr_t comm, const void *draft, uintptr_t number, uintptr_t request) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)comm);
	size_t n = (size_t)c->size;
	struct gompi_idup *d = calloc(1, sizeof *d + n * sizeof d->peer_class[0]);
	if (d == NULL)
		return false;
	d->number = number;
	memcpy(d->draft, draft, sizeof d->draft);
	struct gompi_collective a = {.name = "MPI_Comm_idup", .kind = GOMPI_BCAST, .comm = comm};
	a.recv = (struct gompi_collective_side){
		.buf = (uintptr_t)d->draft, .count = sizeof d->draft, .type = (uintptr_t)MPI_BYTE};
	bool use_messages;
	struct gompi_nbc_op *s = gompi_nbc_op_new(c, &a, NULL, &use_messages);
	if (s == NULL) {
		free(d);
		return false;
	}
	s->kind = GOMPI_IDUP;
	s->idup = d;
	s->phases = c->rank == 0 && d->draft[0] != 0 ? 1 : 2;
	struct gompi_nbc_phase *phase = &s->phase[1];
	phase->kind = GOMPI_ALLGATHER;
	phase->in = (struct gompi_span){(char *)&d->class, sizeof d->class};
	for (size_t i = 0; i < n; i++)
		phase->outs[i] = (struct gompi_span){(char *)&d->peer_class[i], sizeof d->peer_class[i]};
	if (gompi_nbc_op_issue(s, &a, false, (MPI_Request *)request))
		return true;
	gompi_nbc_op_free(s);
	return false;
}
