#include "message/plan.h"

#include <stdlib.h>

#include "base/call_name.h"
#include "base/tuning.h"
#include "comm/failures.h"
#include "message/call.h"

int (*gompi_plan_call_go)(uintptr_t go, int64_t what, char *text);
void (*gompi_plan_go_freed)(uintptr_t go);

void gompi_plan_set_callbacks(void *go, void *freed) {
	gompi_plan_call_go = (int (*)(uintptr_t, int64_t, char *))go;
	gompi_plan_go_freed = (void (*)(uintptr_t))freed;
}

struct gompi_plan *gompi_plan_new(struct gompi_messages *m, const struct gompi_plan_params *head,
				  const struct gompi_step *steps, uint32_t n) {
	uint32_t messages = 0;
	for (uint32_t i = 0; i < n; i++)
		messages += steps[i].kind <= STEP_RECV;
	struct gompi_plan *p = malloc(sizeof *p + n * sizeof p->step[0] + messages * sizeof p->active[0]);
	if (p == NULL)
		return NULL;
	memset(p, 0, sizeof *p);
	p->params = *head;
	if (head->op != 0)
		p->kernel = gompi_op_kernel((MPI_Op)head->op, (MPI_Datatype)head->datatype);
	p->messages = m;
	p->step_count = n;
	if (n > 0)
		memcpy(p->step, steps, n * sizeof *steps);
	p->active = (struct gompi_request **)(void *)&p->step[n];
	return p;
}

static void free_error_data(struct gompi_plan *p) {
	gompi_free_all(p->error_data, offsetof(struct gompi_plan_error_data, next));
	p->error_data = NULL;
}

void gompi_plan_free(struct gompi_plan *p) {
	free_error_data(p);
	free(p);
}

bool gompi_plan_is_app(const struct gompi_plan *p) { return p->messages == gompi_load(&gompi_app_messages); }

void gompi_set_progress_thread(void) { gompi_is_progress_thread = true; }

// Stores an error as the error of the plan, unless the plan already has an error.
#define set_plan_error(p, code, ...) \
	((void)((p)->error.class != MPI_SUCCESS || gompi_set_error(&(p)->error, code, __VA_ARGS__)))

static bool is_length_error(int class) { return class == MPI_ERR_TRUNCATE || class == MPI_ERR_COUNT; }

// Stores the result of a complete message in its plan. Returns false if the plan cannot continue.
static bool record_result(struct gompi_plan *p, const struct gompi_request *r) {
	const struct gompi_result *s = &r->result;
	if (s->class == MPI_SUCCESS) {
		if (r->receive && s->bytes != r->buf.size)
			set_plan_error(p, MPI_ERR_COUNT, "rank %d sent %lld bytes, but this process expects %lld",
				       s->source, (long long)s->bytes, (long long)r->buf.size);
		return true;
	}
	if (p->error.class == MPI_SUCCESS || !is_length_error(s->class))
		gompi_request_error_detail(r, &p->error);
	return is_length_error(s->class);
}

// Frees the complete messages of a plan. Returns false if the plan cannot continue.
static bool reap_messages(struct gompi_plan *p) {
	uint32_t kept_count = 0;
	bool can_continue = true;
	struct gompi_vci *l = NULL;
	for (uint32_t i = 0; i < p->active_count; i++) {
		struct gompi_request *r = p->active[i];
		if (!gompi_is_complete(r)) {
			p->active[kept_count++] = r;
			continue;
		}
		can_continue = record_result(p, r) && can_continue;
		if (l != r->vci) {
			if (l != NULL)
				gompi_vci_unlock(l);
			gompi_vci_lock(l = r->vci);
		}
		gompi_request_release(r);
	}
	if (l != NULL)
		gompi_vci_unlock(l);
	p->active_count = kept_count;
	return can_continue;
}

// Returns true if a message must notify the target's progress thread, in case the target computes. A message to another
// node must do so if the plan is urgent. A message on this node must do so in three cases. First, a progress thread
// sends the message. Second, other processes wait for data of the target (needs_doorbell). Third, the plan is urgent,
// the message is large, and the node has more cores than processes.
static bool is_urgent(const struct gompi_plan *p, const struct gompi_link *to, int64_t bytes) {
	if (gompi_is_remote(to))
		return p->params.urgent;
	const struct gompi_node_header *node =
		(const struct gompi_node_header *)(const void *)p->messages->node.control;
	return (p->params.urgent && bytes >= GOMPI_WAKE_PROGRESS_BYTES && node->core_count > node->process_count) ||
	       gompi_is_progress_thread || gompi_load(&to->cell->needs_doorbell) != 0;
}

