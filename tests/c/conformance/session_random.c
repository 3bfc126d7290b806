/* Runs random histories of sessions, and compares every result with a model. Several threads of each rank initialize
 *   and finalize sessions, and create, use and free groups, communicators, windows and intercommunicators of these
 *   sessions, before, during and after MPI_Init and MPI_Finalize of the main thread. Thread i makes the same random
 *   choices at all ranks, and ranks that are not in a group skip the calls on its communicators. Operations that
 *   combine objects of two sessions fail. After each round all objects are freed, and the descriptors, the memory maps
 *   and the live handles of the process do not grow. The environment variable SESSION_SEED selects one history, and
 *   SESSION_SEEDS the number of histories, each in a round. MPI-5.0 7.3, 7.4, 11.3.
 *
 * np: 1 2 3 4
 * nodes: 2
 * timeout: 120
 */
#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "../check.h"

enum {
	THREADS = 3,
	MAX_RANKS = 16,
	SESSIONS = 3,
	GROUPS = 6,
	COMMS = 5,
	WINDOWS = 2,
	MESSAGES = 2,
	STEPS = 60,
	ROUNDS = 12,
	NO_SESSION = -1,  /* objects of MPI_COMM_WORLD */
	ANY_SESSION = -2, /* empty groups */
	BUFFER_BYTES = 4096,
};

/* The members of a group: ranks in MPI_COMM_WORLD. */
struct members {
	int n, rank[MAX_RANKS];
};

struct group {
	MPI_Group handle;
	int is_used, session;
	int is_common; /* all ranks have the same members */
	struct members members;
};

struct comm {
	MPI_Comm handle; /* MPI_COMM_NULL at ranks that are not members */
	int is_used, session;
	struct members members;
};

struct window {
	MPI_Win handle; /* MPI_WIN_NULL at ranks that are not members */
	int is_used, session;
	struct members members;
	int *memory, is_own_memory;
};

/* A message to the right neighbour in a communicator, which is completed in a later step. */
struct message {
	MPI_Request requests[2];
	int is_used, session, expected;
	int *sent, *received; /* NULL at ranks that are not members */
};

/* The state of one thread's history. The members `random`, `is_used`, `session` and `is_common` are the same at all
 * ranks. */
struct history {
	pthread_t thread;
	int number, step;
	uint64_t seed, random;
	MPI_Session sessions[SESSIONS];
	struct group groups[GROUPS];
	struct comm comms[COMMS];
	struct window windows[WINDOWS];
	struct message messages[MESSAGES];
	int init_step, finalize_step; /* steps of MPI_Init and MPI_Finalize; -1 if the history has none */
	int is_world_open;
};

static int attributes_set, attributes_deleted; /* by all threads */

#define EXPECT(h, cond, format, ...)                                                                            \
	CHECK(cond, "SESSION_SEED=%llu thread %d step %d: " format, (unsigned long long)(h)->seed, (h)->number, \
	      (h)->step, __VA_ARGS__)
