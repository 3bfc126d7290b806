// The nonblocking accesses of a file. Two threads of the library execute them: one the independent accesses, the other
// the collective ones, which may wait for other processes. Each runs while its queue is not empty.
#include "file/queue.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/go_callbacks.h"
#include "file/execute.h"
#include "file/types.h"
#include "message/call.h"

static void free_access(struct gompi_request *r) {
	free(r->text);
	free((void *)r->object);
}

static void describe_access_wait(const struct gompi_request *r, struct gompi_wait_desc *what,
				 struct gompi_wait_details *t) {
	what->reason = GOMPI_FOR_SELF;
	what->peer = r->vci->messages->node.self;
	t->operation = ((struct gompi_file_transfer_desc *)r->object)->call;
}

// Implements MPI_Cancel, which has no effect on an independent access: it completes as usual. Collective calls on files
// have the same restrictions as collective communication (MPI-5.0 14.6.5), whose requests cannot be cancelled.
static int cancel_access(struct gompi_request *r, struct gompi_error_status *v) {
	if (!((struct gompi_file_transfer_desc *)r->object)->collective)
		return MPI_SUCCESS;
	return gompi_set_error(v, MPI_ERR_REQUEST, "the request of a collective access cannot be cancelled");
}

// The field `object` of a request of this kind is the address of the access.
static const struct gompi_request_kind file_kind = {.describe_wait = describe_access_wait,
						    .cancel = cancel_access,
						    .free_object = free_access,
						    .error_detail = gompi_request_text_detail,
						    .keeps_handle = true};

// Completes the request of an access that has been executed.
static void complete_access(struct gompi_file_transfer_desc *d) {
	struct gompi_request *r = d->request;
	gompi_buffer_release(&d->b);
	if (d->f->view.datarep != NULL)
		gompi_file_type_free(&d->datatype);
	r->result = (struct gompi_result){
		.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = d->error.class, .bytes = d->done_bytes};
	if (d->error.class != MPI_SUCCESS)
		r->text = strdup(d->error.text);
	gompi_request_complete(r);
}

void gompi_file_run_queue(uintptr_t queue) {
	struct gompi_file_queue *q = (struct gompi_file_queue *)queue;
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	gompi_mutex_lock(&q->mutex);
	for (struct gompi_file_transfer_desc *d; (d = q->first) != NULL;) {
		gompi_mutex_unlock(&q->mutex);
		gompi_file_execute(d);
		gompi_mutex_lock(&q->mutex);
		q->first = d->next;
		gompi_store(&q->count, gompi_load(&q->count) - 1);
		gompi_mutex_unlock(&q->mutex);
		gompi_wake(&gompi_messages_cell(m, m->node.local_index)->wait); // wakes gompi_file_await_collectives
		complete_access(d);
		gompi_mutex_lock(&q->mutex);
	}
	q->is_running = false;
	gompi_mutex_unlock(&q->mutex);
}

int gompi_file_enqueue(const struct gompi_file_transfer_desc *prepared, MPI_Request *request) {
	struct gompi_file_transfer_desc *d = malloc(sizeof *d);
	struct gompi_request *r =
		d == NULL ? NULL : gompi_request_new(gompi_load(&gompi_app_messages), 0, &file_kind, (uintptr_t)d);
	if (r == NULL) {
		struct gompi_error_status v;
		free(d);
		gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a request, or too many requests are active");
		return gompi_file_raise((MPI_File)prepared->f->handle, prepared->call, &v);
	}
	*d = *prepared;
	d->request = r;
	r->comm = d->f->handle;
	*request = (MPI_Request)gompi_request_handle(r);
	gompi_buffer_retain(&d->b);
	// A conversion uses the handle of the datatype, which the application may free before the access is executed.
	struct gompi_error_status v;
	if (d->f->view.datarep != NULL && d->error.class == MPI_SUCCESS &&
	    gompi_file_type_copy(prepared->datatype, &d->datatype, &v) != MPI_SUCCESS)
		d->error = v;
	if (!d->collective && gompi_file_execute_short(d)) {
		complete_access(d);
		return MPI_SUCCESS;
	}
	struct gompi_file_queue *q = &d->f->queue[d->collective];
	gompi_mutex_lock(&q->mutex);
	*(q->first == NULL ? &q->first : &q->last->next) = d;
	q->last = d;
	gompi_store(&q->count, gompi_load(&q->count) + 1);
	bool start = !q->is_running;
	q->is_running = true;
	gompi_mutex_unlock(&q->mutex);
	if (start)
		gompi_go_callbacks.run_file_queue((uintptr_t)q);
	return MPI_SUCCESS;
}

static bool is_queue_empty(void *arg) {
	struct gompi_file_queue *q = arg;
	gompi_mutex_lock(&q->mutex);
	bool empty = q->first == NULL;
	gompi_mutex_unlock(&q->mutex);
	return empty;
}

void gompi_file_await_collectives(struct gompi_file *f, const char *call) {
	struct gompi_file_split *split = &f->split;
	if (!is_queue_empty(&f->queue[true])) {
		struct gompi_messages *m = gompi_load(&gompi_app_messages);
		const struct gompi_wait_desc what = {.call = call, .peer = m->node.self, .reason = GOMPI_FOR_SELF};
		// If a process fails, the collective that waits for it ends with an error. So this wait needs no check
		// for it.
		gompi_await(&gompi_messages_cell(m, m->node.local_index)->wait, is_queue_empty, &f->queue[true], &what);
	}
	if (split->executed != NULL && !split->is_agreed) {
		gompi_file_agree(f->comm, f->rank, f->size, &split->executed->error);
		split->is_agreed = true;
	}
}

void gompi_file_finish_queues(struct gompi_file *f) {
	for (int i = 0; i < 2; i++) {
		struct gompi_file_queue *q = &f->queue[i];
		gompi_mutex_lock(&q->mutex);
		while (q->is_running) {
			gompi_mutex_unlock(&q->mutex);
			sched_yield(); // the application has completed the accesses, so the thread is about to end
			gompi_mutex_lock(&q->mutex);
		}
		gompi_mutex_unlock(&q->mutex);
	}
}