// Starts the send or receive of step s, with `bytes` bytes at address `at`. Returns false if out of memory.
static bool start_message(struct gompi_plan *p, const struct gompi_step *s, uintptr_t at, int64_t bytes) {
	const struct gompi_plan_params *h = &p->params;
	struct gompi_vci *l = gompi_vci_of(p->messages, h->context[s->context_index]);
	struct gompi_request q = {.context = h->context[s->context_index],
				  .comm = h->comm,
				  .source = h->source,
				  .peer = s->peer,
				  .world = s->world,
				  .tag = h->tag,
				  .vci = l,
				  .mode = MODE_STANDARD,
				  .receive = s->kind == STEP_RECV,
				  .buf = {.at = (char *)at, .size = bytes}};
	if (!q.receive && q.world == p->messages->node.self) {
		if (gompi_send_self_eager(l, &q))
			return true;
	} else if (!q.receive) {
		struct gompi_link *to = gompi_link_to(l, q.world);
		q.urgent = is_urgent(p, to, bytes);
		if (gompi_try_eager_any(to, &q))
			return true;
	}
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_alloc(l);
	if (r == NULL) {
		gompi_vci_unlock(l);
		return false;
	}
	*r = q;
	gompi_start_locked(l, r);
	gompi_vci_unlock_started(l);
	p->active[p->active_count++] = r;
	return true;
}

// Returns the length of a message that passes on received data. After an error the message is one byte longer
// (MPI_ERR_TRUNCATE) or shorter (other errors) than planned. So every process that receives the data notices an error.
static int64_t forward_bytes(const struct gompi_plan *p, int64_t bytes) {
	if (p->error.class == MPI_SUCCESS)
		return bytes;
	return p->error.class == MPI_ERR_TRUNCATE ? bytes + 1 : bytes > 0 ? bytes - 1 : 0;
}

static bool send_forward(struct gompi_plan *p, const struct gompi_step *s) {
	int64_t bytes = forward_bytes(p, s->bytes);
	if (bytes <= s->bytes)
		return start_message(p, s, s->from, bytes);
	struct gompi_plan_error_data *block = calloc(1, sizeof *block + (size_t)bytes); // only its length matters
	if (block == NULL)
		return false;
	block->next = p->error_data;
	p->error_data = block;
	return start_message(p, s, (uintptr_t)block->data, bytes);
}

static bool run_step(struct gompi_plan *p, const struct gompi_step *s) {
	bool fine = true;
	switch ((enum gompi_step_kind)s->kind) {
	case STEP_SEND:
		fine = start_message(p, s, s->from, s->bytes);
		break;
	case STEP_FORWARD:
		fine = send_forward(p, s);
		break;
	case STEP_RECV:
		fine = start_message(p, s, s->to, s->bytes);
		break;
	case STEP_WAIT:
		break;
	case STEP_COPY:
		gompi_copy_between((void *)s->to, (const void *)s->from, (uint64_t)s->bytes);
		break;
	case STEP_REDUCE:
		p->kernel((const void *)s->from, (void *)s->to, (uint64_t)s->bytes / p->params.element_bytes);
		break;
	case STEP_CALL_GO: {
		struct gompi_error_status v;
		v.class = gompi_plan_call_go(p->params.go_handle, s->bytes, v.text);
		if (v.class != MPI_SUCCESS)
			p->error = v;
		return v.class == MPI_SUCCESS;
	}
	}
	if (!fine)
		gompi_set_error(&p->error, MPI_ERR_NO_MEM, "out of memory for a message of %lld bytes",
				(long long)s->bytes);
	return fine;
}

