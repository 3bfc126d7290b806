#include "coll/plan_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/go_callbacks.h"
#include "coll/shm_coll.h"
#include "datatype/datatype.h"

enum {
	CACHED_PLANS = 8, // maximum number of cached plans of a communicator
};

// The arrays of one side of a call, with n elements each.
struct arrays {
	int n;
	const void *counts, *displs, *types; // NULL if the call has no such array
	size_t count_bytes, displ_bytes;     // bytes of an element of counts and displs
};

struct cached_plan {
	struct gompi_collective call; // its array arguments are copied to the field `arrays`
	struct gompi_plan *plan;
	// Datatypes of the call, which type_at enumerates. The cache holds references to them, so that no other type
	// gets one of their addresses.
	const struct gompi_type **types;
	int type_count;
	char arrays[]; // contents of the arrays
};

struct gompi_plan_cache {
	struct cached_plan *plans[CACHED_PLANS];
	unsigned next_evicted;
};

// Returns true if the cache can read all array arguments of a call in order to compare them. In MPI_Gatherv and
// MPI_Scatterv, the arrays are significant only at the root. On an intercommunicator, their length is not c->size.
static bool is_cacheable(const struct gompi_comm *c, const struct gompi_collective *a) {
	switch (a->kind) {
	case GOMPI_GATHERV:
	case GOMPI_SCATTERV:
		return false;
	}
	return !c->is_inter || (a->send.counts == 0 && a->recv.counts == 0);
}

static struct arrays arrays_of(const struct gompi_comm *c, const struct gompi_collective *a, bool send) {
	const struct gompi_collective_side *s = send ? &a->send : &a->recv;
	struct arrays r = {0};
	if (s->counts == 0 || (send && s->buf == (uintptr_t)MPI_IN_PLACE))
		return r;
	bool is_neighbor = a->kind >= GOMPI_NEIGHBOR_ALLGATHER;
	r.n = !is_neighbor ? c->size : send ? c->topology.destinations : c->topology.sources;
	r.counts = (const void *)s->counts;
	r.displs = (const void *)s->displs;
	r.types = (const void *)s->types;
	r.count_bytes = a->is_large ? sizeof(MPI_Count) : sizeof(int);
	r.displ_bytes = a->is_large || a->kind == GOMPI_NEIGHBOR_ALLTOALLW ? sizeof(MPI_Aint) : sizeof(int);
	return r;
}

static size_t array_bytes(const struct arrays *s) {
	return (size_t)s->n * ((s->counts != NULL) * s->count_bytes + (s->displs != NULL) * s->displ_bytes +
			       (s->types != NULL) * sizeof(MPI_Datatype));
}

// Copies the arrays to *at or, if compare is true, compares them with the contents at *at. Returns false if they
// differ. Advances *at.
static bool copy_or_compare_arrays(const struct arrays *s, char **at, bool compare) {
	const void *from[] = {s->counts, s->displs, s->types};
	size_t element[] = {s->count_bytes, s->displ_bytes, sizeof(MPI_Datatype)};
	for (int i = 0; i < 3; i++) {
		if (from[i] == NULL)
			continue;
		size_t n = (size_t)s->n * element[i];
		if (compare && memcmp(*at, from[i], n) != 0)
			return false;
		if (!compare)
			gompi_copy_small(*at, from[i], n);
		*at += n;
	}
	return true;
}

static bool same_side(const struct gompi_collective_side *x, const struct gompi_collective_side *y) {
	return x->buf == y->buf && x->count == y->count && x->type == y->type && x->counts == y->counts &&
	       x->displs == y->displs && x->types == y->types;
}

static int types_in(const struct arrays *s) { return s->types != NULL ? s->n : 0; }

