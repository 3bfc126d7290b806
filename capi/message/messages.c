#define _GNU_SOURCE
#include "message/messages.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>

#include "base/call.h"
#include "base/up.h"
#include "comm/comm.h"
#include "message/away.h"
#include "message/plan.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14
#endif

enum { MOST_MAPPED_AT_ONCE = 16 }; // processes of a node: 16 MiB of their inboxes

struct gompi_messages *_Atomic gompi_messages_here;

static struct gompi_inbox *inbox_of(struct gompi_messages *m, int process, int lane) {
	return (struct gompi_inbox *)(m->node.message_rings + (size_t)process * m->node.message_stride +
				      (size_t)lane * GOMPI_INBOX_SIZE);
}

// A page of this process with a number that peers read to find out whether they can, and whether the process that they
// read is this one: in another namespace the same process id may be somebody else.
static bool open_probe(struct gompi_messages *m) {
	m->probe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->probe == MAP_FAILED || getrandom(m->probe, sizeof *m->probe, 0) != sizeof *m->probe)
		return false;
	struct gompi_inbox *b = m->lane[0].box;
	gompi_store(&b->token, *m->probe);
	gompi_store_release(&b->probe, (uint64_t)(uintptr_t)m->probe);
	// Where Yama lets only ancestors read a process' memory, this lets the peers, too. It fails where there is no
	// Yama.
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return true;
}

struct gompi_messages *gompi_messages_open(const struct gompi_node *node, bool no_cma) {
	struct gompi_messages *m = aligned_alloc(GOMPI_LINE, sizeof *m);
	if (m == NULL)
		return NULL;
	memset(m, 0, sizeof *m);
	m->node = *node;
	m->no_cma = no_cma;
	for (int i = 0; i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
		l->home = m;
		l->box = inbox_of(m, node->me, i);
		l->head = l->announced = gompi_load(&l->box->head);
		l->at = gompi_inbox_place(l->box, l->head);
		if (getrandom(&l->key, sizeof l->key, 0) != sizeof l->key)
			return NULL;
		gompi_store(&l->box->key, l->key);
		gompi_store(&l->expected, l->key + l->head);
		gompi_store(&l->next, l->at);
		l->picked.messages = true;
		l->links = calloc((size_t)node->n + 1, sizeof *l->links);
		if (l->links == NULL)
			return NULL;
		l->links++;
	}
	gompi_away_open(m);
	return open_probe(m) ? m : NULL;
}

void gompi_messages_close(struct gompi_messages *m) {
	for (int i = 0; i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
		for (int k = 0; k < m->node.n; k++)
			free(gompi_load(&l->links[k]));
		free(l->links - 1);
		gompi_queues_close(&l->queues);
		gompi_requests_close(&l->requests);
		free(l->sends.at);
		free(l->receives.at);
		for (struct gompi_message *s = l->spare, *next; s != NULL; s = next) {
			next = s->next;
			free(s->data);
			free(s->more);
			free(s);
		}
		for (struct gompi_pending *w = l->spare_pending, *next; w != NULL; w = next) {
			next = w->next;
			free(w);
		}
	}
	gompi_away_close(m);
	munmap(m->probe, 4096);
	free(m);
}

struct gompi_link *gompi_link_slow(struct gompi_lane *l, int process, int world) {
	struct gompi_messages *m = l->home;
	if (process < 0)
		return gompi_away_link(l, world);
	struct gompi_link *p = gompi_must_have(sizeof *p), *other = NULL;
	p->box = inbox_of(m, process, (int)(l - m->lane));
	p->world = world;
	p->process = process;
	p->cell = gompi_messages_cell(m, process);
	// Else the first 4,000 messages would take a fault every 64: 0.84 us instead of 0.62. Only that is lost. What
	// is mapped is told as this process' memory: not where it would be much.
	if (m->node.n <= MOST_MAPPED_AT_ONCE)
		madvise(p->box, GOMPI_INBOX_SIZE, MADV_POPULATE_WRITE);
	if (!gompi_change_once(&l->links[process], &other, p)) {
		free(p);
		return other;
	}
	return p;
}

