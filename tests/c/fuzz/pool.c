/* Manages the objects that calls use. All ranks have the same objects in the same entries of the pool: an object that a
 * call created is used only if the call created it on all ranks. */
#include "fuzz.h"

enum { FREED = 16, STRANGE = 8 };

struct object pool[THINGS][SLOTS];

static void *freed[THINGS][FREED];
static int freeds[THINGS];
static void *recurring[THINGS][STRANGE]; /* handles that the library reuses, so they may be valid after a free */
static int recurrings[THINGS];

static MPI_Comm upkeep_comm; /* used by this file only, never by a drawn call */

static struct {
	int made;
	enum thing thing;
	union value value;
} made[MAX_PARAMS]; /* the objects that the call created, by parameter */

int thing_class(enum thing thing) {
	static const int classes[] = {[T_COMM] = MPI_ERR_COMM,
				      [T_GROUP] = MPI_ERR_GROUP,
				      [T_TYPE] = MPI_ERR_TYPE,
				      [T_OP] = MPI_ERR_OP,
				      [T_WIN] = MPI_ERR_WIN,
				      [T_REQUEST] = MPI_ERR_REQUEST,
				      [T_MESSAGE] = MPI_ERR_REQUEST,
				      [T_INFO] = MPI_ERR_INFO,
				      [T_ERRHANDLER] = MPI_ERR_ERRHANDLER,
				      [T_COMM_KEY] = MPI_ERR_KEYVAL,
				      [T_TYPE_KEY] = MPI_ERR_KEYVAL,
				      [T_WIN_KEY] = MPI_ERR_KEYVAL,
				      [T_MEMORY] = MPI_ERR_BASE,
				      [T_FILE] = MPI_ERR_FILE,
				      [T_SESSION] = MPI_ERR_SESSION,
				      [T_TOOL] = MPI_T_ERR_INVALID_HANDLE};
	return classes[thing];
}

void *thing_null(enum thing thing) {
	static void *const nulls[] = {[T_COMM] = MPI_COMM_NULL,
				      [T_GROUP] = MPI_GROUP_NULL,
				      [T_TYPE] = MPI_DATATYPE_NULL,
				      [T_OP] = MPI_OP_NULL,
				      [T_WIN] = MPI_WIN_NULL,
				      [T_REQUEST] = MPI_REQUEST_NULL,
				      [T_MESSAGE] = MPI_MESSAGE_NULL,
				      [T_INFO] = MPI_INFO_NULL,
				      [T_ERRHANDLER] = MPI_ERRHANDLER_NULL,
				      [T_COMM_KEY] = (void *)MPI_KEYVAL_INVALID,
				      [T_TYPE_KEY] = (void *)MPI_KEYVAL_INVALID,
				      [T_WIN_KEY] = (void *)MPI_KEYVAL_INVALID,
				      [T_MEMORY] = NULL,
				      [T_FILE] = MPI_FILE_NULL,
				      [T_SESSION] = MPI_SESSION_NULL,
				      [T_TOOL] = NULL};
	return nulls[thing];
}

/* Finds a live object by its handle. If several entries have the same handle, prefers an entry that may be freed to a
 * predefined one. Such a handle is freed once per entry. */
static struct object *find(enum thing thing, const void *handle) {
	struct object *found = NULL;
	for (int s = 0; s < SLOTS; s++)
		if (pool[thing][s].alive && pool[thing][s].value.pointer == handle && (!found || found->fixed))
			found = &pool[thing][s];
	return found;
}

int pool_is_live(enum thing thing, const void *handle) {
	if (find(thing, handle) || (thing == T_ERRHANDLER && is_own_handler(handle)))
		return 1;
	for (int k = 0; k < STRANGE; k++)
		if (recurring[thing][k] && recurring[thing][k] == handle)
			return 1;
	return 0;
}

