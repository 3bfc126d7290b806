// Progress with boards: by the calling thread, by every wait, and by the progress thread.
#include "base/wait.h"
#include "coll/board.h"
#include "coll/started.h"
#include "message/messages.h"

// The boards with unfinished collectives, for any thread that serves the process. Any thread adds boards. Only the
// thread that holds walk removes them.
static struct {
	struct gompi_mutex lock; // guards the list; held briefly
	struct gompi_board *first;
	gompi_a32 listed;        // number of boards in the list
	struct gompi_mutex walk; // held while a thread walks the list
	gompi_a32 missed;        // a thread found walk held
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

// Removes b from the list if it has no collectives. prev is its predecessor, or NULL. The caller holds boards.lock.
static bool unlist_idle(struct gompi_board *b, struct gompi_board *prev) {
	if (!gompi_mutex_try(&b->lock))
		return false;
	bool idle = b->first == NULL;
	if (idle) {
		struct gompi_board **at = prev != NULL ? &prev->next : &boards.first;
		while (*at != b) // other threads may have prepended boards meanwhile
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

// Returns true if there are boards to serve. Returns false after MPI_Finalize, which has unmapped the memory of the
// remaining boards.
static bool boards_ready(void) { return gompi_load(&boards.listed) != 0 && gompi_load(&gompi_messages_here) != NULL; }

static bool serve_boards(void) {
	bool worked = false;
	if (!boards_ready())
		return false;
	do {
		gompi_store(&boards.missed, 0); // see gompi_board_progress
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

// Notifies the progress threads of processes that may have to act for our collectives. A wait that takes long calls it.
static void remind_boards(void) {
	if (!boards_ready() || !gompi_mutex_try(&boards.walk))
		return;
	gompi_mutex_take(&boards.lock);
	for (struct gompi_board *b = boards.first; b != NULL; b = b->next) {
		if (!gompi_mutex_try(&b->lock)) // another thread makes progress with it
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

// Moves completed collectives to a list and returns it. Publishes that this member has finished all collectives before
// its first unfinished one.
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

// Advances all collectives and releases the lock. Returns true if any completed.
static bool advance_all(struct gompi_board *b) {
	bool any = false;
	b->waits = false;
	for (struct gompi_started *s = b->first; s != NULL; s = s->next)
		any = gompi_started_advance(s) || any;
	struct gompi_started *over = any ? remove_over(b) : NULL;
	gompi_mutex_give(&b->lock);
	if (any)
		gompi_board_tell(b, false); // space may have become free
	for (struct gompi_started *next; over != NULL; over = next) {
		next = over->next;
		gompi_started_over(over);
	}
	return any;
}

bool gompi_board_progress(struct gompi_board *b) {
	bool worked = false;
	do {
		gompi_store(&b->missed, 0); // before the check of the work: acquiring the lock is a barrier
		if (__builtin_expect(!gompi_mutex_try(&b->lock), 0)) {
			// Fully ordered, with the load of missed after each unlock: the lock holder either sees missed,
			// or has released the lock before the second try. Otherwise the holder could read missed as 0
			// while the second try still fails, and no thread would make progress for this one.
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