// Gives room back to those who send.
static void announce(struct gompi_lane *l) {
	gompi_store(&l->expected, l->key + l->head);
	gompi_store(&l->next, l->at);
	l->announced = l->head;
	gompi_inbox_announce(l->box, l->head);
}

// Tells those who wait for room. It does so with a record, since whoever serves them looks at their inbox only. If
// there is no room for the record, there is something to look at.
void gompi_lane_tell_room(struct gompi_lane *l) {
	struct gompi_messages *m = l->home;
	if (!gompi_inbox_tells(l->box))
		return;
	for (int i = -1; (i = gompi_inbox_waiting(l->box, i + 1, m->node.n)) >= 0;) {
		if (i == m->node.me)
			continue;
		struct gompi_inbox *theirs = inbox_of(m, i, (int)(l - m->lane));
		gompi_a64 head = gompi_load(&theirs->head);
		struct gompi_room room = gompi_inbox_reserve(theirs, &head, RECORD_SIZE);
		if (room.record != NULL) {
			room.record->from = m->node.self;
			gompi_inbox_publish(room, gompi_record_word(RECORD_ROOM, 0, RECORD_SIZE));
		}
		gompi_wake(&gompi_messages_cell(m, i)->wait);
		gompi_doorbell(gompi_messages_cell(m, i));
	}
}

// Nothing in a record is trusted, and no byte that decides is read twice.
static inline __attribute__((always_inline)) void do_record(struct gompi_lane *l, const struct gompi_record *h,
							    const char *payload) {
	struct gompi_request *r;
	switch (gompi_record_kind(h->word)) {
	case RECORD_EAGER:
	case RECORD_RTS:
		gompi_arrive(l, h, payload);
		break;
	case RECORD_CTS:
		gompi_clear_to_send(l, h);
		break;
	case RECORD_PIECE:
		gompi_piece(l, h, payload);
		break;
	case RECORD_ACK:
		gompi_acknowledged(l, h);
		break;
	case RECORD_ROOM:
		l->must_flush = l->must_flush || gompi_load(&l->backlog) > 0;
		break;
	case RECORD_CANCEL:
		gompi_unwanted(l, h);
		break;
	case RECORD_LOOK:
		gompi_wanted(l, h);
		break;
	case RECORD_GONE:
		r = gompi_number_get(&l->sends, h->id);
		if (r != NULL && r->to != NULL && r->to->world == h->from)
			gompi_lost(l, r);
		break;
	case RECORD_FLOW:
		gompi_away_flow(l, h);
		break;
	case RECORD_PAD:
	case RECORD_KINDS:
		break;
	}
}

void gompi_handle_record(struct gompi_lane *l, const struct gompi_record *h, const char *payload) {
	if (gompi_messages_process(l->home, h->from) >= 0)
		do_record(l, h, payload);
}

void gompi_do_record(struct gompi_lane *l, const struct gompi_record *h, const char *payload) {
	do_record(l, h, payload);
}

enum {
	SERIES = 4,             // records taken at once that are a series
	AHEAD = 4 * GOMPI_LINE, // how far ahead the next ones of a series are fetched
};