void *pool_freed(struct call *c, enum thing thing) {
	if (thing >= THINGS)
		return NULL;
	return freed[thing][below(c, FREED)];
}

struct object *pool_pick(struct call *c, enum thing thing, need fits) {
	struct object *list[SLOTS];
	int n = 0;
	for (int s = 0; s < SLOTS; s++)
		if (pool[thing][s].agreed && pool[thing][s].alive && (!fits || fits(&pool[thing][s])))
			list[n++] = &pool[thing][s];
	return n ? list[below(c, n)] : NULL;
}

/* ---- properties of a new object */

static void learn_comm(struct object *o) {
	MPI_Comm comm = o->value.pointer;
	int status = MPI_UNDEFINED, weighted;
	handle_errors(T_COMM, comm);
	ignore_errors(1);
	MPI_Comm_size(comm, &o->size);
	MPI_Comm_rank(comm, &o->rank);
	MPI_Comm_test_inter(comm, &o->inter);
	o->topology = NO_TOPOLOGY;
	o->ndims = o->indegree = o->outdegree = 0;
	o->lone = o->all_null = 0;
	if (o->inter) {
		o->lone = o->size == 1;
		o->size = 1; /* only rank 0 is drawn, because it exists in both groups */
	} else
		MPI_Topo_test(comm, &status);
	if (status == MPI_CART) {
		o->topology = CART;
		MPI_Cartdim_get(comm, &o->ndims);
		o->indegree = o->outdegree = 2 * o->ndims;
		o->all_null = 1;
		for (int d = 0; d < o->ndims; d++) {
			int before, after;
			MPI_Cart_shift(comm, d, 1, &before, &after);
			o->all_null = o->all_null && before == MPI_PROC_NULL && after == MPI_PROC_NULL;
		}
	} else if (status == MPI_GRAPH) {
		o->topology = GRAPH;
		MPI_Graph_neighbors_count(comm, o->rank, &o->indegree);
		o->outdegree = o->indegree;
	} else if (status == MPI_DIST_GRAPH) {
		o->topology = DIST;
		MPI_Dist_graph_neighbors_count(comm, &o->indegree, &o->outdegree, &weighted);
	}
	ignore_errors(0);
}

static void learn_type(struct object *o, uint64_t random) {
	MPI_Datatype type = o->value.pointer;
	MPI_Count size = -1, lb = 0, extent = 0, low = 0, true_extent = -1;
	ignore_errors(1);
	MPI_Type_size_c(type, &size);
	MPI_Type_get_extent_c(type, &lb, &extent);
	MPI_Type_get_true_extent_c(type, &low, &true_extent);
	ignore_errors(0);
	o->bytes = size;
	o->extent = extent;
	o->low = low;
	o->high = low + true_extent;
	o->usable = size >= 0 && size <= 4096 && extent >= -8192 && extent <= 8192 && low >= -4096 &&
		    true_extent >= 0 && o->high <= 16384;
	o->committed = 0;
	if (o->usable &&
	    (random & 3 || (o->maker >= 0 && strncmp(functions[o->maker].name, "MPI_Type_dup", 12) == 0))) {
		upkeep(MPI_Type_commit(&type), "MPI_Type_commit");
		o->committed = 1;
	} else if (o->maker >= 0 && strncmp(functions[o->maker].name, "MPI_Type_dup", 12) == 0)
		o->committed = 1; /* a duplicate may be uncommitted, but 0 must mean "certainly uncommitted" */
}

static void learn_request(struct object *o) {
	const struct function *f = o->maker >= 0 ? &functions[o->maker] : NULL;
	o->persistent = o->general = o->partitioned = o->collective = o->p2p = o->active = 0;
	if (!f)
		return;
	o->persistent = strstr(f->name, "_init") != NULL;
	o->general = strstr(f->name, "Grequest") != NULL;
	o->partitioned = f->chapter == 4;
	o->collective = f->chapter == 6 || f->chapter == 8 || f->chapter == 7;
	o->p2p = f->chapter == 3 && !strstr(f->name, "uffer");
}

