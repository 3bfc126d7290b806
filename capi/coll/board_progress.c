// Progress with what is on boards: by who calls, by every wait, by the progress thread.
#include "base/wait.h"
#include "coll/board.h"
#include "coll/started.h"
#include "message/messages.h"

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

void gompi_board_unlock(struct gompi_board *b) {
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
	gompi_board_unlock(b);
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

// Returns true if there is anything, of a process that is not past MPI_Finalize, which has unmapped what is left.
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
		gompi_board_unlock(b);
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

// Advances what can be advanced under the lock, and gives that back. Returns true if anything was over.
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

void gompi_boards_serve(void) {
	static const struct gompi_service service = {
		.ready = boards_ready, .serve = serve_boards, .lasts = remind_boards};
	gompi_service_add(&service);
}
