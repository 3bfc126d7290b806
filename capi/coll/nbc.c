#include "coll/nbc.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/go_callbacks.h"

static struct gompi_free_list free_nbcs = {sizeof(struct gompi_nbc), offsetof(struct gompi_nbc, next_free), NULL};

void gompi_nbc_close(struct gompi_nbc *b) { gompi_free_list_put(&free_nbcs, b); }

void gompi_nbc_reset(struct gompi_nbc *b) {
	for (int i = 0; i < b->n; i++) {
		struct gompi_nbc_member *m = &b->member[i];
		if (gompi_load(&m->finished) != 0)
			gompi_store(&m->finished, 0);
		for (int k = 0; k < GOMPI_NBC_HEADERS; k++)
			if (gompi_load(&m->header[k].number) != 0)
				gompi_store(&m->header[k].number, 0);
	}
}

struct gompi_nbc *gompi_nbc_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner) {
	struct gompi_nbc *b = gompi_free_list_alloc(&free_nbcs);
	if (b == NULL)
		return NULL;
	free(b->peers); // arrays of the communicator that used this view before
	free(b->cell);
	free(b->mapped);
	b->peers = malloc((size_t)n * sizeof *b->peers);
	b->cell = malloc((size_t)n * sizeof *b->cell);
	if (b->peers == NULL || b->cell == NULL) {
		gompi_nbc_close(b);
		return NULL;
	}
	memcpy(b->peers, peers, (size_t)n * sizeof *peers);
	for (int i = 0; i < n; i++)
		b->cell[i] = gompi_cell(gompi_local_index(peers[i]));
	b->member = memory;
	b->n = n, b->me = me;
	b->last_started = b->acked = b->last_in_all_bodies = 0;
	b->object = 0, b->owner = owner;
	b->init_count = 0, b->mapped = NULL, b->parent = NULL;
	gompi_store(&b->references, 0);
	return b;
}

void gompi_nbc_acquire(struct gompi_nbc *b) { gompi_add(&b->references, 1); }

void gompi_nbc_release(struct gompi_nbc *b) {
	if (gompi_sub_seq_cst(&b->references, 1) == (NBC_COMM_FREED | 1))
		gompi_go_callbacks.release_comm(b->owner);
}

bool gompi_nbc_comm_freed(struct gompi_nbc *b) { return gompi_or_seq_cst(&b->references, NBC_COMM_FREED) != 0; }

// Returns the number of the last earlier collective that may use the same space as the collective `number`. All members
// must have finished it before the space is refilled.
static uint64_t required_acked(const struct gompi_nbc *b, uint64_t number, enum gompi_nbc_space space) {
	static const uint64_t depth[] = {GOMPI_NBC_HEADERS, GOMPI_NBC_BODIES, 1};
	uint64_t before = number > depth[space] ? number - depth[space] : 0;
	return space == NBC_IN_BODY && b->last_in_all_bodies > before ? b->last_in_all_bodies : before;
}

bool gompi_nbc_reserve_space(struct gompi_nbc *b, uint64_t number, enum gompi_nbc_space space) {
	if (space != NBC_IN_HEADER && b->space_pending)
		return false;
	uint64_t min_acked = required_acked(b, number, space);
	if (__builtin_expect(min_acked > b->acked, 0)) {
		uint64_t min_finished = number - 1;
		for (int i = 0; i < b->n; i++) {
			// Acquire: pairs with the release in remove_completed, so that the other member has read this
			// space before this member refills it.
			uint64_t finished = gompi_load_acquire(&b->member[i].finished);
			min_finished = finished < min_finished ? finished : min_finished;
		}
		b->acked = min_finished;
		if (min_acked > min_finished) {
			b->space_pending = true;
			return false;
		}
	}
	if (space == NBC_IN_ALL_BODIES)
		b->last_in_all_bodies = number;
	return true;
}

void gompi_nbc_notify(struct gompi_nbc *b, bool wake_progress) {
	// Orders the change of the area before the checks for sleepers. Without the fence, this member could read the
	// sleep flag of another member before that member sets the flag. The other member could then check the area
	// before the change, and sleep. gompi_cell_ring_doorbell has a barrier of its own.
	gompi_wake_fence();
	for (int i = 0; i < b->n; i++) {
		if (i == b->me)
			continue;
		gompi_wake_if_asleep(&b->cell[i]->wait);
		if (wake_progress)
			gompi_cell_ring_doorbell(b->cell[i]);
	}
}
