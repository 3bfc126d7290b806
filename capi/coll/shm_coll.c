#include "coll/shm_coll.h"

#include <stdlib.h>

#include "base/call_name.h"
#include "base/table.h"
#include "base/tuning.h"
#include "base/error_status.h"
#include "coll/protocol.h"

static struct gompi_free_list free_views = {sizeof(struct gompi_shm_coll), offsetof(struct gompi_shm_coll, next), NULL};

struct gompi_shm_coll *gompi_shm_coll_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner) {
	int32_t *list = malloc((size_t)n * sizeof *list);
	if (list == NULL)
		return NULL;
	memcpy(list, peers, (size_t)n * sizeof *list);
	struct gompi_shm_coll *t = gompi_free_list_alloc(&free_views);
	if (t == NULL) {
		free(list);
		return NULL;
	}
	free(t->peers); // array of the view's previous communicator
	*t = (struct gompi_shm_coll){.member = memory, .n = n, .me = me, .peers = list, .owner = owner};
	return t;
}

static int run_internal(struct gompi_shm_coll *t, struct gompi_coll_call *c, struct gompi_coll_mismatch *mismatch) {
	c->name = gompi_call_name;
	int rc = gompi_shm_run(t, c);
	if (rc == GOMPI_COLL_MISMATCH)
		*mismatch = c->mismatch;
	return rc;
}

int gompi_shm_bcast_internal(struct gompi_shm_coll *t, int root, void *b, uint64_t bytes,
			     struct gompi_coll_mismatch *mismatch) {
	struct gompi_coll_call c = {.kind = GOMPI_BCAST, .root = root, .bytes = bytes, .out = b};
	return run_internal(t, &c, mismatch);
}

int gompi_shm_allgather_internal(struct gompi_shm_coll *t, const void *mine, void *all, uint64_t bytes,
				 struct gompi_coll_mismatch *mismatch) {
	struct gompi_coll_call c = {.kind = GOMPI_ALLGATHER, .bytes = bytes, .in = mine};
	c.outs = (struct gompi_blocks){.base = all, .stride = bytes};
	return run_internal(t, &c, mismatch);
}

void gompi_shm_coll_reset(struct gompi_shm_coll *t) {
	// Does not write words that are zero, so that cache lines of unused headers stay valid in the caches of other
	// members.
	for (int i = 0; i < t->n; i++) {
		struct gompi_shm_member *m = &t->member[i];
		if (gompi_load(&m->finished) != 0)
			gompi_store(&m->finished, 0);
		for (int k = 0; k < GOMPI_SHM_HEADERS; k++)
			if (gompi_load(&m->header[k].number) != 0)
				gompi_store(&m->header[k].number, 0);
	}
}

void gompi_shm_coll_close(struct gompi_shm_coll *t) { gompi_free_list_put(&free_views, t); }

const char *gompi_shm_error_text(int class) {
	if (class == MPI_ERR_PROC_ABORTED)
		return gompi_failure_text();
	return "the shared memory of the communicator holds data of an unexpected collective call (internal error)";
}

int gompi_shm_run(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	c->mismatch.rank = -1;
	t->call_name = c->name != NULL ? c->name : ""; // NULL in the library's own calls
	switch (c->kind) {
	case GOMPI_BCAST:
		return gompi_shm_bcast(t, c);
	case GOMPI_REDUCE:
	case GOMPI_ALLREDUCE:
	case GOMPI_SCAN:
	case GOMPI_EXSCAN:
		return gompi_shm_reduce(t, c);
	case GOMPI_GATHER:
		return gompi_shm_gather(t, c);
	case GOMPI_SCATTER:
		return gompi_shm_scatter(t, c);
	case GOMPI_ALLGATHER:
		return gompi_shm_allgather(t, c);
	case GOMPI_ALLTOALL:
		return gompi_shm_alltoall(t, c);
	case GOMPI_REDUCE_SCATTER:
		return gompi_shm_reduce_scatter(t, c);
	case GOMPI_GATHERV:
		return gompi_shm_gatherv(t, c);
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
	case GOMPI_NEIGHBOR_ALLGATHER:
	case GOMPI_NEIGHBOR_ALLGATHERV:
	case GOMPI_NEIGHBOR_ALLTOALL:
	case GOMPI_NEIGHBOR_ALLTOALLV:
	case GOMPI_NEIGHBOR_ALLTOALLW:
		return gompi_shm_pairwise(t, c);
	}
	return gompi_shm_compare_calls(t, c, gompi_signature_word(GOMPI_BARRIER, 0, 0), gompi_format_word(0, 1));
}