// Takes all records that there are. It looks once more after it has announced the new head: a thread that found nothing
// at the old one may have gone to sleep over what came meanwhile. Once a receive has its data those behind may stay
// where they are, and need not be kept elsewhere until they are received, too; one that is only matched looks on, since
// the sender's word that it waits may be there. NULL: none may stay.
static inline __attribute__((always_inline)) bool drain(struct gompi_lane *l, const struct gompi_request *receive) {
	struct gompi_inbox *b = l->box;
	uint64_t there = 0; // records are known to be there up to this position
	unsigned taken = 0;
	if (__builtin_expect(gompi_load(&l->broken) != 0, 0))
		return false;
	for (;;) {
		char *at = l->at;
		if (!gompi_inbox_has(at, l->key + l->head)) {
			if (l->head == l->announced)
				return taken > 0;
			announce(l);
			continue;
		}
		struct gompi_record h;
		memcpy(&h, at, sizeof h);
		if (__builtin_expect(gompi_inbox_damaged(b, h.word, at), 0)) {
			gompi_store_total(&l->broken, MPI_ERR_INTERN);
			l->completed = true; // who waits for anything shall look
			return taken > 0;
		}
		// In a series the lines of the next records are on their way while this one is handled. Not before:
		// what is not written yet would be taken away from who is about to.
		if (++taken % SERIES == 0)
			there = gompi_load(&b->tail);
		if (l->head + AHEAD < there && at + AHEAD < b->data + INBOX_DATA)
			__builtin_prefetch(at + AHEAD);
		if (__builtin_expect(gompi_record_kind(h.word) != RECORD_PAD, 1))
			gompi_handle_record(l, &h,
					    gompi_record_data((struct gompi_record *)at,
							      gompi_record_data_size(gompi_record_length(h.word))));
		l->at = gompi_inbox_after(b, at, gompi_record_length(h.word));
		l->head += (uint64_t)gompi_lines(gompi_record_length(h.word));
		if (l->head - l->announced >= INBOX_DATA / 4)
			announce(l);
		if (receive != NULL && gompi_load(&receive->state) != REQUEST_ACTIVE)
			return true;
	}
}

bool gompi_lane_drain(struct gompi_lane *l) { return drain(l, NULL); }

void gompi_lane_receive(struct gompi_lane *l, const struct gompi_request *r) {
	if (gompi_inbox_has(l->at, l->key + l->head) && gompi_load(&r->state) == REQUEST_ACTIVE)
		drain(l, r);
}

// gompi_lane_progress with the lock. It gives the lock away while it copies, and between the pieces that it sends.
static bool progress_locked(struct gompi_lane *l) {
	bool worked = gompi_lane_drain(l);
	for (;;) {
		bool again = false;
		if (__builtin_expect(l->must_flush || gompi_load(&l->backlog) > 0, 0)) {
			l->must_flush = false;
			again = gompi_flush_behind(l);
		}
		if (__builtin_expect(l->work != NULL, 0)) {
			struct gompi_request *r = l->work;
			l->work = r->next;
			if (l->work == NULL) {
				gompi_store_total(&l->working, 0);
				l->due = false;
			}
			gompi_pull_pieces(l, r);
			again = true;
		} else if (!again) {
			return worked;
		}
		again = gompi_lane_drain(l) || again;
		worked = worked || again;
		if (!again)
			return worked;
	}
}

static bool try_lane(struct gompi_lane *l) {
	if (gompi_mutex_try(&l->lock))
		return true;
	// The thread that has the lock looks at missed after it has given it away. If it did so before it was set, the
	// lock is free now.
	gompi_store_total(&l->missed, 1);
	gompi_full_fence();
	return gompi_mutex_try(&l->lock);
}

void gompi_lane_missed(struct gompi_lane *l) {
	while (gompi_load_total(&l->missed) != 0 && gompi_swap_total(&l->missed, 0) != 0) {
		if (!try_lane(l))
			return;
		progress_locked(l);
		gompi_lane_let_go(l);
	}
}

bool gompi_lane_progress(struct gompi_lane *l) {
	if (!try_lane(l))
		return false;
	bool worked = progress_locked(l);
	gompi_lane_give(l);
	return worked;
}

bool gompi_messages_progress(struct gompi_messages *m) {
	bool worked = false;
	for (struct gompi_lane *l = m->lane; l < m->lane + GOMPI_LANES; l++)
		if (gompi_lane_ready(l))
			worked = gompi_lane_progress(l) || worked;
	return worked;
}

bool gompi_messages_progress_all(struct gompi_messages *m) {
	bool worked = false;
	for (struct gompi_lane *l = m->lane; l < m->lane + GOMPI_LANES; l++)
		worked = gompi_lane_progress(l) || worked;
	return worked;
}

void gompi_lane_end(struct gompi_lane *l) {
	if (__builtin_expect(l->work != NULL || l->must_flush, 0))
		progress_locked(l);
	gompi_lane_give(l);
}