#define EXPECT_CLASS(h, call, class)                                                             \
	do {                                                                                     \
		int found_ = check_class(call);                                                  \
		EXPECT(h, found_ == (class), "%s gave class %d, not %s", #call, found_, #class); \
	} while (0)
#define EXPECT_OK(h, call) EXPECT_CLASS(h, call, MPI_SUCCESS)

/* Returns a random number from 0 to n - 1, the same at all ranks. */
static int draw(struct history *h, int n) { return (int)(check_random(&h->random) % (uint64_t)n); }

static int rank_of(const struct members *m, int rank) {
	for (int i = 0; i < m->n; i++)
		if (m->rank[i] == rank)
			return i;
	return MPI_UNDEFINED;
}

static int contains(const struct members *m, int rank) { return rank_of(m, rank) != MPI_UNDEFINED; }

static void append(struct members *m, int rank) { m->rank[m->n++] = rank; }

static struct members everybody(void) {
	struct members m = {0};
	for (int i = 0; i < check_size; i++)
		append(&m, i);
	return m;
}

/* Returns the expected result of MPI_Group_compare. */
static int compare(const struct members *a, const struct members *b) {
	int result = a->n == b->n ? MPI_IDENT : MPI_UNEQUAL;
	for (int i = 0; i < a->n && result != MPI_UNEQUAL; i++) {
		if (!contains(b, a->rank[i]))
			result = MPI_UNEQUAL;
		else if (a->rank[i] != b->rank[i])
			result = MPI_SIMILAR;
	}
	return result;
}

/* Searches an array of a history for an element whose field is_used equals `wanted`, beginning at a random index.
 * Returns the address of the element, or NULL if no element matches. */
#define FIND(h, array, count, wanted)                                                \
	__extension__({                                                              \
		int first_ = draw(h, count);                                         \
		__typeof__(&(h)->array[0]) found_ = NULL;                            \
		for (int i_ = 0; i_ < (count) && found_ == NULL; i_++)               \
			if ((h)->array[(first_ + i_) % (count)].is_used == (wanted)) \
				found_ = &(h)->array[(first_ + i_) % (count)];       \
		found_;                                                              \
	})

static struct group *used_group(struct history *h) { return FIND(h, groups, GROUPS, 1); }

static struct comm *used_comm(struct history *h) { return FIND(h, comms, COMMS, 1); }

/* Stores a new group in a free slot, if there is one, and compares it with its model. Otherwise frees it. */
static void add_group(struct history *h, MPI_Group handle, int session, int is_common, const struct members *m) {
	int size = -1, rank = -1, all[MAX_RANKS], translated[MAX_RANKS];
	EXPECT_OK(h, MPI_Group_size(handle, &size));
	EXPECT_OK(h, MPI_Group_rank(handle, &rank));
	EXPECT(h, size == m->n && rank == rank_of(m, check_rank), "group of size %d, rank %d; not %d, %d", size, rank,
	       m->n, rank_of(m, check_rank));
	struct group *g = FIND(h, groups, GROUPS, 0);
	struct group *other = used_group(h);
	if (other != NULL && (session == other->session || m->n == 0) && other->members.n > 0) {
		for (int i = 0; i < other->members.n; i++)
			all[i] = i;
		EXPECT_OK(h, MPI_Group_translate_ranks(other->handle, other->members.n, all, handle, translated));
		for (int i = 0; i < other->members.n; i++)
			EXPECT(h, translated[i] == rank_of(m, other->members.rank[i]), "rank %d is translated to %d", i,
			       translated[i]);
		int result = -1, expected = compare(m, &other->members);
		EXPECT_OK(h, MPI_Group_compare(handle, other->handle, &result));
		EXPECT(h, result == expected, "groups compare as %d, not %d", result, expected);
	}
	if (g == NULL) {
		EXPECT_OK(h, MPI_Group_free(&handle));
		return;
	}
	*g = (struct group){handle, 1, is_common && m->n == 0 ? ANY_SESSION : session, is_common, *m};
}

static void free_group(struct history *h, struct group *g) {
	if (g->handle != MPI_GROUP_EMPTY)
		EXPECT_OK(h, MPI_Group_free(&g->handle));
	g->is_used = 0;
}

static void group_from_pset(struct history *h) {
	static const char *const names[] = {"mpi://WORLD", "mpi://SELF", "MPI://world"};
	int s = draw(h, SESSIONS), name = draw(h, 3);
	struct members m = everybody();
	MPI_Group g = MPI_GROUP_NULL;
	if (h->sessions[s] == MPI_SESSION_NULL)
		return;
	EXPECT_OK(h, MPI_Group_from_session_pset(h->sessions[s], names[name], &g));
	if (name == 1)
		m = (struct members){1, {check_rank}};
	add_group(h, g, s, name != 1, &m);
	g = MPI_GROUP_NULL;
	if (draw(h, 4) == 0) {
		EXPECT_CLASS(h, MPI_Group_from_session_pset(h->sessions[s], "mpi://NONE", &g), MPI_ERR_ARG);
		EXPECT(h, g == MPI_GROUP_NULL, "the group is %p", (void *)g);
	}
}

/* Creates a group of members of another one. */
static void derive_group(struct history *h) {
	struct group *from = used_group(h);
	int mask = draw(h, 1 << MAX_RANKS), is_exclusive = draw(h, 2), is_reverse = draw(h, 2), ranks[MAX_RANKS], n = 0;
	int is_all = draw(h, 3) == 0;
	MPI_Group g = MPI_GROUP_NULL;
	struct members m = {0};
	if (from == NULL)
		return;
	if (is_all) /* a permutation, or an empty group */
		mask = -1;
	for (int k = 0; k < from->members.n; k++) {
		int i = is_reverse && !is_exclusive ? from->members.n - 1 - k : k;
		if (mask & 1 << i)
			ranks[n++] = i;
		if (((mask >> i) & 1) != is_exclusive)
			append(&m, from->members.rank[i]);
	}
	EXPECT_OK(h, is_exclusive ? MPI_Group_excl(from->handle, n, ranks, &g)
				  : MPI_Group_incl(from->handle, n, ranks, &g));
	add_group(h, g, from->session, from->is_common, &m);
}

static void combine_groups(struct history *h) {
	struct group *a = used_group(h), *b = used_group(h);
	int kind = draw(h, 3), rc;
	MPI_Group g = MPI_GROUP_NULL;
	struct members m = {0};
	if (a == NULL)
		return;
	if (kind == 0)
		rc = MPI_Group_union(a->handle, b->handle, &g);
	else if (kind == 1)
		rc = MPI_Group_intersection(a->handle, b->handle, &g);
	else
		rc = MPI_Group_difference(a->handle, b->handle, &g);
	if (a->session != b->session && a->members.n > 0 && b->members.n > 0) {
		EXPECT_CLASS(h, rc, MPI_ERR_GROUP);
		return;
	}
	EXPECT_OK(h, rc);
	for (int i = 0; i < a->members.n; i++)
		if (kind == 0 || contains(&b->members, a->members.rank[i]) == (kind == 1))
			append(&m, a->members.rank[i]);
	for (int i = 0; i < b->members.n && kind == 0; i++)
		if (!contains(&a->members, b->members.rank[i]))
			append(&m, b->members.rank[i]);
	/* if the members differ, the group may belong to one session at some ranks, and to the other one at others */
	if (a->session == b->session || (a->is_common && b->is_common))
		add_group(h, g, a->members.n > 0 ? a->session : b->session, a->is_common && b->is_common, &m);
	else if (g != MPI_GROUP_EMPTY)
		EXPECT_OK(h, MPI_Group_free(&g));
}

/* Checks the size of a communicator and some collectives. The value depends on the step, so that calls of different
 * steps cannot be confused. */
static void use_comm(struct history *h, MPI_Comm c, const struct members *m, int kind, int value) {
	int size = -1, rank = -1, sum = -1, expected = 0, me = rank_of(m, check_rank), left, from = -1;
	int own = value + check_rank, parts[MAX_RANKS];
	MPI_Request request;
	if (c == MPI_COMM_NULL)
		return;
	EXPECT_OK(h, MPI_Comm_size(c, &size));
	EXPECT_OK(h, MPI_Comm_rank(c, &rank));
	EXPECT(h, size == m->n && rank == me, "communicator of size %d, rank %d; not %d, %d", size, rank, m->n, me);
	if (size != m->n || rank != me)
		return;
	for (int i = 0; i < m->n; i++)
		expected += value + m->rank[i];
	left = (me + m->n - 1) % m->n;
	switch (kind) {
	case 0:
		EXPECT_OK(h, MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, c));
		EXPECT(h, sum == expected, "the sum is %d, not %d", sum, expected);
		break;
	case 1:
		EXPECT_OK(h, MPI_Allgather(&own, 1, MPI_INT, parts, 1, MPI_INT, c));
		for (int i = 0; i < m->n; i++)
			EXPECT(h, parts[i] == value + m->rank[i], "value %d of rank %d", parts[i], i);
		break;
	case 2:
		EXPECT_OK(h, MPI_Sendrecv(&own, 1, MPI_INT, (me + 1) % m->n, value & 7, &from, 1, MPI_INT, left,
					  value & 7, c, MPI_STATUS_IGNORE));
		EXPECT(h, from == value + m->rank[left], "received %d, not %d", from, value + m->rank[left]);
		break;
	case 3:
		EXPECT_OK(h, MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, c, &request));
		EXPECT_OK(h, MPI_Wait(&request, MPI_STATUS_IGNORE));
		EXPECT(h, sum == expected, "the sum is %d, not %d", sum, expected);
		break;
	default:
		EXPECT_OK(h, MPI_Bcast(&own, 1, MPI_INT, value % m->n, c));
		EXPECT(h, own == value + m->rank[value % m->n], "the root's value is %d", own);
	}
}

