// Progress of nonblocking shared-memory collectives: by the calling thread, by every wait, and by the progress thread.
#include "base/wait.h"
#include "coll/nbc.h"
#include "coll/nbc_op.h"
#include "message/messages.h"

// The list of views with unfinished collectives. Any thread that makes progress walks the list. Any thread adds views.
// Only the thread that holds walk_lock removes them.
static struct {
	struct gompi_mutex lock; // guards the list; held briefly
	struct gompi_nbc *first;
	gompi_a32 count;                       // number of views in the list
	struct gompi_combining_lock walk_lock; // held while a thread walks the list
} active_nbcs;

static void list_nbc(struct gompi_nbc *b) {
	gompi_mutex_lock(&active_nbcs.lock);
	if (!b->is_listed) {
		b->is_listed = true;
		b->next = active_nbcs.first;
		active_nbcs.first = b;
		if (gompi_add_seq_cst(&active_nbcs.count, 1) == 0)
			gompi_messages_use_services(true);
	}
	gompi_mutex_unlock(&active_nbcs.lock);
}

void gompi_nbc_unlock(struct gompi_nbc *b) {
	if (gompi_combining_unlock(&b->lock))
		gompi_missed_post(&active_nbcs.walk_lock.missed);
}

// Removes b from the list and returns true. Keeps b and returns false if b has unfinished collectives, or if another
// thread holds the lock of b. The argument prev is the predecessor of b in the list, or NULL. The caller holds
// active_nbcs.lock.
static bool unlist_idle(struct gompi_nbc *b, struct gompi_nbc *prev) {
	if (!gompi_mutex_trylock(&b->lock.mutex))
		return false;
	bool idle = b->first == NULL;
	if (idle) {
		struct gompi_nbc **at = prev != NULL ? &prev->next : &active_nbcs.first;
		while (*at != b) // other threads may have prepended views meanwhile
			at = &(*at)->next;
		*at = b->next;
		b->is_listed = false;
		if (gompi_sub_seq_cst(&active_nbcs.count, 1) == 1)
			gompi_messages_use_services(false);
	}
	gompi_nbc_unlock(b);
	return idle;
}

static bool progress_listed(void) {
	bool worked = false;
	gompi_mutex_lock(&active_nbcs.lock);
	for (struct gompi_nbc *b = active_nbcs.first, *prev = NULL, *next; b != NULL; b = next) {
		gompi_mutex_unlock(&active_nbcs.lock);
		worked = gompi_nbc_progress(b) || worked;
		gompi_mutex_lock(&active_nbcs.lock);
		next = b->next;
		if (!unlist_idle(b, prev))
			prev = b;
	}
	gompi_mutex_unlock(&active_nbcs.lock);
	return worked;
}

// Returns true if there are views to serve. Returns false after MPI_Finalize, which has unmapped the memory of the
// remaining views.
static bool nbc_has_work(void) {
	return gompi_load(&active_nbcs.count) != 0 && gompi_load(&gompi_app_messages) != NULL;
}

static bool nbc_serve(void) {
	bool worked = false;
	if (!nbc_has_work())
		return false;
	while (gompi_combining_try_lock(&active_nbcs.walk_lock)) {
		worked = progress_listed() || worked;
		if (!gompi_combining_unlock(&active_nbcs.walk_lock))
			break;
	}
	return worked;
}

// Notifies the progress threads of processes that may have to act for this process' collectives. A wait that takes long
// calls this function.
static void nbc_notify_peers(void) {
	if (!nbc_has_work() || !gompi_mutex_trylock(&active_nbcs.walk_lock.mutex))
		return;
	gompi_mutex_lock(&active_nbcs.lock);
	for (struct gompi_nbc *b = active_nbcs.first; b != NULL; b = b->next) {
		if (!gompi_mutex_trylock(&b->lock.mutex)) // another thread makes progress with b
			continue;
		for (int i = 0; b->first != NULL && i < b->n; i++)
			if (i != b->me)
				gompi_cell_ring_doorbell(b->cell[i]);
		gompi_nbc_unlock(b);
	}
	gompi_mutex_unlock(&active_nbcs.lock);
	if (gompi_combining_unlock(&active_nbcs.walk_lock))
		nbc_serve();
}

void gompi_nbc_enqueue(struct gompi_nbc *b, struct gompi_nbc_op *s) {
	s->next = NULL;
	if (b->first == NULL)
		b->first = s;
	else
		b->tail->next = s;
	b->tail = s;
	if (__builtin_expect(!b->is_listed, 0))
		list_nbc(b);
}

// Removes the completed collectives from b and returns them as a list. Publishes in the field `finished` that this
// member has finished all collectives before its first unfinished one, or all that it has started.
static struct gompi_nbc_op *remove_completed(struct gompi_nbc *b) {
	struct gompi_nbc_op *completed = NULL, **to = &completed, *last = NULL;
	for (struct gompi_nbc_op **at = &b->first, *s; (s = *at) != NULL;) {
		if (s->state != NBC_COMPLETE) {
			last = s;
			at = &s->next;
			continue;
		}
		*at = s->next;
		*to = s;
		to = &s->next;
		s->next = NULL;
	}
	b->tail = last;
	uint64_t finished = b->first != NULL ? b->first->number / 2 - 1 : b->last_started;
	gompi_store_release(&b->member[b->me].finished, finished); // pairs with gompi_nbc_reserve_space
	return completed;
}

static void complete_ops(struct gompi_nbc_op *completed) {
	for (struct gompi_nbc_op *next; completed != NULL; completed = next) {
		next = completed->next;
		gompi_nbc_op_complete(completed);
	}
}

void gompi_nbc_abandon(struct gompi_nbc_op *s, int class) {
	struct gompi_nbc *b = s->nbc;
	gompi_mutex_lock(&b->lock.mutex);
	struct gompi_nbc_op *completed = NULL;
	if (s->state != NBC_COMPLETE) {
		gompi_set_error(&s->error, class, "%s", gompi_failure_text());
		s->state = NBC_COMPLETE;
		completed = remove_completed(b);
	}
	gompi_nbc_unlock(b);
	complete_ops(completed);
}

// Advances all collectives and releases the lock. Returns true if any completed. The caller must then check
// lock.missed.
static bool advance_all(struct gompi_nbc *b) {
	bool any_completed = false;
	b->space_pending = false;
	for (struct gompi_nbc_op *s = b->first; s != NULL; s = s->next)
		any_completed = gompi_nbc_op_advance(s) || any_completed;
	struct gompi_nbc_op *completed = any_completed ? remove_completed(b) : NULL;
	gompi_mutex_unlock(&b->lock.mutex);
	if (any_completed)
		gompi_nbc_notify(b, false); // space may have become free
	complete_ops(completed);
	return any_completed;
}

bool gompi_nbc_progress(struct gompi_nbc *b) {
	bool worked = false;
	while (gompi_combining_try_lock(&b->lock)) {
		worked = advance_all(b) || worked;
		if (!gompi_missed_consume(&b->lock.missed))
			break;
	}
	return worked;
}

void gompi_nbc_progress_locked(struct gompi_nbc *b) {
	advance_all(b);
	if (gompi_missed_consume(&b->lock.missed))
		gompi_nbc_progress(b);
}

void gompi_nbc_register_service(void) {
	static const struct gompi_service service = {
		.has_work = nbc_has_work, .serve = nbc_serve, .on_long_wait = nbc_notify_peers};
	gompi_service_add(&service);
}