void gompi_lane_end_started(struct gompi_lane *l) {
	if (__builtin_expect(l->due, 0)) {
		progress_locked(l);
	} else if (__builtin_expect(l->must_flush, 0)) {
		l->must_flush = false;
		gompi_flush_behind(l);
	}
	if (__builtin_expect(l->work != NULL, 0))
		l->completed = true;
	gompi_lane_give(l);
}

void gompi_complete_slow(struct gompi_lane *l, struct gompi_request *r) {
	if (r->fetches != NULL) {
		gompi_fetched(l, r, r->result.class);
		return;
	}
	if (r->freed) {
		gompi_request_give(r);
		return;
	}
	struct gompi_messages *m = l->home;
	l->completed = true;
	gompi_store_release(&r->state, REQUEST_COMPLETE);
	if (gompi_load(&m->hooks) >= HOOK_PLANS)
		gompi_store_total(&m->stepped, 1);
}

bool gompi_messages_step(struct gompi_messages *m) {
	uint32_t hooks = gompi_load(&m->hooks);
	if (hooks < HOOK_PLANS) { // what could go on is over; who has begun meanwhile goes on
		gompi_store_total(&m->stepped, 0);
		if (gompi_load_total(&m->hooks) >= HOOK_PLANS)
			gompi_store_total(&m->stepped, 1);
		return false;
	}
	bool plans = (hooks & HOOK_PLANS) != 0, worked = plans && gompi_plans_step(m);
	if (hooks >= HOOK) {
		worked = gompi_up.progress_messages() || worked;
		worked = (plans && gompi_plans_step(m)) || worked; // Go has taken back that something has completed
	}
	return worked;
}

// The application's messages as a service of every wait.

static bool arrived(void) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m == NULL)
		return false;
	for (int i = 0; i < GOMPI_LANES; i++)
		if (gompi_lane_ready(&m->lane[i]))
			return true;
	uint32_t hooks = gompi_load(&m->hooks);
	return hooks >= HOOK || ((hooks & HOOK_PLANS) != 0 && gompi_plans_ready(m));
}

static bool move(void) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m == NULL)
		return false;
	bool worked = gompi_messages_progress_all(m);
	if (gompi_load(&m->hooks) >= HOOK_PLANS)
		worked = gompi_messages_step(m) || worked;
	return worked;
}

static void lasts(void) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m != NULL)
		gompi_messages_remind(m);
}

// The next record of a process' inbox if its room has been taken and it has no seal.
static uint64_t unsealed(int process) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	for (int i = 0; m != NULL && i < GOMPI_LANES; i++) {
		struct gompi_inbox *b = inbox_of(m, process, i);
		uint64_t head = gompi_load_total(&b->head);
		if (gompi_load_total(&b->tail) > head &&
		    !gompi_inbox_has(gompi_inbox_place(b, head), gompi_load(&b->key) + head))
			return head * GOMPI_LANES + (uint64_t)i + 1;
	}
	return 0;
}

// The members of communicators whose every member C knows.
static int comm_member(uint64_t object, int i) {
	const struct gompi_comm *c = gompi_comm_get((MPI_Comm)(uintptr_t)object);
	return c == NULL || c->inter || i >= c->peers.n ? -1 : gompi_ranks_at(&c->peers, i);
}

// So many rooms have requests under way that a service of theirs advances.
static gompi_a32 served;

void gompi_messages_enter(struct gompi_messages *m) {
	if (gompi_load(&served) != 0)
		gompi_or_total(&m->hooks, HOOK_SERVED);
	static const struct gompi_service service = {
		.ready = arrived, .serve = move, .lasts = lasts, .member = comm_member, .stuck = unsealed};
	gompi_store_release(&gompi_messages_here, m);
	gompi_service_add(&service);
}

void gompi_messages_leave(void) { gompi_store_release(&gompi_messages_here, NULL); }

void gompi_messages_watch(bool on) {
	uint32_t before = on ? gompi_add_total(&served, 1) : gompi_sub_total(&served, 1);
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m == NULL)
		return;
	if (!on && before == 1)
		gompi_and_total(&m->hooks, ~(uint32_t)HOOK_SERVED);
	if (gompi_load_total(&served) != 0)
		gompi_or_total(&m->hooks, HOOK_SERVED);
}