static void add_comm(struct history *h, MPI_Comm handle, int session, const struct members *m) {
	struct comm *c = FIND(h, comms, COMMS, 0);
	int is_member = contains(m, check_rank), kind = draw(h, 5), value = draw(h, 10000);
	EXPECT(h, is_member == (handle != MPI_COMM_NULL), "a communicator %p", (void *)handle);
	if (is_member && handle != MPI_COMM_NULL)
		MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN);
	use_comm(h, handle, m, kind, value);
	if (c == NULL) {
		if (handle != MPI_COMM_NULL)
			EXPECT_OK(h, MPI_Comm_free(&handle));
		return;
	}
	*c = (struct comm){handle, 1, session, *m};
}

/* Starts a message, whose size selects the protocol. */
static void start_message(struct history *h) {
	struct comm *c = used_comm(h);
	struct message *m = FIND(h, messages, MESSAGES, 0);
	int value = draw(h, 10000), count = draw(h, 2) ? 1 : 50000;
	if (c == NULL || m == NULL)
		return;
	*m = (struct message){{MPI_REQUEST_NULL, MPI_REQUEST_NULL}, 1, c->session, 0, NULL, NULL};
	if (c->handle == MPI_COMM_NULL)
		return;
	int me = rank_of(&c->members, check_rank), n = c->members.n, left = (me + n - 1) % n;
	m->sent = calloc((size_t)count, sizeof *m->sent);
	m->received = calloc((size_t)count, sizeof *m->received);
	m->sent[0] = value + check_rank;
	m->expected = value + c->members.rank[left];
	EXPECT_OK(h, MPI_Isend(m->sent, count, MPI_INT, (me + 1) % n, 10, c->handle, &m->requests[0]));
	EXPECT_OK(h, MPI_Irecv(m->received, count, MPI_INT, left, 10, c->handle, &m->requests[1]));
}