// Ends a plan and abandons its active messages. Cancels unmatched receives, so that they do not write to buffers later.
static void complete_plan(struct gompi_plan *p) {
	for (uint32_t i = 0; i < p->active_count; i++) {
		struct gompi_request *r = p->active[i];
		struct gompi_vci *l = r->vci;
		gompi_vci_lock(l);
		if (r->receive && gompi_load(&r->state) == REQUEST_ACTIVE)
			gompi_cancel_locked(l, r);
		else if (gompi_load(&r->state) == REQUEST_ACTIVE &&
			 gompi_fault_class(MPI_ERR_PROC_ABORTED, p->params.comm) != MPI_ERR_PROC_ABORTED)
			gompi_send_abandon(l, r, p->error.class);
		if (gompi_load(&r->state) == REQUEST_ACTIVE) {
			r->freed = true;
			p->error_data = NULL; // not freed (a leak), because the send may still read the error data
		} else {
			gompi_request_release(r);
		}
		gompi_vci_unlock_progress(l);
	}
	p->active_count = 0;
	gompi_store_release(&p->is_complete, 1); // pairs with the acquire loads that precede reads of the result
}

static bool run_steps(struct gompi_plan *p) {
	while (gompi_load(&p->is_complete) == 0) {
		if (p->active_count > 0 && !reap_messages(p))
			break;
		bool is_last = p->next_step == p->step_count;
		const struct gompi_step *s = &p->step[p->next_step];
		if (p->active_count > 0 && (is_last || s->kind == STEP_WAIT))
			return false;
		if (is_last)
			break;
		p->needs_app_thread = s->calls_application && gompi_is_progress_thread;
		if (p->needs_app_thread)
			return false;
		p->next_step++;
		if (s->skip_on_error && p->error.class != MPI_SUCCESS)
			continue;
		if (!run_step(p, s))
			break;
	}
	if (gompi_load(&p->is_complete) == 0)
		complete_plan(p);
	return true;
}

void gompi_plan_reset(struct gompi_plan *p) {
	gompi_mutex_lock(&p->lock.mutex);
	free_error_data(p);
	p->next_step = p->reminded_step = 0;
	p->error.class = MPI_SUCCESS;
	gompi_store(&p->is_complete, 0);
	gompi_mutex_unlock(&p->lock.mutex); // no thread polls a plan before its start, so none has posted work
}

bool gompi_plan_poll(struct gompi_plan *p) {
	while (gompi_combining_try_lock(&p->lock)) {
		bool is_complete = run_steps(p), is_missed = gompi_combining_unlock(&p->lock);
		if (is_complete || !is_missed)
			return is_complete;
	}
	return false;
}

void gompi_plan_abandon(struct gompi_plan *p, int class, const char *text) {
	gompi_mutex_lock(&p->lock.mutex);
	if (gompi_load(&p->is_complete) == 0) {
		gompi_set_error(&p->error, class, "%s", text);
		complete_plan(p);
	}
	gompi_mutex_unlock(&p->lock.mutex); // other threads may have posted work, but a complete plan has none
}

void gompi_plan_report_missing(struct gompi_plan *p, struct gompi_wait_details *t) {
	if (!gompi_mutex_trylock(&p->lock.mutex))
		return;
	for (uint32_t i = 0; i < p->active_count; i++) {
		const struct gompi_request *r = p->active[i];
		if (gompi_is_complete(r))
			continue;
		t->pending_count++;
		if (r->peer < 64 * GOMPI_WAIT_MISSING_WORDS)
			t->missing_bitmap[r->peer / 64] |= 1ULL << r->peer % 64;
	}
	if (gompi_combining_unlock(&p->lock)) // posted work: makes the wait poll the plan before it sleeps
		gompi_store_seq_cst(&p->messages->plan_may_continue, 1);
}

void gompi_plan_remind(struct gompi_plan *p) {
	struct gompi_messages *m = p->messages;
	if (!gompi_mutex_trylock(&p->lock.mutex))
		return; // another thread runs the plan
	bool first = p->reminded_step < p->next_step;
	// Two progress threads must not notify each other endlessly, so a progress thread reminds only once per step.
	if (first || !gompi_is_progress_thread) {
		p->reminded_step = p->next_step;
		for (uint32_t i = 0; i < p->active_count; i++) {
			const struct gompi_request *r = p->active[i];
			int process = gompi_messages_node_index(m, r->world);
			if (process < 0 || process == m->node.local_index || !r->receive || gompi_is_complete(r))
				continue;
			struct gompi_cell *cell = gompi_messages_cell(m, process);
			if (!first || gompi_is_progress_thread)
				gompi_store_seq_cst(&cell->needs_doorbell, 1);
			gompi_cell_ring_doorbell(cell);
		}
	}
	if (gompi_combining_unlock(&p->lock))
		gompi_plan_poll(p);
}
