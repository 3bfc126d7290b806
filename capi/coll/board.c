#include "coll/board.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/up.h"

static struct gompi_spares spare_boards = {sizeof(struct gompi_board), offsetof(struct gompi_board, spare), NULL};

void gompi_board_close(struct gompi_board *b) { gompi_spares_give(&spare_boards, b); }

void gompi_board_clean(struct gompi_board *b) {
	for (int i = 0; i < b->n; i++) {
		struct gompi_board_member *m = &b->member[i];
		if (gompi_load(&m->finished) != 0)
			gompi_store(&m->finished, 0);
		for (int k = 0; k < GOMPI_BOARD_HEADS; k++)
			if (gompi_load(&m->head[k].number) != 0)
				gompi_store(&m->head[k].number, 0);
	}
}

struct gompi_board *gompi_board_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner) {
	struct gompi_board *b = gompi_spares_take(&spare_boards);
	if (b == NULL)
		return NULL;
	free(b->peers); // of the previous communicator of this view
	free(b->cell);
	free(b->opened);
	b->peers = malloc((size_t)n * sizeof *b->peers);
	b->cell = malloc((size_t)n * sizeof *b->cell);
	if (b->peers == NULL || b->cell == NULL) {
		gompi_board_close(b);
		return NULL;
	}
	memcpy(b->peers, peers, (size_t)n * sizeof *peers);
	for (int i = 0; i < n; i++)
		b->cell[i] = gompi_cell(gompi_on_node(peers[i]));
	b->member = memory;
	b->n = n, b->me = me;
	b->last = b->settled = b->whole = 0;
	b->object = 0, b->owner = owner;
	b->initialized = 0, b->opened = NULL, b->parent = NULL;
	gompi_store(&b->held, 0);
	return b;
}

void gompi_board_hold(struct gompi_board *b) { gompi_add(&b->held, 1); }

void gompi_board_let_go(struct gompi_board *b) {
	if (gompi_sub_total(&b->held, 1) == (BOARD_LEFT | 1))
		gompi_up.board_left(b->owner);
}

bool gompi_board_leave(struct gompi_board *b) { return gompi_or_total(&b->held, BOARD_LEFT) != 0; }

// Returns the number of the collective that all members must have finished before collective number may use its space.
static uint64_t settled_for(const struct gompi_board *b, uint64_t number, enum gompi_board_space space) {
	static const uint64_t depth[] = {GOMPI_BOARD_HEADS, GOMPI_BOARD_BODIES, 1};
	uint64_t before = number > depth[space] ? number - depth[space] : 0;
	return space == BOARD_IN_BODY && b->whole > before ? b->whole : before;
}

bool gompi_board_room(struct gompi_board *b, uint64_t number, enum gompi_board_space space) {
	if (space != BOARD_IN_HEAD && b->waits)
		return false;
	uint64_t least = settled_for(b, number, space);
	if (__builtin_expect(least > b->settled, 0)) {
		uint64_t low = number - 1;
		for (int i = 0; i < b->n; i++) {
			// Acquire: pairs with the release in remove_over, so that a member has read this space before
			// it is refilled.
			uint64_t now = gompi_load_acquire(&b->member[i].finished);
			low = now < low ? now : low;
		}
		b->settled = low;
		if (least > low) {
			b->waits = true;
			return false;
		}
	}
	if (space == BOARD_IN_ALL)
		b->whole = number;
	return true;
}

void gompi_board_tell(struct gompi_board *b, bool much) {
	// Orders the change on the board before the checks for sleepers. Without it, a member could check the board
	// before the change and sleep, while this member reads its sleep flag before it is set. gompi_doorbell has a
	// barrier of its own.
	gompi_wake_fence();
	for (int i = 0; i < b->n; i++) {
		if (i == b->me)
			continue;
		gompi_wake_if_asleep(&b->cell[i]->wait);
		if (much)
			gompi_doorbell(b->cell[i]);
	}
}
