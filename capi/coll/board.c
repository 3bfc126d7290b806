#include "coll/board.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/up.h"
#include "coll/started.h"
#include "message/messages.h"

static struct gompi_spares spare_boards = {sizeof(struct gompi_board), offsetof(struct gompi_board, spare), NULL};

void gompi_board_close(struct gompi_board *b) { gompi_spares_give(&spare_boards, b); }

static bool boards_ready(void);
static bool serve_boards(void);
static void remind_boards(void);

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
	free(b->peers); // of the communicator that had the view before
	free(b->cell);
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
	gompi_store(&b->held, 0);
	static const struct gompi_service service = {
		.ready = boards_ready, .serve = serve_boards, .lasts = remind_boards};
	gompi_service_add(&service);
	return b;
}

void gompi_board_hold(struct gompi_board *b) { gompi_add(&b->held, 1); }

void gompi_board_let_go(struct gompi_board *b) {
	if (gompi_sub_total(&b->held, 1) == (BOARD_LEFT | 1))
		gompi_up.board_left(b->owner);
}

bool gompi_board_leave(struct gompi_board *b) { return gompi_or_total(&b->held, BOARD_LEFT) != 0; }

// The collective up to which all are to be settled before one with this number may fill what it needs.
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
			uint64_t now = gompi_load_acquire(&b->member[i].finished); // pairs with remove_over
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
	gompi_wake_fence(); // between what is new and the look who sleeps; to ring has a barrier of its own
	for (int i = 0; i < b->n; i++) {
		if (i == b->me)
			continue;
		gompi_wake_if_asleep(&b->cell[i]->wait);
		if (much)
			gompi_doorbell(b->cell[i]);
	}
}

// The boards that collectives are under way on, for whoever serves the process. Boards are added by anybody, and taken
// out by the one thread that goes through the list.
static struct {
	struct gompi_mutex lock; // of the list, for a moment
	struct gompi_board *first;
	gompi_a32 listed;        // how many
	struct gompi_mutex walk; // held by who goes through it
	gompi_a32 missed;        // a thread found it held
} boards;

static void list_board(struct gompi_board *b) {
	gompi_mutex_take(&boards.lock);
	if (!b->listed) {
		b->listed = true;
		b->next = boards.first;
		boards.first = b;
		if (gompi_add_total(&boards.listed, 1) == 0)
			gompi_messages_watch(true);
	}
	gompi_mutex_give(&boards.lock);
}

// Gives back a lock that was not taken to make progress; whoever wanted to meanwhile has left that to a walk.
static void give_board(struct gompi_board *b) {
	gompi_mutex_give(&b->lock);
	if (gompi_load_total(&b->missed) != 0)
		gompi_store_total(&boards.missed, 1);
}

// Takes b, which follows prev unless that is NULL, out of the list if there is nothing on it; the caller has the lock.
static bool unlist_idle(struct gompi_board *b, struct gompi_board *prev) {
	if (!gompi_mutex_try(&b->lock))
		return false;
	bool idle = b->first == NULL;
	if (idle) {
		struct gompi_board **at = prev != NULL ? &prev->next : &boards.first;
		while (*at != b) // others have come to the front meanwhile
			at = &(*at)->next;
		*at = b->next;
		b->listed = false;
		if (gompi_sub_total(&boards.listed, 1) == 1)
			gompi_messages_watch(false);
	}
	give_board(b);
	return idle;
}

static bool walk_boards(void) {
	bool worked = false;
	gompi_mutex_take(&boards.lock);
	for (struct gompi_board *b = boards.first, *prev = NULL, *next; b != NULL; b = next) {
		gompi_mutex_give(&boards.lock);
		worked = gompi_board_progress(b) || worked;
		gompi_mutex_take(&boards.lock);
		next = b->next;
		if (!unlist_idle(b, prev))
			prev = b;
	}
	gompi_mutex_give(&boards.lock);
	return worked;
}