static void learn(struct object *o, uint64_t random) {
	switch (o->thing) {
	case T_COMM:
		learn_comm(o);
		break;
	case T_TYPE:
		learn_type(o, random);
		break;
	case T_WIN:
		window_learn(o);
		break;
	case T_REQUEST:
		learn_request(o);
		break;
	case T_GROUP:
		ignore_errors(1);
		MPI_Group_size(o->value.pointer, &o->size);
		ignore_errors(0);
		break;
	default:
		break;
	}
}

/* ---- the end of objects */

static void gone(struct object *o) {
	enum thing t = o->thing;
	o->alive = 0;
	o->agreed = 0;
	/* A generalized request that was freed is not used as a freed handle: its handle is valid until the request is
	 * completed. */
	if (!find(t, o->value.pointer) && !(t == T_REQUEST && o->general))
		freed[t][freeds[t]++ % FREED] = o->value.pointer;
}

/* Frees an object. Collective if the MPI call that frees the object is collective. */
static void release(struct object *o) {
	void *h = o->value.pointer;
	int key = (int)o->value.number;
	static char buffer[1 << 16];
	if (o->thing == T_COMM && !quiet)
		drain(); /* receives all messages now, because MPI_Finalize would wait for large ones */
	record_upkeep("freeing an object");
	switch (o->thing) {
	case T_COMM:
		upkeep(MPI_Comm_free((MPI_Comm *)&h), "MPI_Comm_free");
		break;
	case T_GROUP:
		upkeep(MPI_Group_free((MPI_Group *)&h), "MPI_Group_free");
		break;
	case T_TYPE:
		upkeep(MPI_Type_free((MPI_Datatype *)&h), "MPI_Type_free");
		break;
	case T_OP:
		upkeep(MPI_Op_free((MPI_Op *)&h), "MPI_Op_free");
		break;
	case T_WIN:
		if (o->broken) { /* the ranks may see different epochs, so the window cannot be freed */
			o->alive = o->agreed = 0;
			return;
		}
		window_close(o);
		upkeep(MPI_Win_free((MPI_Win *)&h), "MPI_Win_free");
		break;
	case T_REQUEST:
		linger(o);
		break;
	case T_MESSAGE:
		ignore_errors(1);
		MPI_Mrecv(buffer, sizeof buffer, MPI_BYTE, (MPI_Message *)&h, MPI_STATUS_IGNORE);
		ignore_errors(0);
		break;
	case T_INFO:
		upkeep(MPI_Info_free((MPI_Info *)&h), "MPI_Info_free");
		break;
	case T_ERRHANDLER:
		upkeep(MPI_Errhandler_free((MPI_Errhandler *)&h), "MPI_Errhandler_free");
		break;
	case T_COMM_KEY:
		upkeep(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
		break;
	case T_TYPE_KEY:
		upkeep(MPI_Type_free_keyval(&key), "MPI_Type_free_keyval");
		break;
	case T_WIN_KEY:
		upkeep(MPI_Win_free_keyval(&key), "MPI_Win_free_keyval");
		break;
	case T_MEMORY:
		upkeep(MPI_Free_mem(h), "MPI_Free_mem");
		break;
	default:
		break;
	}
	if (o->thing == T_REQUEST) { /* request.c completes it later, so the handle does not count as freed yet */
		o->alive = o->agreed = 0;
		return;
	}
	gone(o);
}

/* Drops an object that does not exist on all ranks. Communicators and windows stay allocated, because the call that
 * frees them is collective. */
static void retire(struct object *o) {
	if (o->thing == T_COMM || o->thing == T_WIN)
		o->alive = o->agreed = 0;
	else
		release(o);
}

/* ---- the effects of a call */

static int is_collected(const struct call *c, int i) {
	const struct param *p = &c->f->params[i];
	if (p->dir != OUT || p->length != SCALAR || c->f->flags & (MISSING | NO_CODE) || !c->arg[i].cell)
		return 0;
	/* these calls return predefined objects, which cannot be freed */
	if (is_called(c, "Type_create_f90_*|Type_match_size|Type_get_value_index|Comm_get_parent"))
		return 0;
	if (is_called(c, "Comm_idup*") && is_named(c, i, "newcomm"))
		return 0; /* the communicator does not exist until the request is complete */
	return thing_of(c, i) < THINGS || (is_called(c, "Alloc_mem") && is_named(c, i, "baseptr"));
}

/* Frees the types that MPI_Type_get_contents returned. */
static void free_types(struct call *c) {
	int i = find_param(c, "array_of_datatypes");
	MPI_Datatype *types = i < 0 ? NULL : (MPI_Datatype *)c->arg[i].cell;
	void *pattern;
	memset(&pattern, 0xa5, sizeof pattern);
	for (int64_t k = 0; types && k < c->arg[i].n && (void *)types[k] != pattern; k++)
		if (!is_predefined(T_TYPE, types[k]) && !find(T_TYPE, types[k])) {
			ignore_errors(1);
			MPI_Type_free(&types[k]);
			ignore_errors(0);
		}
}

static void *handle_at(const struct call *c, int i, int64_t k) {
	if (c->f->params[i].width == 4)
		return (void *)(intptr_t)((int *)c->arg[i].cell)[k];
	return ((void **)c->arg[i].cell)[k];
}

static union { void *handles[8]; } before[MAX_PARAMS];

void pool_before(const struct call *c) {
	for (int i = 0; i < c->f->n; i++)
		if (thing_of(c, i) < THINGS && c->f->params[i].pointer && c->f->params[i].dir != OUT && c->arg[i].cell)
			for (int64_t k = 0; k < c->arg[i].n && k < 8; k++)
				before[i].handles[k] = handle_at(c, i, k);
}

/* Records the objects that the call returned. Must run before memory_check, which overwrites the returned handles. */
void pool_collect(struct call *c, int failed) {
	for (int i = 0; i < MAX_PARAMS; i++)
		made[i].made = 0;
	if (c->f->flags & (MISSING | NO_CODE))
		return;
	for (int i = 0; i < c->f->n; i++) {
		enum thing t = thing_of(c, i);
		if (is_collected(c, i) && !failed) {
			union value v;
			v.pointer = handle_at(c, i, 0);
			void *pattern = NULL;
			memset(&pattern, 0xa5, c->f->params[i].width == 4 ? 4 : 8);
			if (c->f->params[i].width == 4)
				pattern = (void *)(intptr_t)(int)(intptr_t)pattern;
			if (t == NOTHING)
				t = T_MEMORY;
			if (v.pointer == thing_null(t) || v.pointer == pattern || is_predefined(t, v.pointer))
				continue;
			made[i].made = 1;
			made[i].thing = t;
			made[i].value = v;
		} else if (t < THINGS && c->f->params[i].pointer && c->f->params[i].dir != OUT && c->arg[i].cell) {
			for (int64_t k = 0; k < c->arg[i].n && k < 8; k++) {
				void *now = handle_at(c, i, k);
				struct object *o = now == before[i].handles[k] ? NULL : find(t, before[i].handles[k]);
				if (o && now == thing_null(t) && !o->fixed)
					gone(o);
			}
		}
	}
	if (failed)
		return;
	if (is_called(c, "Free_mem") && c->arg[0].object)
		gone(c->arg[0].object);
	if (is_called(c, "Type_commit") && c->arg[0].object)
		c->arg[0].object->committed = 1;
	if (is_called(c, "Type_get_contents"))
		free_types(c);
	window_after(c);
}

uint32_t pool_made(void) {
	uint32_t mask = 0;
	for (int i = 0; i < MAX_PARAMS; i++)
		mask |= (uint32_t)made[i].made << i;
	return mask;
}

static struct object *adopt(enum thing thing, union value value, int maker, uint64_t random) {
	struct object *o = NULL;
	int places = 0;
	for (int k = 0; k < FREED; k++)
		if (freed[thing][k] == value.pointer) {
			freed[thing][k] = NULL;
			recurring[thing][recurrings[thing]++ % STRANGE] = value.pointer;
		}
	if (find(thing, value.pointer))
		recurring[thing][recurrings[thing]++ % STRANGE] = value.pointer;
	for (int s = 0; s < SLOTS && !o; s++)
		if (!pool[thing][s].alive)
			o = &pool[thing][s];
	if (!o) {
		for (int s = 0; s < SLOTS; s++)
			places += !pool[thing][s].fixed;
		int nth = (int)((random >> 10) % (uint64_t)places);
		for (int s = 0; s < SLOTS; s++)
			if (!pool[thing][s].fixed && nth-- == 0)
				o = &pool[thing][s];
		release(o);
	}
	int slot = o->slot;
	memset(o, 0, sizeof *o);
	o->thing = thing;
	o->slot = slot;
	o->value = value;
	o->maker = maker;
	o->alive = o->agreed = 1;
	learn(o, random);
	return o;
}

/* Marks the persistent requests that a call has started or completed, and notes that messages may be in flight. Every
 * rank does this, even a rank that did not make the call (would_block.c). */
static void note_requests(struct call *c) {
	int starts = is_called(c, "Start|Startall"), ends = is_called(c, "Wait*|Test*|Pready*");
	if (c->f->chapter == 3 || c->f->chapter == 4)
		quiet = quiet && c->wrong > 0;
	if (!starts && !ends)
		return;
	for (int i = 0; i < c->f->n; i++) {
		if (c->f->params[i].kind != K_REQUEST)
			continue;
		for (int64_t k = 0; k < c->arg[i].n && k < 8 && c->arg[i].truth != WRONG; k++) {
			struct object *o = find(T_REQUEST, before[i].handles[k]);
			if (o && o->persistent)
				o->active = starts ? 1 : 2;
		}
	}
}

void pool_settle(struct call *c, uint32_t agreed) {
	for (int t = 0; t < THINGS; t++)
		for (int s = 0; s < SLOTS; s++)
			if (pool[t][s].alive && !pool[t][s].agreed)
				retire(&pool[t][s]);
	if (!c)
		return;
	note_requests(c);
	for (int i = 0; i < MAX_PARAMS; i++) {
		if (!made[i].made)
			continue;
		made[i].made = 0;
		if (agreed >> i & 1)
			adopt(made[i].thing, made[i].value, c->index, mix(seed, c->number * 64 + (uint64_t)i));
		else {
			struct object o = {.thing = made[i].thing, .value = made[i].value, .maker = c->index};
			learn_request(&o);
			retire(&o);
		}
	}
	if (is_called(c, "Comm_set_errhandler") && c->comm)
		handle_errors(T_COMM, c->comm->value.pointer);
	if (is_called(c, "Win_set_errhandler") && c->win)
		handle_errors(T_WIN, c->win->value.pointer);
}

/* ---- new objects */

static void fix(enum thing thing, int slot, void *handle) {
	struct object *o = &pool[thing][slot];
	o->thing = thing;
	o->slot = slot;
	o->value.pointer = handle;
	o->maker = -1;
	o->alive = o->agreed = o->fixed = 1;
	learn(o, 0);
}

static int maker_called(const char *name) {
	for (int i = 0; i < FUNCTIONS; i++)
		if (strcmp(functions[i].name, name) == 0)
			return i;
	return -1;
}

static void take(enum thing thing, void *handle, const char *maker, uint64_t random) {
	union value v = {.pointer = handle};
	adopt(thing, v, maker_called(maker), random);
}

static void refill_comm(uint64_t random) {
	MPI_Comm comm = MPI_COMM_NULL, half;
	int dims[2] = {ranks, 1}, periods[2] = {(int)(random >> 8 & 1), 1}, indices[3] = {2, 4, 6},
	    edges[6] = {1, 2, 0, 2, 0, 1};
	int left = (me + ranks - 1) % ranks, right = (me + 1) % ranks, kind = (int)(random >> 20) % 7;
	record_upkeep("making a communicator");
	switch (kind) {
	case 0:
		upkeep(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
		break;
	case 1:
		upkeep(MPI_Comm_dup(MPI_COMM_SELF, &comm), "MPI_Comm_dup of MPI_COMM_SELF");
		break;
	case 2:
		upkeep(MPI_Cart_create(MPI_COMM_WORLD, 1 + (int)(random >> 9 & 1), dims, periods, 0, &comm),
		       "MPI_Cart_create");
		break;
	case 3:
		if (ranks == 1) {
			indices[0] = 1;
			edges[0] = 0;
		}
		upkeep(MPI_Graph_create(MPI_COMM_WORLD, ranks, indices, edges, 0, &comm), "MPI_Graph_create");
		break;
	case 4:
		upkeep(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
						      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
		       "MPI_Dist_graph_create_adjacent");
		break;
	case 5:
		upkeep(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm), "MPI_Comm_split");
		break;
	default:
		if (ranks < 3)
			return;
		upkeep(MPI_Comm_split(MPI_COMM_WORLD, me == 0, me, &half), "MPI_Comm_split");
		upkeep(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me == 0 ? 1 : 0, 9, &comm),
		       "MPI_Intercomm_create");
		upkeep(MPI_Comm_free(&half), "MPI_Comm_free");
	}
	take(T_COMM, comm, "MPI_Comm_dup", random);
}

