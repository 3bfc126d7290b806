#define _GNU_SOURCE
#include "message/messages.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/call_name.h"
#include "base/random.h"
#include "base/go_callbacks.h"
#include "comm/failures.h"
#include "message/plan.h"
#include "message/remote.h"

// Creates a page with a random number, and publishes its address and the number. Peers read the page to find out
// whether process_vm_readv works and reaches this process: in another pid namespace the same pid may be another
// process.
static bool open_probe(struct gompi_messages *m) {
	m->cma_probe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->cma_probe == MAP_FAILED || !gompi_random(m->cma_probe, sizeof *m->cma_probe))
		return false;
	struct gompi_inbox *b = m->vci[0].inbox;
	gompi_store(&b->probe_value, *m->cma_probe);
	gompi_store_release(&b->probe_address, (uint64_t)(uintptr_t)m->cma_probe);
	// Where the Yama security module permits only ancestors to read a process' memory, prctl permits the peers too.
	// Without Yama, prctl fails, which is harmless.
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return true;
}

// Opens VCI i. Returns false, with errno set, if out of memory or if the system denies random bytes.
static bool open_vci(struct gompi_messages *m, int i) {
	struct gompi_vci *l = &m->vci[i];
	l->messages = m;
	gompi_requests_open(&l->requests, i);
	l->inbox = gompi_inbox_of(m, m->node.local_index, i);
	gompi_inbox_clear(l->inbox);
	l->read_position = l->released_position = gompi_load(&l->inbox->head);
	l->read_at = gompi_inbox_at(l->inbox, l->read_position);
	l->extracted.has_messages = true;
	l->links = calloc((size_t)m->node.n + 1, sizeof *l->links);
	if (l->links == NULL)
		return false;
	l->links++;
	if (!gompi_random(&l->flag_key, sizeof l->flag_key))
		return false;
	l->flag_key &= -(uint64_t)GOMPI_CACHE_LINE;
	gompi_store(&l->inbox->key, l->flag_key);
	gompi_store(&l->expected_flag, l->flag_key + l->read_position);
	gompi_store(&l->next_record, l->read_at);
	return true;
}

struct gompi_messages *gompi_messages_open(const struct gompi_node *node, bool no_cma) {
	struct gompi_messages *m = gompi_memory_is_low() ? NULL : aligned_alloc(GOMPI_CACHE_LINE, sizeof *m);
	if (m == NULL)
		return NULL;
	memset(m, 0, sizeof *m);
	m->node = *node;
	m->no_cma = no_cma;
	m->progress = gompi_progress_locked;
	bool is_open = true;
	for (int i = 0; i < GOMPI_VCI_COUNT && is_open; i++)
		is_open = open_vci(m, i);
	if (is_open && open_probe(m)) {
		if (node->processes->node_count > 1)
			gompi_remote_open(m);
		return m;
	}
	gompi_messages_close(m);
	return NULL;
}

void gompi_messages_close(struct gompi_messages *m) {
	for (int i = 0; i < GOMPI_VCI_COUNT; i++) {
		struct gompi_vci *l = &m->vci[i];
		gompi_queues_close(&l->queues);
		gompi_requests_close(&l->requests);
		free(l->send_ids.entries);
		free(l->receive_ids.entries);
		for (struct gompi_message *s = l->free_messages, *next; s != NULL; s = next) {
			next = s->next;
			free(s->data);
			free(s->index_links);
			free(s);
		}
		gompi_free_all(l->free_pending, offsetof(struct gompi_pending, next));
		gompi_free_all(l->deferred_cancels, offsetof(struct gompi_pending, next));
		gompi_remote_close(l);
	}
	gompi_links_close(m);
	if (m->cma_probe != NULL && m->cma_probe != MAP_FAILED)
		munmap(m->cma_probe, 4096);
	free(m);
}

int gompi_messages_inbox_error(const struct gompi_messages *m) {
	int class = MPI_SUCCESS;
	for (int i = 0; i < GOMPI_VCI_COUNT && class == MPI_SUCCESS; i++)
		class = (int)gompi_load(&m->vci[i].inbox_error);
	return class;
}

bool gompi_messages_run_plans(struct gompi_messages *m) {
	// If there is no active plan, clear plan_may_continue. Another thread may activate a plan after the first check
	// of hooks; then the second check sets plan_may_continue again.
	if (gompi_load(&m->hooks) < HOOK_PLANS) {
		gompi_store_seq_cst(&m->plan_may_continue, 0);
		if (gompi_load_seq_cst(&m->hooks) >= HOOK_PLANS)
			gompi_store_seq_cst(&m->plan_may_continue, 1);
		return false;
	}
	return gompi_plans_progress(m);
}

static __attribute__((noinline)) bool test_progress_slow(struct gompi_messages *m) {
	gompi_messages_progress(m);
	uint32_t hooks = gompi_load(&m->hooks);
	if (__builtin_expect(hooks != 0, 0)) {
		if (hooks & HOOK_NETWORK)
			gompi_fabric_progress();
		if (hooks & HOOK_SERVICES)
			gompi_serve();
		if (hooks >= HOOK_PLANS)
			gompi_messages_run_plans(m);
	}
	return true;
}

