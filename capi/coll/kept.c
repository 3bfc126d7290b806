#include "coll/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/up.h"
#include "coll/slots.h"
#include "datatype/datatype.h"

enum {
	PLANS = 8, // cached plans of a communicator
};

// The arrays of one side of a call, with n elements each.
struct arrays {
	int n;
	const void *counts, *displs, *types; // NULL if the call has no such array
	size_t count, displ;                 // bytes of an element of counts and displs
};

struct kept {
	struct gompi_collective call; // its arrays are in copy
	struct gompi_plan *plan;
	const struct gompi_type **types; // referenced, so that no new type gets the same address
	int n;
	char copy[]; // contents of the arrays
};

struct gompi_kept {
	struct kept *at[PLANS];
	unsigned next;
};

// Returns true if all arguments of a call are significant at every member, so that they can be compared.
static bool is_plain(const struct gompi_comm *c, const struct gompi_collective *a) {
	switch (a->kind) {
	case GOMPI_GATHERV:
	case GOMPI_SCATTERV:
		return false;
	}
	return !c->inter || (a->send.counts == 0 && a->recv.counts == 0);
}

static struct arrays arrays_of(const struct gompi_comm *c, const struct gompi_collective *a, bool send) {
	const struct gompi_side *s = send ? &a->send : &a->recv;
	struct arrays r = {0};
	if (s->counts == 0 || (send && s->buf == (uintptr_t)MPI_IN_PLACE))
		return r;
	bool neighbor = a->kind >= GOMPI_NEIGHBOR_ALLGATHER;
	r.n = !neighbor ? c->size : send ? c->topology.destinations : c->topology.sources;
	r.counts = (const void *)s->counts;
	r.displs = (const void *)s->displs;
	r.types = (const void *)s->types;
	r.count = a->wide ? sizeof(MPI_Count) : sizeof(int);
	r.displ = a->wide || a->kind == GOMPI_NEIGHBOR_ALLTOALLW ? sizeof(MPI_Aint) : sizeof(int);
	return r;
}

static size_t array_bytes(const struct arrays *s) {
	return (size_t)s->n * ((s->counts != NULL) * s->count + (s->displs != NULL) * s->displ +
			       (s->types != NULL) * sizeof(MPI_Datatype));
}

// Copies the arrays to *at, or compares them with the contents there. Returns false if they differ. Advances *at.
static bool put_arrays(const struct arrays *s, char **at, bool compare) {
	const void *from[] = {s->counts, s->displs, s->types};
	size_t element[] = {s->count, s->displ, sizeof(MPI_Datatype)};
	for (int i = 0; i < 3; i++) {
		if (from[i] == NULL)
			continue;
		size_t n = (size_t)s->n * element[i];
		if (compare && memcmp(*at, from[i], n) != 0)
			return false;
		if (!compare)
			gompi_copy_few(*at, from[i], n);
		*at += n;
	}
	return true;
}

static bool same_side(const struct gompi_side *x, const struct gompi_side *y) {
	return x->buf == y->buf && x->count == y->count && x->type == y->type && x->counts == y->counts &&
	       x->displs == y->displs && x->types == y->types;
}

static int types_in(const struct arrays *s) { return s->types != NULL ? s->n : 0; }

// Returns the i-th datatype of a call: first those of its sides, then those of their arrays. NULL if the handle is
// invalid.
static const struct gompi_type *type_at(const struct gompi_collective *a, const struct arrays s[2], int i) {
	int sends = types_in(&s[0]);
	if (i < 2)
		return gompi_type_get((MPI_Datatype)(i == 0 ? a->send.type : a->recv.type));
	i -= 2;
	return gompi_type_get(((const MPI_Datatype *)s[i >= sends].types)[i >= sends ? i - sends : i]);
}

static bool same_types(const struct kept *k, const struct arrays s[2]) {
	for (int i = 0; i < k->n; i++)
		if (type_at(&k->call, s, i) != k->types[i])
			return false;
	return true;
}

static bool is_of(const struct kept *k, const struct gompi_comm *c, const struct gompi_collective *a) {
	const struct gompi_collective *b = &k->call;
	if (b->kind != a->kind || b->root != a->root || b->op != a->op || b->wide != a->wide ||
	    !same_side(&b->send, &a->send) || !same_side(&b->recv, &a->recv))
		return false;
	struct arrays s[2] = {arrays_of(c, a, true), arrays_of(c, a, false)};
	char *at = (char *)(uintptr_t)k->copy;
	return put_arrays(&s[0], &at, true) && put_arrays(&s[1], &at, true) && same_types(k, s);
}

static void end_kept(struct kept *k) {
	for (int i = 0; i < k->n; i++)
		if (k->types[i] != NULL)
			gompi_type_drop(k->types[i]);
	gompi_plan_unkeep(k->plan);
	free(k->types);
	free(k);
}

struct gompi_plan *gompi_kept_take(struct gompi_comm *c, const struct gompi_collective *a) {
	for (int i = 0; c->kept != NULL && i < PLANS; i++) {
		struct kept *k = c->kept->at[i];
		if (k != NULL && is_of(k, c, a) && gompi_plan_reuse(k->plan))
			return k->plan;
	}
	return NULL;
}

void gompi_kept_add(struct gompi_comm *c, const struct gompi_collective *a, struct gompi_plan *p) {
	if (!is_plain(c, a) || (c->kept == NULL && (c->kept = calloc(1, sizeof *c->kept)) == NULL)) {
		gompi_plan_unkeep(p);
		return;
	}
	struct arrays s[2] = {arrays_of(c, a, true), arrays_of(c, a, false)};
	int n = 2 + types_in(&s[0]) + types_in(&s[1]);
	struct kept *k = malloc(sizeof *k + array_bytes(&s[0]) + array_bytes(&s[1]));
	const struct gompi_type **types = malloc((size_t)n * sizeof *types);
	if (k == NULL || types == NULL) {
		gompi_plan_unkeep(p);
		free(k);
		free(types);
		return;
	}
	*k = (struct kept){.call = *a, .plan = p, .types = types, .n = n};
	char *at = k->copy;
	put_arrays(&s[0], &at, false);
	put_arrays(&s[1], &at, false);
	for (int i = 0; i < n; i++)
		if ((types[i] = type_at(a, s, i)) != NULL)
			gompi_type_hold(types[i]);
	struct kept **place = &c->kept->at[c->kept->next++ % PLANS];
	if (*place != NULL)
		end_kept(*place);
	*place = k;
}

void gompi_kept_close(uintptr_t handle) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)handle);
	struct gompi_kept *kept = c != NULL ? c->kept : NULL;
	if (kept == NULL)
		return;
	c->kept = NULL;
	for (int i = 0; i < PLANS; i++)
		if (kept->at[i] != NULL)
			end_kept(kept->at[i]);
	free(kept);
}