static void refill_type(uint64_t random) {
	MPI_Datatype type = MPI_DATATYPE_NULL, types[2] = {MPI_INT, MPI_DOUBLE};
	int lengths[2] = {2, 1};
	MPI_Aint places[2] = {0, 32};
	switch (random >> 20 & 3) {
	case 0:
		upkeep(MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &type), "MPI_Type_vector");
		break;
	case 1:
		upkeep(MPI_Type_create_struct(2, lengths, places, types, &type), "MPI_Type_create_struct");
		break;
	case 2:
		upkeep(MPI_Type_create_resized(MPI_INT, -4, 24, &type), "MPI_Type_create_resized");
		break;
	default:
		upkeep(MPI_Type_contiguous(0, MPI_INT, &type), "MPI_Type_contiguous");
	}
	take(T_TYPE, type, "MPI_Type_contiguous", random);
}

static void refill_win(uint64_t random) {
	MPI_Win win = MPI_WIN_NULL;
	void *base;
	MPI_Comm comm = random >> 24 & 3 ? MPI_COMM_WORLD : MPI_COMM_SELF;
	record_upkeep("making a window");
	switch (random >> 20 & 3) {
	case 0:
		upkeep(MPI_Win_create(lasting(random >> 40, 0), 4096, 1, MPI_INFO_NULL, comm, &win), "MPI_Win_create");
		break;
	case 1:
		upkeep(MPI_Win_allocate(4096, 8, MPI_INFO_NULL, comm, &base, &win), "MPI_Win_allocate");
		break;
	case 2:
		upkeep(MPI_Win_allocate_shared(4096, 4, MPI_INFO_NULL, comm, &base, &win), "MPI_Win_allocate_shared");
		break;
	default:
		upkeep(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win), "MPI_Win_create_dynamic");
	}
	take(T_WIN, win, "MPI_Win_create", random);
}

