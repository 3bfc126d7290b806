#include "coll/slots.h"

#include <stdlib.h>

#include "base/call.h"
#include "base/table.h"
#include "base/tuning.h"
#include "base/verdict.h"
#include "coll/protocol.h"

static struct gompi_spares spare_views = {sizeof(struct gompi_slots), offsetof(struct gompi_slots, next), NULL};

struct gompi_slots *gompi_slots_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner) {
	int32_t *list = malloc((size_t)n * sizeof *list);
	if (list == NULL)
		return NULL;
	memcpy(list, peers, (size_t)n * sizeof *list);
	struct gompi_slots *t = gompi_spares_take(&spare_views);
	if (t == NULL) {
		free(list);
		return NULL;
	}
	free(t->peers); // of the previous communicator of this view
	*t = (struct gompi_slots){.member = memory, .n = n, .me = me, .peers = list, .owner = owner};
	return t;
}

static int tell_by(struct gompi_slots *t, struct gompi_slots_call *c, struct gompi_slots_differ *differ) {
	c->name = gompi_call;
	int rc = gompi_slots_run(t, c);
	if (rc == GOMPI_SLOTS_DIFFER)
		*differ = c->differ;
	return rc;
}

int gompi_slots_tell(struct gompi_slots *t, int root, void *b, uint64_t bytes, struct gompi_slots_differ *differ) {
	struct gompi_slots_call c = {.kind = GOMPI_BCAST, .root = root, .bytes = bytes, .out = b};
	return tell_by(t, &c, differ);
}

int gompi_slots_tell_all(struct gompi_slots *t, const void *mine, void *all, uint64_t bytes,
			 struct gompi_slots_differ *differ) {
	struct gompi_slots_call c = {.kind = GOMPI_ALLGATHER, .bytes = bytes, .in = mine};
	c.outs = (struct gompi_blocks){.base = all, .stride = bytes};
	return tell_by(t, &c, differ);
}

void gompi_slots_clean(struct gompi_slots *t) {
	// Does not write words that are zero, so that cache lines of unused heads stay valid in the caches of other
	// members.
	for (int i = 0; i < t->n; i++) {
		struct gompi_slots_member *m = &t->member[i];
		if (gompi_load(&m->finished) != 0)
			gompi_store(&m->finished, 0);
		for (int k = 0; k < GOMPI_SLOT_HEADS; k++)
			if (gompi_load(&m->head[k].number) != 0)
				gompi_store(&m->head[k].number, 0);
	}
}

void gompi_slots_close(struct gompi_slots *t) { gompi_spares_give(&spare_views, t); }

const char *gompi_slots_text(int class) {
	if (class == MPI_ERR_PROC_ABORTED)
		return gompi_lost_text();
	return "a buffer in shared memory holds an unexpected operation (internal error)";
}

int gompi_slots_run(struct gompi_slots *t, struct gompi_slots_call *c) {
	c->differ.rank = -1;
	t->call = c->name != NULL ? c->name : ""; // NULL in the library's own calls
	switch (c->kind) {
	case GOMPI_BCAST:
		return gompi_slots_bcast(t, c);
	case GOMPI_REDUCE:
	case GOMPI_ALLREDUCE:
	case GOMPI_SCAN:
	case GOMPI_EXSCAN:
		return gompi_slots_reduce(t, c);
	case GOMPI_GATHER:
		return gompi_slots_gather(t, c);
	case GOMPI_SCATTER:
		return gompi_slots_scatter(t, c);
	case GOMPI_ALLGATHER:
		return gompi_slots_allgather(t, c);
	case GOMPI_ALLTOALL:
		return gompi_slots_alltoall(t, c);
	case GOMPI_REDUCE_SCATTER:
		return gompi_slots_reduce_scatter(t, c);
	case GOMPI_GATHERV:
		return gompi_slots_gatherv(t, c);
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
	case GOMPI_NEIGHBOR_ALLGATHER:
	case GOMPI_NEIGHBOR_ALLGATHERV:
	case GOMPI_NEIGHBOR_ALLTOALL:
	case GOMPI_NEIGHBOR_ALLTOALLV:
	case GOMPI_NEIGHBOR_ALLTOALLW:
		return gompi_slots_pairs(t, c);
	}
	return gompi_slots_agree(t, c, gompi_what(GOMPI_BARRIER, 0, 0), gompi_plan(0, 1));
}