// Returns the i-th datatype of a call: first the two types of the send and receive side, then the elements of their
// arrays of types. Returns NULL if the handle is invalid.
static const struct gompi_type *type_at(const struct gompi_collective *a, const struct arrays s[2], int i) {
	int sends = types_in(&s[0]);
	if (i < 2)
		return gompi_type_get((MPI_Datatype)(i == 0 ? a->send.type : a->recv.type));
	i -= 2;
	return gompi_type_get(((const MPI_Datatype *)s[i >= sends].types)[i >= sends ? i - sends : i]);
}

static bool same_types(const struct cached_plan *k, const struct arrays s[2]) {
	for (int i = 0; i < k->type_count; i++)
		if (type_at(&k->call, s, i) != k->types[i])
			return false;
	return true;
}

static bool plan_matches_call(const struct cached_plan *k, const struct gompi_comm *c,
			      const struct gompi_collective *a) {
	const struct gompi_collective *b = &k->call;
	if (b->kind != a->kind || b->root != a->root || b->op != a->op || b->is_large != a->is_large ||
	    !same_side(&b->send, &a->send) || !same_side(&b->recv, &a->recv))
		return false;
	struct arrays s[2] = {arrays_of(c, a, true), arrays_of(c, a, false)};
	char *at = (char *)(uintptr_t)k->arrays;
	return copy_or_compare_arrays(&s[0], &at, true) && copy_or_compare_arrays(&s[1], &at, true) && same_types(k, s);
}

static void evict_plan(struct cached_plan *k) {
	for (int i = 0; i < k->type_count; i++)
		if (k->types[i] != NULL)
			gompi_type_release(k->types[i]);
	gompi_plan_uncache(k->plan);
	free(k->types);
	free(k);
}

struct gompi_plan *gompi_plan_cache_acquire(struct gompi_comm *c, const struct gompi_collective *a) {
	for (int i = 0; c->plan_cache != NULL && i < CACHED_PLANS; i++) {
		struct cached_plan *k = c->plan_cache->plans[i];
		if (k != NULL && plan_matches_call(k, c, a) && gompi_plan_reuse(k->plan))
			return k->plan;
	}
	return NULL;
}

void gompi_plan_cache_add(struct gompi_comm *c, const struct gompi_collective *a, struct gompi_plan *p) {
	if (!is_cacheable(c, a) ||
	    (c->plan_cache == NULL && (c->plan_cache = calloc(1, sizeof *c->plan_cache)) == NULL)) {
		gompi_plan_uncache(p);
		return;
	}
	struct arrays s[2] = {arrays_of(c, a, true), arrays_of(c, a, false)};
	int n = 2 + types_in(&s[0]) + types_in(&s[1]);
	struct cached_plan *k = malloc(sizeof *k + array_bytes(&s[0]) + array_bytes(&s[1]));
	const struct gompi_type **types = malloc((size_t)n * sizeof *types);
	if (k == NULL || types == NULL) {
		gompi_plan_uncache(p);
		free(k);
		free(types);
		return;
	}
	*k = (struct cached_plan){.call = *a, .plan = p, .types = types, .type_count = n};
	char *at = k->arrays;
	copy_or_compare_arrays(&s[0], &at, false);
	copy_or_compare_arrays(&s[1], &at, false);
	for (int i = 0; i < n; i++)
		if ((types[i] = type_at(a, s, i)) != NULL)
			gompi_type_retain(types[i]);
	struct cached_plan **evicted = &c->plan_cache->plans[c->plan_cache->next_evicted++ % CACHED_PLANS];
	if (*evicted != NULL)
		evict_plan(*evicted);
	*evicted = k;
}

void gompi_plan_cache_close(uintptr_t handle) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)handle);
	struct gompi_plan_cache *cache = c != NULL ? c->plan_cache : NULL;
	if (cache == NULL)
		return;
	c->plan_cache = NULL;
	for (int i = 0; i < CACHED_PLANS; i++)
		if (cache->plans[i] != NULL)
			evict_plan(cache->plans[i]);
	free(cache);
}