static int query(void *extra, MPI_Status *status) {
	(void)extra;
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	return MPI_SUCCESS;
}
static int end(void *extra) { return (void)extra, MPI_SUCCESS; }
static int cancel(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void refill_request(uint64_t random) {
	MPI_Request r = MPI_REQUEST_NULL;
	char *buffer = lasting(random >> 40, 0);
	const char *maker;
	record_upkeep("starting an operation");
	switch ((random >> 20) % 8) {
	case 0:
		upkeep(MPI_Isend(buffer, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r), maker = "MPI_Isend");
		break;
	case 1:
		upkeep(MPI_Irecv(buffer, 4, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &r), maker = "MPI_Irecv");
		break;
	case 2:
		upkeep(MPI_Send_init(buffer, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &r), maker = "MPI_Send_init");
		break;
	case 3:
		upkeep(MPI_Recv_init(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 78, MPI_COMM_WORLD, &r),
		       maker = "MPI_Recv_init");
		break;
	case 4:
		upkeep(MPI_Grequest_start(query, end, cancel, NULL, &r), maker = "MPI_Grequest_start");
		break;
	case 5:
		upkeep(MPI_Ibarrier(MPI_COMM_WORLD, &r), maker = "MPI_Ibarrier");
		break;
	case 6:
		upkeep(MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &r), maker = "MPI_Barrier_init");
		break;
	default:
		upkeep(MPI_Psend_init(buffer, 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
		       maker = "MPI_Psend_init");
	}
	take(T_REQUEST, r, maker, random);
	if (strcmp(maker, "MPI_Psend_init") == 0 && random >> 30 & 1) {
		upkeep(MPI_Start(&r), "MPI_Start");
		find(T_REQUEST, r)->active = 1;
	}
}

static void refill_message(uint64_t random) {
	MPI_Message m = MPI_MESSAGE_NULL;
	int flag = 0, i = 7;
	upkeep(MPI_Send(&i, 1, MPI_INT, 0, 99, upkeep_comm), "MPI_Send to itself");
	upkeep(MPI_Improbe(0, 99, upkeep_comm, &flag, &m, MPI_STATUS_IGNORE), "MPI_Improbe");
	if (flag)
		take(T_MESSAGE, m, "MPI_Improbe", random);
	else
		finding(NULL, "upkeep", "MPI_Improbe does not find the message to itself");
}

static void nothing(void *in, void *inout, int *len, MPI_Datatype *type) {
	(void)in, (void)inout, (void)len, (void)type;
}
static void on_error(MPI_Comm *comm, int *code, ...) { (void)comm, raised++, raised_code = *code; }

static void refill(enum thing thing, uint64_t random) {
	static int key_value;
	union value v = {.pointer = NULL};
	int key = 0;
	switch (thing) {
	case T_COMM:
		refill_comm(random);
		break;
	case T_TYPE:
		refill_type(random);
		break;
	case T_WIN:
		refill_win(random);
		break;
	case T_REQUEST:
		refill_request(random);
		break;
	case T_MESSAGE:
		refill_message(random);
		break;
	case T_GROUP:
		upkeep(MPI_Comm_group(MPI_COMM_WORLD, (MPI_Group *)&v.pointer), "MPI_Comm_group");
		take(thing, v.pointer, "MPI_Comm_group", random);
		break;
	case T_OP:
		upkeep(MPI_Op_create(nothing, 1, (MPI_Op *)&v.pointer), "MPI_Op_create");
		take(thing, v.pointer, "MPI_Op_create", random);
		break;
	case T_INFO:
		upkeep(MPI_Info_create((MPI_Info *)&v.pointer), "MPI_Info_create");
		upkeep(MPI_Info_set(v.pointer, "fuzz0", "1"), "MPI_Info_set");
		upkeep(MPI_Info_set(v.pointer, "fuzz1", "a value"), "MPI_Info_set");
		take(thing, v.pointer, "MPI_Info_create", random);
		break;
	case T_ERRHANDLER:
		upkeep(MPI_Comm_create_errhandler(on_error, (MPI_Errhandler *)&v.pointer),
		       "MPI_Comm_create_errhandler");
		take(thing, v.pointer, "MPI_Comm_create_errhandler", random);
		break;
	case T_COMM_KEY:
		upkeep(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL),
		       "MPI_Comm_create_keyval");
		take(thing, (void *)(intptr_t)key, "MPI_Comm_create_keyval", random);
		upkeep(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key_value), "MPI_Comm_set_attr");
		break;
	case T_TYPE_KEY:
		upkeep(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL),
		       "MPI_Type_create_keyval");
		take(thing, (void *)(intptr_t)key, "MPI_Type_create_keyval", random);
		upkeep(MPI_Type_set_attr(MPI_INT, key, &key_value), "MPI_Type_set_attr");
		break;
	case T_WIN_KEY:
		upkeep(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL),
		       "MPI_Win_create_keyval");
		take(thing, (void *)(intptr_t)key, "MPI_Win_create_keyval", random);
		for (int s = 0; s < SLOTS; s++)
			if (pool[T_WIN][s].agreed)
				upkeep(MPI_Win_set_attr(pool[T_WIN][s].value.pointer, key, &key_value),
				       "MPI_Win_set_attr");
		break;
	case T_MEMORY:
		upkeep(MPI_Alloc_mem(1000, MPI_INFO_NULL, &v.pointer), "MPI_Alloc_mem");
		take(thing, v.pointer, "MPI_Alloc_mem", random);
		break;
	default:
		break;
	}
}