static void complete_message(struct history *h, struct message *m) {
	EXPECT_OK(h, MPI_Waitall(2, m->requests, MPI_STATUSES_IGNORE));
	if (m->received != NULL)
		EXPECT(h, m->received[0] == m->expected, "received %d, not %d", m->received[0], m->expected);
	free(m->sent);
	free(m->received);
	m->is_used = 0;
}

static void free_comm(struct history *h, struct comm *c, int is_disconnect) {
	for (int i = 0; i < MESSAGES && is_disconnect; i++) /* MPI_Comm_disconnect waits for messages */
		if (h->messages[i].is_used && h->messages[i].session == c->session)
			complete_message(h, &h->messages[i]);
	if (c->handle != MPI_COMM_NULL) {
		EXPECT_OK(h, is_disconnect ? MPI_Comm_disconnect(&c->handle) : MPI_Comm_free(&c->handle));
		EXPECT(h, c->handle == MPI_COMM_NULL, "the handle is %p", (void *)c->handle);
	}
	c->is_used = 0;
}

/* Creates a communicator of a group. Ranks that are not in the group get an error, or do not call. */
static void comm_from_group(struct history *h) {
	struct group *g = used_group(h);
	int is_called_by_all = draw(h, 3) == 0;
	MPI_Comm c = MPI_COMM_NULL;
	char tag[64];
	/* a group of MPI_COMM_WORLD has no session, and a group whose members differ has no common communicator */
	if (g == NULL || !g->is_common || g->session == NO_SESSION)
		return;
	snprintf(tag, sizeof tag, "org.example.thread%d", h->number);
	if (contains(&g->members, check_rank))
		EXPECT_OK(h, MPI_Comm_create_from_group(g->handle, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	else if (is_called_by_all)
		EXPECT_CLASS(h, MPI_Comm_create_from_group(g->handle, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
			     g->members.n == 0 ? MPI_SUCCESS : MPI_ERR_GROUP);
	if (g->members.n > 0)
		add_comm(h, c, g->session, &g->members);
	else
		EXPECT(h, c == MPI_COMM_NULL, "a communicator of no process: %p", (void *)c);
}

/* Creates a communicator from another one. */
static void derive_comm(struct history *h) {
	struct comm *from = used_comm(h);
	struct group *g = used_group(h);
	int kind = draw(h, 5), colors = 1 + draw(h, 3), is_reverse = draw(h, 2), tag = draw(h, 100), rc;
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Request request;
	struct members m = {0};
	if (from == NULL)
		return;
	if (kind == 2) { /* only color 0, so that the members are the same at all ranks */
		for (int k = 0; k < from->members.n; k++) {
			int i = is_reverse ? from->members.n - 1 - k : k;
			if (i % colors == 0)
				append(&m, from->members.rank[i]);
		}
		int me = rank_of(&from->members, check_rank);
		if (from->handle != MPI_COMM_NULL)
			EXPECT_OK(h, MPI_Comm_split(from->handle, me % colors == 0 ? 0 : MPI_UNDEFINED,
						    is_reverse ? -me : me, &c));
		add_comm(h, c, from->session, &m);
		return;
	}
	if (kind >= 3) {
		if (g == NULL || !g->is_common || g->members.n == 0)
			return;
		int is_subset = 1;
		for (int i = 0; i < g->members.n; i++)
			is_subset = is_subset && contains(&from->members, g->members.rank[i]);
		int is_other_session = g->session != from->session;
		if (from->handle == MPI_COMM_NULL || (kind == 4 && !contains(&g->members, check_rank)))
			rc = MPI_SUCCESS;
		else if (!is_subset && !is_other_session)
			rc = MPI_SUCCESS; /* the error is not tested, since it may follow communication */
		else
			rc = kind == 3 ? MPI_Comm_create(from->handle, g->handle, &c)
				       : MPI_Comm_create_group(from->handle, g->handle, tag, &c);
		if (!is_other_session) {
			EXPECT_OK(h, rc);
			if (is_subset)
				add_comm(h, c, from->session, &g->members);
		} else if (from->handle != MPI_COMM_NULL && (kind == 3 || contains(&g->members, check_rank))) {
			EXPECT_CLASS(h, rc, MPI_ERR_GROUP);
			EXPECT(h, c == MPI_COMM_NULL, "the communicator is %p", (void *)c);
		}
		return;
	}
	if (from->handle != MPI_COMM_NULL && kind == 0)
		EXPECT_OK(h, MPI_Comm_dup(from->handle, &c));
	if (from->handle != MPI_COMM_NULL && kind == 1) {
		EXPECT_OK(h, MPI_Comm_idup(from->handle, &c, &request));
		EXPECT_OK(h, MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	add_comm(h, c, from->session, &from->members);
}

/* Puts a value to the right neighbour, and adds 1 to all. */
static void use_window(struct history *h, struct window *w, int value) {
	const struct members *m = &w->members;
	int me = rank_of(m, check_rank), own = value + check_rank, one = 1;
	if (w->handle == MPI_WIN_NULL)
		return;
	EXPECT_OK(h, MPI_Win_fence(0, w->handle));
	EXPECT_OK(h, MPI_Put(&own, 1, MPI_INT, (me + 1) % m->n, 0, 1, MPI_INT, w->handle));
	EXPECT_OK(h, MPI_Win_fence(0, w->handle));
	int left = (me + m->n - 1) % m->n;
	EXPECT(h, w->memory[0] == value + m->rank[left], "the window has %d, not %d", w->memory[0],
	       value + m->rank[left]);
	w->memory[1] = 0;
	EXPECT_OK(h, MPI_Win_fence(0, w->handle));
	for (int i = 0; i < m->n; i++)
		EXPECT_OK(h, MPI_Accumulate(&one, 1, MPI_INT, i, 1, 1, MPI_INT, MPI_SUM, w->handle));
	EXPECT_OK(h, MPI_Win_fence(0, w->handle));
	EXPECT(h, w->memory[1] == m->n, "%d of %d accumulates", w->memory[1], m->n);
}

static void create_window(struct history *h) {
	struct comm *c = used_comm(h);
	struct window *w = FIND(h, windows, WINDOWS, 0);
	int is_own = draw(h, 2), value = draw(h, 10000);
	MPI_Aint bytes = 2 * (MPI_Aint)sizeof(int);
	if (c == NULL || w == NULL)
		return;
	*w = (struct window){MPI_WIN_NULL, 1, c->session, c->members, NULL, is_own};
	if (c->handle != MPI_COMM_NULL && is_own) {
		w->memory = malloc((size_t)bytes);
		EXPECT_OK(h, MPI_Win_create(w->memory, bytes, sizeof(int), MPI_INFO_NULL, c->handle, &w->handle));
	} else if (c->handle != MPI_COMM_NULL) {
		EXPECT_OK(h, MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, c->handle, &w->memory, &w->handle));
	}
	use_window(h, w, value);
}

static void free_window(struct history *h, struct window *w) {
	if (w->handle != MPI_WIN_NULL)
		EXPECT_OK(h, MPI_Win_free(&w->handle));
	if (w->is_own_memory)
		free(w->memory);
	w->is_used = 0;
}

/* Creates an intercommunicator of two groups of a session, merges it, and frees it. */
static void inter_from_groups(struct history *h) {
	struct group *a = used_group(h), *b = used_group(h);
	int leaders[2] = {draw(h, MAX_RANKS), draw(h, MAX_RANKS)}, is_high = draw(h, 2), value = draw(h, 10000);
	char tag[64];
	MPI_Comm c = MPI_COMM_NULL, merged = MPI_COMM_NULL;
	if (a == NULL || !a->is_common || !b->is_common || a->session < 0 || a->session != b->session)
		return;
	int is_disjoint = 1, size = -1, remote = -1;
	for (int i = 0; i < a->members.n; i++)
		is_disjoint = is_disjoint && !contains(&b->members, a->members.rank[i]);
	struct group *mine = contains(&a->members, check_rank) ? a : contains(&b->members, check_rank) ? b : NULL;
	struct group *theirs = mine == a ? b : a;
	snprintf(tag, sizeof tag, "org.example.inter%d", h->number);
	if (mine == NULL)
		return;
	int local_leader = leaders[mine == b] % mine->members.n, remote_leader = leaders[mine != b] % theirs->members.n;
	if (!is_disjoint) {
		EXPECT_CLASS(h,
			     MPI_Intercomm_create_from_groups(mine->handle, local_leader, theirs->handle, remote_leader,
							      tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
			     MPI_ERR_GROUP);
		return;
	}
	EXPECT_OK(h, MPI_Intercomm_create_from_groups(mine->handle, local_leader, theirs->handle, remote_leader, tag,
						      MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	EXPECT_OK(h, MPI_Comm_size(c, &size));
	EXPECT_OK(h, MPI_Comm_remote_size(c, &remote));
	EXPECT(h, size == mine->members.n && remote == theirs->members.n, "an intercommunicator of %d and %d", size,
	       remote);
	EXPECT_OK(h, MPI_Intercomm_merge(c, (mine == a) == is_high, &merged));
	struct members m = {0};
	const struct group *low = is_high ? b : a, *high = is_high ? a : b;
	for (int i = 0; i < low->members.n; i++)
		append(&m, low->members.rank[i]);
	for (int i = 0; i < high->members.n; i++)
		append(&m, high->members.rank[i]);
	EXPECT_OK(h, MPI_Comm_free(&c));
	use_comm(h, merged, &m, value % 5, value);
	EXPECT_OK(h, MPI_Comm_free(&merged));
}

static int delete_attribute(MPI_Comm c, int keyval, void *value, void *extra) {
	(void)c, (void)keyval, (void)value, (void)extra;
	__atomic_add_fetch(&attributes_deleted, 1, __ATOMIC_RELAXED);
	return MPI_SUCCESS;
}

/* Sets an attribute, and sends a message from the buffer of the session. */
static void use_attributes(struct history *h) {
	struct comm *c = used_comm(h);
	int keyval, value = draw(h, 10000), received = -1, bytes = 0, flag = 0;
	char buffer[BUFFER_BYTES];
	void *address, *found = NULL;
	if (c == NULL || c->handle == MPI_COMM_NULL || c->session < 0)
		return;
	int me = rank_of(&c->members, check_rank), n = c->members.n, left = (me + n - 1) % n, own = value + check_rank;
	EXPECT_OK(h, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &keyval, NULL));
	EXPECT_OK(h, MPI_Comm_set_attr(c->handle, keyval, h));
	__atomic_add_fetch(&attributes_set, 1, __ATOMIC_RELAXED);
	EXPECT_OK(h, MPI_Comm_get_attr(c->handle, keyval, &found, &flag));
	EXPECT(h, flag && found == (void *)h, "the attribute is %p", found);
	EXPECT_OK(h, MPI_Comm_free_keyval(&keyval));
	EXPECT_OK(h, MPI_Session_attach_buffer(h->sessions[c->session], buffer, sizeof buffer));
	EXPECT_OK(h, MPI_Bsend(&own, 1, MPI_INT, (me + 1) % n, 9, c->handle));
	EXPECT_OK(h, MPI_Recv(&received, 1, MPI_INT, left, 9, c->handle, MPI_STATUS_IGNORE));
	EXPECT(h, received == value + c->members.rank[left], "received %d", received);
	EXPECT_OK(h, MPI_Session_detach_buffer(h->sessions[c->session], &address, &bytes));
	EXPECT(h, address == (void *)buffer && bytes == BUFFER_BYTES, "detached %d bytes", bytes);
}

static void begin_session(struct history *h) {
	int s = draw(h, SESSIONS), n = 0, flag, level_bytes = 64;
	char level[64] = "";
	MPI_Info info = MPI_INFO_NULL;
	if (h->sessions[s] != MPI_SESSION_NULL)
		return;
	EXPECT_OK(h, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &h->sessions[s]));
	EXPECT_OK(h, MPI_Session_get_num_psets(h->sessions[s], MPI_INFO_NULL, &n));
	EXPECT(h, n == 2 || n == 3, "%d process sets", n);
	EXPECT_OK(h, MPI_Session_get_info(h->sessions[s], &info));
	EXPECT_OK(h, MPI_Info_get_string(info, "thread_level", &level_bytes, level, &flag));
	EXPECT(h, flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0, "thread_level is %s", level);
	EXPECT_OK(h, MPI_Info_free(&info));
}

/* Frees all objects of a session, and all empty groups, in a random order of kinds. */
static void free_objects(struct history *h, int session) {
	int order = draw(h, 3);
	for (int i = 0; i < MESSAGES; i++)
		if (h->messages[i].is_used && h->messages[i].session == session)
			complete_message(h, &h->messages[i]);
	for (int k = 0; k < 3; k++) {
		int kind = (order + k) % 3;
		for (int i = 0; i < GROUPS && kind == 0; i++)
			if (h->groups[i].is_used &&
			    (h->groups[i].session == session || h->groups[i].session == ANY_SESSION))
				free_group(h, &h->groups[i]);
		for (int i = 0; i < COMMS && kind == 1; i++)
			if (h->comms[i].is_used && h->comms[i].session == session)
				free_comm(h, &h->comms[i], i % 2);
		for (int i = 0; i < WINDOWS && kind == 2; i++)
			if (h->windows[i].is_used && h->windows[i].session == session)
				free_window(h, &h->windows[i]);
	}
}

static void end_session(struct history *h, int s) {
	if (h->sessions[s] == MPI_SESSION_NULL)
		return;
	free_objects(h, s);
	EXPECT_OK(h, MPI_Session_finalize(&h->sessions[s]));
	EXPECT(h, h->sessions[s] == MPI_SESSION_NULL, "the handle is %p", (void *)h->sessions[s]);
}

static void begin_world(struct history *h) {
	int provided = -1, flag = -1;
	EXPECT_OK(h, MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
	EXPECT(h, provided == MPI_THREAD_MULTIPLE, "the thread level is %d", provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	EXPECT_OK(h, MPI_Initialized(&flag));
	EXPECT(h, flag, "MPI_Initialized: %d", flag);
	h->is_world_open = 1;
}

static void end_world(struct history *h) {
	int flag = -1;
	free_objects(h, NO_SESSION);
	EXPECT_OK(h, MPI_Finalize());
	EXPECT_OK(h, MPI_Finalized(&flag));
	EXPECT(h, flag, "MPI_Finalized: %d", flag);
	h->is_world_open = 0;
}

/* Makes a group or communicator of MPI_COMM_WORLD. */
static void use_world(struct history *h) {
	struct members m = everybody();
	int is_group = draw(h, 2);
	MPI_Group g = MPI_GROUP_NULL;
	MPI_Comm c = MPI_COMM_NULL;
	if (!h->is_world_open)
		return;
	if (is_group) {
		EXPECT_OK(h, MPI_Comm_group(MPI_COMM_WORLD, &g));
		add_group(h, g, NO_SESSION, 1, &m);
	} else {
		EXPECT_OK(h, MPI_Comm_dup(MPI_COMM_WORLD, &c));
		add_comm(h, c, NO_SESSION, &m);
	}
}

static void run_step(struct history *h) {
	struct comm *c = used_comm(h);
	struct group *g = used_group(h);
	struct window *w = FIND(h, windows, WINDOWS, 1);
	struct message *m = FIND(h, messages, MESSAGES, 1);
	int kind = draw(h, 100), how = draw(h, 5), value = draw(h, 10000), s = draw(h, SESSIONS);
	if (h->step == h->init_step)
		begin_world(h);
	if (h->step == h->finalize_step)
		end_world(h);
	if (kind < 15)
		begin_session(h);
	else if (kind < 19)
		end_session(h, s);
	else if (kind < 30)
		group_from_pset(h);
	else if (kind < 38)
		derive_group(h);
	else if (kind < 45)
		combine_groups(h);
	else if (kind < 49 && g != NULL)
		free_group(h, g);
	else if (kind < 60)
		comm_from_group(h);
	else if (kind < 67)
		derive_comm(h);
	else if (kind < 75 && c != NULL)
		use_comm(h, c->handle, &c->members, how, value);
	else if (kind < 78 && c != NULL)
		free_comm(h, c, how % 2);
	else if (kind < 82)
		create_window(h);
	else if (kind < 84 && w != NULL)
		use_window(h, w, value);
	else if (kind < 86 && w != NULL)
		free_window(h, w);
	else if (kind < 90)
		inter_from_groups(h);
	else if (kind < 92)
		use_attributes(h);
	else if (kind < 95)
		start_message(h);
	else if (kind < 96 && m != NULL)
		complete_message(h, m);
	else
		use_world(h);
}

static void *run_history(void *arg) {
	struct history *h = arg;
	for (h->step = 0; h->step < STEPS; h->step++)
		run_step(h);
	for (int s = 0; s < SESSIONS; s++)
		end_session(h, s);
	return NULL;
}

/* What must not grow. */
struct usage {
	int descriptors, maps;
	unsigned long long objects; /* live handles, from the performance variables of gompirma */
};

static unsigned long long read_pvar(MPI_T_pvar_session session, const char *name) {
	int index = -1, count = 0;
	unsigned long long value = 0;
	MPI_T_pvar_handle handle;
	CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS, "no variable %s", name);
	CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS, "no handle of %s", name);
	CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "%s cannot be read", name);
	MPI_T_pvar_handle_free(session, &handle);
	return value;
}

static struct usage measure(void) {
	static const char *const objects[] = {"communicators", "windows", "groups", "sessions"};
	struct usage u = {0};
	int provided;
	MPI_T_pvar_session session;
	FILE *f = fopen("/proc/self/maps", "r");
	for (int c; f != NULL && (c = getc(f)) != EOF;)
		u.maps += c == '\n';
	if (f != NULL)
		fclose(f);
	DIR *d = opendir("/proc/self/fd");
	while (d != NULL && readdir(d) != NULL)
		u.descriptors++;
	if (d != NULL)
		closedir(d);
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_T_pvar_session_create(&session);
	for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
		u.objects += read_pvar(session, objects[i]);
	MPI_T_pvar_session_free(&session);
	MPI_T_finalize();
	return u;
}

/* Compares the usage of the process with an earlier one. The network and its connections may have been added. */
static void check_usage(const struct usage *before) {
	enum {
		MAX_MAPS = 24, /* arenas of malloc and of the library */
		MAX_DESCRIPTORS = 8,
	};
	struct usage u = measure();
	CHECK(u.objects == 0, "%llu objects are left", u.objects);
	CHECK(u.descriptors <= before->descriptors + MAX_DESCRIPTORS + check_size, "%d descriptors, before %d",
	      u.descriptors, before->descriptors);
	CHECK(u.maps <= before->maps + MAX_MAPS, "%d memory maps, before %d", u.maps, before->maps);
	int attributes = __atomic_load_n(&attributes_set, __ATOMIC_RELAXED);
	int deleted = __atomic_load_n(&attributes_deleted, __ATOMIC_RELAXED);
	CHECK(attributes == deleted, "%d attributes, %d deleted", attributes, deleted);
}

/* Runs the histories of one seed. MPI_Init and MPI_Finalize are in the main thread's history if has_world. */
static void run_round(uint64_t seed, int has_world) {
	static struct history histories[THREADS];
	for (int i = 0; i < THREADS; i++) {
		struct history *h = &histories[i];
		*h = (struct history){.number = i, .seed = seed, .init_step = -1, .finalize_step = -1};
		h->random = seed * THREADS + (uint64_t)i;
		for (int s = 0; s < SESSIONS; s++)
			h->sessions[s] = MPI_SESSION_NULL;
		if (i == 0 && has_world) {
			h->init_step = draw(h, STEPS / 2);
			h->finalize_step = h->init_step + 1 + draw(h, STEPS / 2 - 1);
		}
	}
	for (int i = 1; i < THREADS; i++)
		pthread_create(&histories[i].thread, NULL, run_history, &histories[i]);
	run_history(&histories[0]);
	for (int i = 1; i < THREADS; i++)
		pthread_join(histories[i].thread, NULL);
}

int main(void) {
	const char *one = getenv("SESSION_SEED"), *many = getenv("SESSION_SEEDS");
	int rounds = one != NULL ? 1 : many != NULL ? atoi(many) : ROUNDS;
	uint64_t first = one != NULL ? strtoull(one, NULL, 0) : 1;
	struct usage before = {0};
	MPI_Session session;
	MPI_Group world;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
	MPI_Group_rank(world, &check_rank);
	MPI_Group_size(world, &check_size);
	MPI_Group_free(&world);
	MPI_Session_finalize(&session);
	for (int i = 0; i < rounds; i++) {
		run_round(first + (uint64_t)i, i == rounds / 2);
		if (i == 0)
			before = measure();
		check_usage(&before);
	}
	if (check_rank == 0)
		check_print_result(check_errors);
	return check_errors != 0;
}
