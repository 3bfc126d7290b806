// The nonblocking accesses of a file. Two threads of the library execute them: one the independent accesses, the other
// the collective ones, which may wait for other processes. Each runs while its queue is not empty.
#include <stdlib.h>

#include "base/go_callbacks.h"
#include "file/access.h"

struct gompi_file_queued {
	struct gompi_file_queued *next;
	struct gompi_file_transfer_desc *d;
	void (*done)(struct gompi_file_transfer_desc *d, void *arg);
	void *arg;
};

void gompi_file_run_queue(uintptr_t queue) {
	struct gompi_file_queue *q = (struct gompi_file_queue *)queue;
	gompi_mutex_lock(&q->mutex);
	for (struct gompi_file_queued *e; (e = q->first) != NULL;) {
		gompi_mutex_unlock(&q->mutex);
		gompi_file_execute(e->d);
		gompi_mutex_lock(&q->mutex);
		q->first = e->next;
		gompi_mutex_unlock(&q->mutex);
		e->done(e->d, e->arg);
		free(e);
		gompi_mutex_lock(&q->mutex);
	}
	q->is_running = false;
	gompi_mutex_unlock(&q->mutex);
}

bool gompi_file_enqueue(struct gompi_file_transfer_desc *d, void (*done)(struct gompi_file_transfer_desc *d, void *arg),
			void *arg) {
	struct gompi_file_queue *q = &d->f->queue[d->collective];
	struct gompi_file_queued *e = malloc(sizeof *e);
	if (e == NULL)
		return false;
	*e = (struct gompi_file_queued){NULL, d, done, arg};
	gompi_mutex_lock(&q->mutex);
	*(q->first == NULL ? &q->first : &q->last->next) = e;
	q->last = e;
	bool start = !q->is_running;
	q->is_running = true;
	gompi_mutex_unlock(&q->mutex);
	if (start)
		gompi_go_callbacks.run_file_queue((uintptr_t)q);
	return true;
}

bool gompi_file_has_queued_collectives(struct gompi_file *f) {
	struct gompi_file_queue *q = &f->queue[true];
	gompi_mutex_lock(&q->mutex);
	bool found = q->first != NULL;
	gompi_mutex_unlock(&q->mutex);
	return found;
}

void gompi_file_finish_queues(struct gompi_file *f) {
	for (int i = 0; i < 2; i++) {
		struct gompi_file_queue *q = &f->queue[i];
		gompi_mutex_lock(&q->mutex);
		while (q->is_running) {
			gompi_mutex_unlock(&q->mutex);
			sched_yield(); // the application must have completed the accesses, so this is short
			gompi_mutex_lock(&q->mutex);
		}
		gompi_mutex_unlock(&q->mutex);
	}
}
