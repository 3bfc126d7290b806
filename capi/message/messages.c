#define _GNU_SOURCE
#include "message/messages.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/call.h"
#include "base/random.h"
#include "base/up.h"
#include "comm/comm.h"
#include "message/plan.h"
#include "message/remote.h"

// Creates a page with a random number, and publishes its address and the number. Peers read the page to find out
// whether process_vm_readv works and whether it reaches this process: in another pid namespace the same pid may be
// another process.
static bool open_probe(struct gompi_messages *m) {
	m->probe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->probe == MAP_FAILED || !gompi_random(m->probe, sizeof *m->probe))
		return false;
	struct gompi_inbox *b = m->lane[0].box;
	gompi_store(&b->token, *m->probe);
	gompi_store_release(&b->probe, (uint64_t)(uintptr_t)m->probe);
	// Where Yama permits only ancestors to read a process' memory, this permits the peers too. It fails where there
	// is no Yama, which is harmless.
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return true;
}

struct gompi_messages *gompi_messages_open(const struct gompi_node *node, bool no_cma) {
	struct gompi_messages *m = gompi_memory_is_low() ? NULL : aligned_alloc(GOMPI_LINE, sizeof *m);
	if (m == NULL)
		return NULL;
	memset(m, 0, sizeof *m);
	m->node = *node;
	m->no_cma = no_cma;
	m->progress = gompi_progress_locked;
	for (int i = 0; i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
		l->home = m;
		gompi_requests_open(&l->requests, i);
		l->box = gompi_inbox_of(m, node->me, i);
		l->head = l->announced = gompi_load(&l->box->head);
		l->at = gompi_inbox_place(l->box, l->head);
		if (!gompi_random(&l->key, sizeof l->key))
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
	gompi_remote_open(m);
	return open_probe(m) ? m : NULL;
}

static void free_pending(struct gompi_pending *w) {
	for (struct gompi_pending *next; w != NULL; w = next) {
		next = w->next;
		free(w);
	}
}

void gompi_messages_close(struct gompi_messages *m) {
	for (int i = 0; i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
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
		free_pending(l->spare_pending);
		free_pending(l->questions);
		gompi_remote_close(l);
	}
	gompi_links_close(m);
	munmap(m->probe, 4096);
	free(m);
}

bool gompi_messages_step(struct gompi_messages *m) {
	// No plan can continue. A plan that is entered at the same time is not missed: see the second check.
	if (gompi_load(&m->hooks) < HOOK_PLANS) {
		gompi_store_total(&m->stepped, 0);
		if (gompi_load_total(&m->hooks) >= HOOK_PLANS)
			gompi_store_total(&m->stepped, 1);
		return false;
	}
	return gompi_plans_step(m);
}

static __attribute__((noinline)) bool progress_of(struct gompi_messages *m) {
	gompi_messages_progress(m);
	uint32_t hooks = gompi_load(&m->hooks);
	if (__builtin_expect(hooks != 0, 0)) {
		if (hooks & HOOK_NETWORK)
			gompi_fabric_progress();
		if (hooks & HOOK_SERVED)
			gompi_serve();
		if (hooks >= HOOK_PLANS)
			gompi_messages_step(m);
	}
	return true;
}

bool gompi_message_progress(void) {
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
#pragma GCC unroll 4
	for (int i = 0; i < GOMPI_LANES; i++)
		if (gompi_lane_ready(&m->lane[i]))
			return progress_of(m);
	return gompi_load(&m->hooks) != 0 && progress_of(m);
}

// The application's message layer as a service of every wait.

static bool arrived(void) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m == NULL)
		return false;
	for (int i = 0; i < GOMPI_LANES; i++)
		if (gompi_lane_ready(&m->lane[i]))
			return true;
	return gompi_load(&m->hooks) >= HOOK_PLANS && gompi_plans_ready(m);
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

// Returns an identification of the next record of a process' inbox if its space is reserved but its seal is not
// written; else 0.
static uint64_t unsealed(int process) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	for (int i = 0; m != NULL && i < GOMPI_LANES; i++) {
		struct gompi_inbox *b = gompi_inbox_of(m, process, i);
		uint64_t head = gompi_load_total(&b->head);
		if (gompi_load_total(&b->tail) > head &&
		    !gompi_inbox_has(gompi_inbox_place(b, head), gompi_load(&b->key) + head))
			return head * GOMPI_LANES + (uint64_t)i + 1;
	}
	return 0;
}

// Returns member i of a communicator whose members C knows, or -1.
static int comm_member(uint64_t object, int i) {
	const struct gompi_comm *c = gompi_comm_get((MPI_Comm)(uintptr_t)object);
	return c == NULL || c->inter || i >= c->peers.n ? -1 : gompi_ranks_at(&c->peers, i);
}

// Describes a communicator.
static bool tell_of_comm(const struct gompi_waiting *what, struct gompi_told *t) {
	const MPI_Comm comm = (MPI_Comm)(uintptr_t)what->object;
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return false;
	t->id = c->id;
	if (!c->inter)
		gompi_tell_ranks(t, &c->peers);
	gompi_comm_name(comm, t->name);
	return true;
}

// Number of packages that have active requests which their own service advances.
static gompi_a32 served;

void gompi_messages_enter(struct gompi_messages *m) {
	if (gompi_load(&served) != 0)
		gompi_or_total(&m->hooks, HOOK_SERVED);
	static const struct gompi_service service = {.ready = arrived,
						     .serve = move,
						     .lasts = lasts,
						     .member = comm_member,
						     .tell = tell_of_comm,
						     .stuck = unsealed};
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