// Whether there is anything, of a process that is not past MPI_Finalize, which has unmapped what is left.
static bool boards_ready(void) { return gompi_load(&boards.listed) != 0 && gompi_load(&gompi_messages_here) != NULL; }

static bool serve_boards(void) {
	bool worked = false;
	if (!boards_ready())
		return false;
	do {
		gompi_store(&boards.missed, 0); // as in gompi_board_progress
		if (!gompi_mutex_try(&boards.walk)) {
			gompi_store_total(&boards.missed, 1);
			if (!gompi_mutex_try(&boards.walk))
				return worked;
		}
		worked = walk_boards() || worked;
		gompi_mutex_give(&boards.walk);
	} while (gompi_load_total(&boards.missed) != 0);
	return worked;
}

// A wait lasts: those who have something to do for this process' collectives and compute are woken.
static void remind_boards(void) {
	if (!boards_ready() || !gompi_mutex_try(&boards.walk))
		return;
	gompi_mutex_take(&boards.lock);
	for (struct gompi_board *b = boards.first; b != NULL; b = b->next) {
		if (!gompi_mutex_try(&b->lock)) // somebody is at it
			continue;
		for (int i = 0; b->first != NULL && i < b->n; i++)
			if (i != b->me)
				gompi_doorbell(b->cell[i]);
		give_board(b);
	}
	gompi_mutex_give(&boards.lock);
	gompi_mutex_give(&boards.walk);
	if (gompi_load_total(&boards.missed) != 0)
		serve_boards();
}

void gompi_board_add(struct gompi_board *b, struct gompi_started *s) {
	s->next = NULL;
	if (b->first == NULL)
		b->first = s;
	else
		b->end->next = s;
	b->end = s;
	if (__builtin_expect(!b->listed, 0))
		list_board(b);
}

// Takes out those that are over, into a list, and says that this member is done with all before the first one left.
static struct gompi_started *remove_over(struct gompi_board *b) {
	struct gompi_started *over = NULL, **to = &over, *last = NULL;
	for (struct gompi_started **at = &b->first, *s; (s = *at) != NULL;) {
		if (s->state != STARTED_OVER) {
			last = s;
			at = &s->next;
			continue;
		}
		*at = s->next;
		*to = s;
		to = &s->next;
		s->next = NULL;
	}
	b->end = last;
	uint64_t finished = b->first != NULL ? b->first->number / 2 - 1 : b->last;
	gompi_store_release(&b->member[b->me].finished, finished); // pairs with gompi_board_room
	return over;
}

// Advances what can be advanced under the lock, and gives that back. Whether anything was over.
static bool advance_all(struct gompi_board *b) {
	bool any = false;
	b->waits = false;
	for (struct gompi_started *s = b->first; s != NULL; s = s->next)
		any = gompi_started_advance(s) || any;
	struct gompi_started *over = any ? remove_over(b) : NULL;
	gompi_mutex_give(&b->lock);
	if (any)
		gompi_board_tell(b, false); // there is room
	for (struct gompi_started *next; over != NULL; over = next) {
		next = over->next;
		gompi_started_over(over);
	}
	return any;
}

bool gompi_board_progress(struct gompi_board *b) {
	bool worked = false;
	do {
		gompi_store(&b->missed, 0); // before the looks: to take the lock is a barrier
		if (__builtin_expect(!gompi_mutex_try(&b->lock), 0)) {
			// Whoever is at it looks at missed when it has left. If that was before it was set, nobody is.
			gompi_store_total(&b->missed, 1);
			if (!gompi_mutex_try(&b->lock))
				return worked;
		}
		worked = advance_all(b) || worked;
	} while (gompi_load_total(&b->missed) != 0);
	return worked;
}

void gompi_board_progress_locked(struct gompi_board *b) {
	advance_all(b);
	if (gompi_load_total(&b->missed) != 0)
		gompi_board_progress(b);
}