/* Creates an object of each kind that has fewer objects than its minimum, and sometimes an object of another kind.
 * Collective. */
void pool_refill(uint64_t number) {
	static const int min_objects[THINGS] = {
		[T_COMM] = 10,    [T_GROUP] = 6,   [T_TYPE] = 8,  [T_OP] = 3,         [T_WIN] = 8,
		[T_REQUEST] = 10, [T_MESSAGE] = 2, [T_INFO] = 4,  [T_ERRHANDLER] = 3, [T_COMM_KEY] = 3,
		[T_TYPE_KEY] = 3, [T_WIN_KEY] = 3, [T_MEMORY] = 3};
	for (int t = 0; t < THINGS; t++) {
		uint64_t random = mix(mix(seed, number), 5000 + (uint64_t)t);
		int n = 0;
		for (int s = 0; s < SLOTS; s++)
			n += pool[t][s].agreed;
		if (n < min_objects[t] || random % 40 == 0)
			refill((enum thing)t, mix(random, 3));
	}
	for (int s = 0; s < SLOTS; s++) {
		struct object *w = &pool[T_WIN][s];
		if (w->agreed && w->broken)
			w->alive = w->agreed = 0; /* a broken window can neither be used nor freed */
	}
}

void pool_open(void) {
	MPI_Group world, self;
	for (int t = 0; t < THINGS; t++)
		for (int s = 0; s < SLOTS; s++) {
			pool[t][s].thing = (enum thing)t;
			pool[t][s].slot = s;
		}
	MPI_Comm_dup(MPI_COMM_SELF, &upkeep_comm);
	handle_errors(T_COMM, upkeep_comm);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_group(MPI_COMM_SELF, &self);
	fix(T_COMM, 0, MPI_COMM_WORLD);
	fix(T_COMM, 1, MPI_COMM_SELF);
	fix(T_GROUP, 0, MPI_GROUP_EMPTY);
	fix(T_GROUP, 1, world);
	fix(T_GROUP, 2, self);
}

/* Frees all objects of the pool except the predefined ones. Collective. */
void pool_close(void) {
	for (int t = THINGS - 1; t >= 0; t--)
		for (int s = 0; s < SLOTS; s++)
			if (pool[t][s].agreed && pool[t][s].alive && !pool[t][s].fixed)
				release(&pool[t][s]);
}