bool gompi_test_progress(void) {
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
#pragma GCC unroll 4
	for (int i = 0; i < GOMPI_VCI_COUNT; i++)
		if (gompi_vci_has_work(&m->vci[i]))
			return test_progress_slow(m);
	return gompi_load(&m->hooks) != 0 && test_progress_slow(m);
}

// The functions that make the application's message layer a service of every wait (struct gompi_service).

static bool messages_are_ready(void) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_app_messages);
	if (m == NULL)
		return false;
	for (int i = 0; i < GOMPI_VCI_COUNT; i++)
		if (gompi_vci_has_work(&m->vci[i]))
			return true;
	return gompi_load(&m->hooks) >= HOOK_PLANS && gompi_plans_ready(m);
}

static bool messages_serve(void) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_app_messages);
	if (m == NULL)
		return false;
	bool worked = gompi_messages_progress_all(m);
	if (gompi_load(&m->hooks) >= HOOK_PLANS)
		worked = gompi_messages_run_plans(m) || worked;
	return worked;
}

static void messages_wait_lasts(void) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_app_messages);
	if (m != NULL)
		gompi_messages_remind(m);
}

// Checks the inboxes of a process for a next record that is reserved but has no valid flag yet. Returns a number that
// identifies the record by its position and VCI (+ 1, so that it is not 0), or 0 if there is no such record.
static uint64_t incomplete_record(int process) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_app_messages);
	for (int i = 0; m != NULL && i < GOMPI_VCI_COUNT; i++) {
		struct gompi_inbox *b = gompi_inbox_of(m, process, i);
		uint64_t head = gompi_load_seq_cst(&b->head);
		if (gompi_load_seq_cst(&b->tail) > head &&
		    !gompi_inbox_has_record(gompi_inbox_at(b, head), gompi_load(&b->key) + head))
			return head * GOMPI_VCI_COUNT + (uint64_t)i + 1;
	}
	return 0;
}

// Returns the process number of member i of the communicator with the handle `object` (gompi_comm_member). Returns -1
// if `object` is no communicator.
static int comm_member(uint64_t object, int i) {
	const struct gompi_comm *c = gompi_comm_get((MPI_Comm)(uintptr_t)object);
	return c == NULL ? -1 : gompi_comm_member(c, i);
}

static bool comm_is_revoked(uint64_t object) {
	const struct gompi_comm *c = gompi_comm_get((MPI_Comm)(uintptr_t)object);
	return c != NULL && gompi_load(&c->is_revoked) != 0;
}

// Writes the id, members and name of a wait's communicator to t. Returns false if there is no such communicator.
static bool fill_comm_record(const struct gompi_wait_desc *what, struct gompi_wait_details *t) {
	const MPI_Comm comm = (MPI_Comm)(uintptr_t)what->object;
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return false;
	t->id = c->id;
	if (!c->is_inter)
		gompi_fill_wait_ranks(t, &c->peers);
	gompi_comm_name(comm, t->name);
	return true;
}

// Number of packages whose services currently advance requests (gompi_messages_use_services).
static gompi_a32 service_users;

void gompi_messages_attach(struct gompi_messages *m) {
	if (gompi_load(&service_users) != 0)
		gompi_or_seq_cst(&m->hooks, HOOK_SERVICES);
	static const struct gompi_service service = {.has_work = messages_are_ready,
						     .serve = messages_serve,
						     .on_long_wait = messages_wait_lasts,
						     .member_process = comm_member,
						     .is_revoked = comm_is_revoked,
						     .fill_details = fill_comm_record,
						     .stuck_entry = incomplete_record};
	gompi_store_release(&gompi_app_messages, m);
	gompi_service_add(&service);
}

void gompi_messages_detach(void) {
	gompi_mutex_lock(&gompi_app_messages_lock);
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	for (int i = 0; m != NULL && i < GOMPI_VCI_COUNT; i++) {
		gompi_vci_lock(&m->vci[i]);
		gompi_queues_store_counts(&m->vci[i].queues);
		gompi_vci_unlock(&m->vci[i]);
	}
	gompi_store_release(&gompi_app_messages, NULL);
	gompi_mutex_unlock(&gompi_app_messages_lock);
}

void gompi_messages_use_services(bool in_use) {
	uint32_t old_count = in_use ? gompi_add_seq_cst(&service_users, 1) : gompi_sub_seq_cst(&service_users, 1);
	struct gompi_messages *m = gompi_load_acquire(&gompi_app_messages);
	if (m == NULL)
		return;
	if (!in_use && old_count == 1)
		gompi_and_seq_cst(&m->hooks, ~(uint32_t)HOOK_SERVICES);
	if (gompi_load_seq_cst(&service_users) != 0)
		gompi_or_seq_cst(&m->hooks, HOOK_SERVICES);
}
