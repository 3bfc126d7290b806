/* Holds data that must live until a request is complete: copies of sections that collective operations use, arrays that
 * C reads while the operation is pending, and a handle that C writes. A list has an entry for each request with such
 * data. When Fortran code completes a request, the binding processes and frees its entry. If C code completes the
 * request, the entry is never freed. */
#include <pthread.h>
#include <stdio.h>

#include "layout.h"

struct entry {
	struct entry *next;
	integer request;
	bool persistent;
	bool active; /* the entry has data to copy out at completion */
	struct gompi_kept k;
};

_Atomic int gompi_kept_count;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
/* List of entries, oldest first. Two entries may have the same request handle: MPI may reuse the handle of a completed
 * request before this file has processed the completion. The older entry then belongs to the completed request. */
static struct entry *entries;

/* Copies changed elements to the program's sections, and the new communicator or the flag to its variable. */
static void copy_out(struct gompi_kept *k) {
	for (int i = 0; i < 2; i++) {
		struct gompi_scratch *s = &k->buffer[i];
		if (s->before)
			gompi_layout_scatter(s->of, s->addr, s->before);
	}
	if (k->newcomm)
		*k->newcomm_to = comm_out(*k->newcomm);
	if (k->flag)
		*k->flag_to = *k->flag;
}

static void copy_in(struct gompi_kept *k) {
	for (int i = 0; i < 2; i++) {
		struct gompi_scratch *s = &k->buffer[i];
		if (!s->of)
			continue;
		gompi_layout_gather(s->addr, s->of);
		if (s->before)
			memcpy(s->before, s->addr, (size_t)s->of->total * s->of->elem);
	}
}

static void drop(struct gompi_kept *k) {
	for (int i = 0; i < 2; i++) {
		if (k->buffer[i].of) {
			free(k->buffer[i].of);
			free(k->buffer[i].addr);
		}
		gompi_array_free(&k->types[i]);
	}
	free(k->newcomm);
	free(k->flag);
}

void gompi_release(struct gompi_kept *k, bool copy) {
	if (copy)
		copy_out(k);
	drop(k);
}

void gompi_keep(struct gompi_kept *k, const integer *request, bool persistent) {
	bool holds = k->buffer[0].of || k->buffer[1].of || k->types[0].heap || k->types[1].heap;
	struct entry *e, **last = &entries;
	if (!holds && !k->newcomm && !k->flag)
		return;
	if (!request || request_in(*request) == MPI_REQUEST_NULL) {
		gompi_release(k, request != NULL);
		return;
	}
	e = malloc(sizeof *e);
	if (!e) { /* the program must end: without an entry, the result would never be copied to the program */
		fprintf(stderr, "gompirma: out of memory for the array section of a nonblocking call\n");
		PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
		abort();
	}
	*e = (struct entry){.request = *request, .persistent = persistent, .active = !persistent, .k = *k};
	pthread_mutex_lock(&mu);
	while (*last)
		last = &(*last)->next;
	*last = e;
	gompi_kept_count++;
	pthread_mutex_unlock(&mu);
}

/* Returns the pointer in the list that points to the oldest entry with this request. If there is no such entry, returns
 * the NULL pointer at the end of the list. The caller must hold mu. */
static struct entry **findLocked(integer request) {
	struct entry **at = &entries;
	while (*at && (*at)->request != request)
		at = &(*at)->next;
	return at;
}

static void removeLocked(struct entry **at) {
	struct entry *e = *at;
	*at = e->next;
	gompi_kept_count--;
	drop(&e->k);
	free(e);
}

void gompi_kept_completed(integer request) {
	struct entry **at, *e;
	pthread_mutex_lock(&mu);
	at = findLocked(request);
	e = *at;
	if (e) {
		if (e->active)
			copy_out(&e->k);
		e->active = false;
		if (!e->persistent)
			removeLocked(at);
	}
	pthread_mutex_unlock(&mu);
}

void gompi_kept_started(integer request) {
	struct entry *e;
	pthread_mutex_lock(&mu);
	e = *findLocked(request);
	if (e) {
		copy_in(&e->k);
		e->active = true;
	}
	pthread_mutex_unlock(&mu);
}

void gompi_kept_freed(integer request) {
	struct entry **at;
	pthread_mutex_lock(&mu);
	at = findLocked(request);
	if (*at && (*at)->persistent && !(*at)->active)
		removeLocked(at);
	pthread_mutex_unlock(&mu);
}
