/* Draws numbers: a valid number, or a number that is certainly wrong for its kind of parameter. The valid numbers of a
 * call are consistent: all buffers have the same count, and arrays have the lengths that the call passes. */
#include "fuzz.h"

/* Returns a random number of 4 or 8 bytes, often an extreme value. Never returns a number in [0, 4096), which could be
 * valid. */
int64_t wrong_random(struct call *c, int width) {
	static const int64_t some[] = {
		-1,         INT_MIN,    INT_MAX, INT64_MIN, INT64_MAX, (int64_t)1 << 32, -((int64_t)1 << 31),
		0x7fff0000, 0xdeadbeef, 1 << 20};
	int64_t v = below(c, 2) ? (int64_t)next(c) : some[below(c, 10)];
	if (v >= 0 && v < 0x1000)
		v += 0x1000;
	return width == 4 ? (int32_t)v : v;
}

static int64_t negative(struct call *c, int i) {
	static const int64_t some[] = {-1, -2, INT_MIN, -7, INT64_MIN, -((int64_t)1 << 32), -((int64_t)1 << 32) - 1,
				       -1};
	return some[below(c, c->f->params[i].width == 8 ? 8 : 4)];
}

static int64_t huge(struct call *c, int i) {
	static const int64_t some[] = {INT_MAX,   1 << 30,          INT_MAX - 1,      1 << 24,
				       INT64_MAX, (int64_t)1 << 62, (int64_t)1 << 40, ((int64_t)1 << 32) + 1};
	return some[below(c, c->f->params[i].width == 8 ? 8 : 4)];
}

static int comm_size(const struct call *c) { return c->comm ? c->comm->size : c->win ? c->win->size : 1; }

/* Returns the number of dimensions of the call's Cartesian communicator, or of the communicator that the call
 * creates. */
static int ndims_of(const struct call *c) {
	int i = find_param(c, "ndims");
	if (i >= 0 && c->f->params[i].dir == IN)
		return c->arg[i].truth == RIGHT ? (int)c->arg[i].value.number : 0;
	return c->comm ? c->comm->ndims : 0;
}

/* Returns true if parameter i is the length of an array parameter. */
static int is_length(const struct call *c, int i) {
	for (int k = 0; k < c->f->n; k++)
		if (c->f->params[k].length == i)
			return 1;
	return 0;
}

static int64_t value_of(const struct call *c, int i) {
	const struct argument *a = &c->arg[i < 0 ? 0 : i];
	return i >= 0 && (a->truth == RIGHT || a->truth == OPEN) && a->value.number >= 0 && a->value.number <= 1000
		       ? a->value.number
		       : 0;
}

/* Returns the number of elements of array i that the call uses. */
int64_t elements_of(struct call *c, int i) {
	const struct param *p = &c->f->params[i];
	if (p->length == SCALAR)
		return 1;
	if (p->length == FIXED)
		return p->fixed;
	if (p->length >= 0 && c->f->params[p->length].pointer) { /* MPI_T_event_get_info writes at most 6 elements */
		const int *n = (const int *)(const void *)c->arg[p->length].cell;
		return n == NULL || *n < 0 ? 0 : *n < 6 ? *n : 6;
	}
	if (p->length >= 0)
		return value_of(c, p->length);
	int neighbor = is_called(c, "Neighbor_*|Ineighbor_*");
	if (strncmp(p->name, "send", 4) == 0 || strcmp(p->name, "sdispls") == 0)
		return neighbor ? (c->comm ? c->comm->outdegree : 0) : comm_size(c);
	if (strncmp(p->name, "recv", 4) == 0 || strcmp(p->name, "rdispls") == 0 || strcmp(p->name, "displs") == 0)
		return neighbor ? (c->comm ? c->comm->indegree : 0) : comm_size(c);
	if (strncmp(p->name, "array_of_", 9) == 0)
		return value_of(c, find_param(c, find_param(c, "count") >= 0 ? "count" : "incount"));
	if (strcmp(p->name, "coords") == 0 || strcmp(p->name, "remain_dims") == 0)
		return ndims_of(c);
	if (is_called(c, "Dist_graph_create") &&
	    (strcmp(p->name, "destinations") == 0 || strcmp(p->name, "weights") == 0))
		return value_of(c, find_param(c, "n")) > 0 ? 1 : 0;
	if (strcmp(p->name, "sourceweights") == 0)
		return value_of(c, find_param(c, p->dir == IN ? "indegree" : "maxindegree"));
	if (strcmp(p->name, "destweights") == 0)
		return value_of(c, find_param(c, p->dir == IN ? "outdegree" : "maxoutdegree"));
	if (strcmp(p->name, "edges") == 0)
		return value_of(c, find_param(c, "nnodes"));
	return 1;
}

/* Draws a rank: a destination, source, root, target, or a rank in a group. k is the index in an array of ranks. */
static int64_t draw_rank(struct call *c, int i, enum truth want, int64_t k) {
	const struct param *p = &c->f->params[i];
	int size = comm_size(c), mine = c->comm ? c->comm->rank : c->win ? c->win->rank : 0;
	int root = strcmp(p->name, "root") == 0, receives = strcmp(p->name, "source") == 0 && p->kind == K_RANK;
	int inter = c->comm && c->comm->inter, partitioned = is_called(c, "Psend_init|Precv_init");
	int peer = strcmp(p->name, "dest") == 0 || receives;
	int some = c->f->chapter == 7 && (strncmp(p->name, "rank", 4) == 0);
	int target = p->kind == K_RANK_NNI && c->f->chapter == 12;

	if (is_called(c, "Status_set_source")) {
		set(c, i, OPEN, "any", 0);
		return wrong_random(c, 4);
	}
	if (is_called(c, "Type_create_darray"))
		size = (int)value_of(c, find_param(c, "size"));
	if (some || is_called(c, "Group_*"))
		size = c->group ? c->group->size : 0;
	if (strcmp(p->name, "remote_leader") == 0)
		size = ranks;
	if (want == WRONG) {
		static const int wrong[] = {-1, -4, INT_MIN, INT_MAX, 1000, -32766, -2, -5};
		int64_t v = below(c, 3) == 0 ? size + (inter ? 3 : 0) : wrong[below(c, 8)];
		if (below(c, 8) == 0 && !peer && !target && strncmp(p->name, "ranks1", 6) != 0 && !(root && inter))
			v = MPI_PROC_NULL;
		if ((receives || (root && inter)) && (v == MPI_ANY_SOURCE || v == MPI_ROOT))
			v = partitioned ? v : -5;
		if (v == MPI_PROC_NULL && (peer || target))
			v = -5;
		if (strcmp(p->name, "ranks1") == 0 && v == MPI_PROC_NULL)
			v = -5;
		set(c, i, WRONG, "", root ? MPI_ERR_ROOT : MPI_ERR_RANK, root ? MPI_ERR_RANK : MPI_ERR_ARG, 0);
		if (!root && c->f->chapter == 8)
			set(c, i, WRONG, "", MPI_ERR_RANK, MPI_ERR_ARG, MPI_ERR_TOPOLOGY, 0);
		return v;
	}
	set(c, i, RIGHT, "", 0);
	if (strcmp(p->name, "ranks") == 0)
		return size > 0 ? (k + c->count) % size : 0;
	if (is_called(c, "Dist_graph_create*") && c->comm) { /* a ring: each process has an edge to the next process */
		if (is_called(c, "Dist_graph_create"))
			return strcmp(p->name, "sources") == 0 ? mine : (mine + 1) % size;
		return strcmp(p->name, "sources") == 0 ? ((mine - 1 - k) % size + size) % size : (mine + 1 + k) % size;
	}
	if (strcmp(p->name, "edges") == 0)
		return k; /* an edge from each process to itself, which both ends of the edge specify */
	if (root && inter)
		return c->comm->lone ? MPI_ROOT : 0;
	if (partitioned)
		return MPI_PROC_NULL;
	if (peer && is_called(c, "Ssend|Rsend|Sendrecv*")) /* a message to a rank may match its pending receive */
		return MPI_PROC_NULL;
	if (peer && below(c, 3) == 0)
		return MPI_PROC_NULL;
	if (receives && below(c, 4) == 0)
		return MPI_ANY_SOURCE;
	if (target && below(c, 10) == 0 && !is_called(c, "Win_*"))
		return MPI_PROC_NULL;
	if (is_called(c, "Win_lock|Win_flush|Win_flush_local|Win_unlock") && c->win)
		return c->win->access == LOCK && below(c, 4)
			       ? c->win->target
			       : c->win->rank; /* own rank, so that no rank waits for another rank's lock */
	return size > 0 && !inter ? below(c, size) : 0;
}

static int64_t draw_tag(struct call *c, int i, enum truth want) {
	int receives = (find_param(c, "source") >= 0 && is_named(c, i, "tag") && !is_called(c, "Precv_init")) ||
		       is_named(c, i, "recvtag");
	if (is_called(c, "Status_set_tag")) {
		set(c, i, OPEN, "any", 0);
		return wrong_random(c, 4);
	}
	if (want == WRONG) {
		static const int wrong[] = {-1, INT_MIN, -100, -2, -3};
		int64_t v = wrong[below(c, 5)];
		if (receives && v == MPI_ANY_TAG)
			v = -1;
		set(c, i, WRONG, "", MPI_ERR_TAG, 0);
		return v;
	}
	set(c, i, RIGHT, "", 0);
	if (receives && (below(c, 2) || is_named(c, i, "recvtag")))
		return MPI_ANY_TAG;
	return below(c, 3);
}

static int64_t draw_count(struct call *c, int i, enum truth want) {
	const struct param *p = &c->f->params[i];
	int constructs = c->f->chapter == 5 && is_called(c, "Type_*");
	if (strcmp(p->name, "stride") == 0) {
		set(c, i, RIGHT, "", 0);
		return want == UNSAFE ? (below(c, 2) ? huge(c, i) : negative(c, i)) : below(c, 17) - 8;
	}
	if (want == WRONG) {
		set(c, i, WRONG, "", MPI_ERR_COUNT, MPI_ERR_ARG, 0);
		/* Sometimes more elements than the target's window can hold. */
		if (c->f->chapter == 12 && c->f->n > 5 && below(c, 3) == 0) {
			set(c, i, UNSAFE, "huge", 0);
			return huge(c, i);
		}
		return negative(c, i);
	}
	if (want == UNSAFE && !is_called(c, "Status_set_elements*") && !is_length(c, i)) {
		set(c, i, constructs && p->length == SCALAR ? OPEN : UNSAFE, "huge", 0);
		return huge(c, i);
	}
	set(c, i, RIGHT, "", 0);
	if (constructs && p->kind == K_POLYDTYPE_NUM_ELEM_PI)
		return strcmp(p->name, "array_of_subsizes") == 0 ? 1 + below(c, 2) : 2 + below(c, 3);
	if (constructs && strcmp(p->name, "array_of_starts") == 0)
		return 0;
	if (constructs)
		return below(c, 4);
	return c->count;
}

static int64_t draw_size(struct call *c, int i, enum truth want) {
	const struct param *p = &c->f->params[i];
	int disp = strncmp(p->name, "disp_unit", 9) == 0;
	int params = p->kind == K_POLYNUM_PARAM_VALUES, allocates = is_called(c, "Win_allocate*|Alloc_mem");
	if (want == WRONG) {
		if (disp)
			set(c, i, WRONG, "", MPI_ERR_DISP, MPI_ERR_ARG, 0);
		else if (params)
			set(c, i, WRONG, "", MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_TYPE, 0);
		else
			set(c, i, WRONG, "", MPI_ERR_SIZE, MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_NO_MEM, 0);
		return disp && below(c, 2) ? 0 : negative(c, i);
	}
	if (want == UNSAFE && allocates && !disp) {
		set(c, i, OPEN, "huge", 0);
		return below(c, 2) ? INT64_MAX - below(c, 5) : (int64_t)1 << (48 + below(c, 14));
	}
	if (want == UNSAFE && !disp) {
		set(c, i, params ? UNSAFE : OPEN, "small", 0);
		return params ? huge(c, i) : below(c, 3);
	}
	set(c, i, RIGHT, "", 0);
	if (disp)
		return 1 << below(c, 4);
	if (params)
		return 64;
	switch (p->kind) {
	case K_WINDOW_SIZE:
		return below(c, 4) ? 4096 : below(c, 2) * 100;
	case K_WIN_ATTACH_SIZE:
		return 512;
	case K_ALLOC_MEM_NUM_BYTES:
		return 1 + below(c, 5000);
	default:
		return is_called(c, "*attach*") ? 65536 : 60000;
	}
}

/* Draws the value of an enumeration, such as a lock type or an assertion. A valid value is in the list `right` of n
 * values. A wrong value is not in the list, and must give the error class `class`. */
static int64_t draw_choice(struct call *c, int i, enum truth want, const int *right, int n, int class) {
	if (want == WRONG) {
		int64_t v;
		int is_right;
		do {
			v = below(c, 2) ? wrong_random(c, 4) : below(c, 600) - 20;
			is_right = 0;
			for (int k = 0; k < n; k++)
				is_right |= right[k] == v;
		} while (is_right);
		set(c, i, WRONG, "", class, MPI_ERR_ARG, 0);
		return v;
	}
	set(c, i, RIGHT, "", 0);
	return right[below(c, n)];
}
#define CHOICE(class, ...) \
	draw_choice(c, i, want, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int), class)

static int64_t draw_length(struct call *c, int i, enum truth want) {
	const struct param *p = &c->f->params[i];
	if (want == WRONG) {
		set(c, i, WRONG, "", MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_DIMS, MPI_ERR_TOPOLOGY, MPI_ERR_SIZE, 0);
		if (p->kind == K_ARRAY_LENGTH_PI)
			return below(c, 2) ? 0 : negative(c, i);
		if (strcmp(p->name, "logical_size") == 0)
			return 3;
		if (is_named(c, i, "n") && c->group && !is_called(c, "Group_translate_ranks") && below(c, 2) == 0) {
			set(c, i, WRONG, "more than members", MPI_ERR_ARG, MPI_ERR_RANK, MPI_ERR_COUNT, 0);
			return c->group->size + 1 + below(c, 500);
		}
		return negative(c, i);
	}
	if (want == UNSAFE && strncmp(p->name, "max", 3) == 0) {
		set(c, i, OPEN, "", 0);
		return below(c, 4);
	}
	set(c, i, RIGHT, "", 0);
	if (strncmp(p->name, "max", 3) == 0)
		return 16;
	if (strcmp(p->name, "logical_size") == 0)
		return 4;
	if (is_called(c, "Graph_map|Graph_create"))
		return comm_size(c);
	if (c->group && is_named(c, i, "n"))
		return is_called(c, "Group_range*") ? (c->group->size > 0 ? below(c, 2) : 0)
						    : below(c, c->group->size + 1);
	if (is_called(c, "Dist_graph_create"))
		return 1;
	if (p->kind == K_DEGREE)
		return 1 + (int)(mix(mix(seed, c->number), 1002) % 2);
	if (strcmp(p->name, "length") == 0) /* a parameter of MPI_Pready_list */
		return 1;
	return p->kind == K_ARRAY_LENGTH_PI ? 1 + below(c, 3) : below(c, 4);
}

/* Draws an error class or code. */
static int64_t draw_error(struct call *c, int i, enum truth want) {
	if (is_called(c, "Status_set_error")) {
		set(c, i, OPEN, "any", 0);
		return wrong_random(c, 4);
	}
	if (want == WRONG) {
		static const int wrong[] = {-1, INT_MIN, INT_MAX, -1000};
		set(c, i, is_called(c, "*_call_errhandler") ? OPEN : WRONG, "", MPI_ERR_ARG, 0);
		if (is_called(c, "Add_error_string|Remove_*") && below(c, 2))
			return below(c, 2) ? MPI_ERR_TYPE : MPI_SUCCESS;
		return wrong[below(c, 4)];
	}
	set(c, i, is_called(c, "Error_*") ? RIGHT : OPEN, "", 0);
	return is_called(c, "Add_error_string|Remove_*|Add_error_code") && below(c, 8)
		       ? MPI_ERR_LASTCODE + 1 + below(c, 40)
		       : below(c, 62);
}

/* Draws the target displacement of an RMA call. */
static int64_t draw_target(struct call *c, int i, enum truth want) {
	int type = find_param(c, "target_datatype"), count = find_param(c, "target_count"),
	    rank = find_param(c, "target_rank");
	int some = count < 0 || (c->arg[count].truth == RIGHT && c->arg[count].value.number > 0);
	if (type < 0)
		type = find_param(c, "datatype");
	/* `some` is true if the call certainly accesses data and the type's data begins near the displacement. */
	some = some && c->arg[type].truth == RIGHT &&
	       (!c->arg[type].object || (c->arg[type].object->bytes > 0 && c->arg[type].object->low < 1 << 15));
	some = some && c->arg[rank].truth == RIGHT && c->arg[rank].value.number != MPI_PROC_NULL && c->win;
	if (want == WRONG) {
		static const int64_t far[] = {1 << 20,          INT64_MAX,          (int64_t)1 << 62,
					      (int64_t)1 << 61, (int64_t)1 << 40,   -((int64_t)1 << 20),
					      INT64_MIN,        -((int64_t)1 << 62)};
		set(c, i, some ? WRONG : UNSAFE, "far", MPI_ERR_RMA_RANGE, MPI_ERR_DISP, 0);
		if (below(c, 3) == 0 && (!c->arg[type].object || c->arg[type].object->low <= 0)) {
			set(c, i, some ? WRONG : UNSAFE, "", MPI_ERR_RMA_RANGE, MPI_ERR_DISP, 0);
			return -1;
		}
		return far[below(c, 8)];
	}
	/* In a window of at least 1024 bytes and with a predefined type, the returned displacement is certainly valid.
	 * The window has space even for the largest count, type, displacement and displacement unit that are drawn. */
	int fits = c->win && c->win->flavor != MPI_WIN_FLAVOR_DYNAMIC && c->win->length >= 1024 &&
		   c->arg[type].truth == RIGHT && !c->arg[type].object;
	set(c, i, fits ? RIGHT : OPEN, "", 0);
	return below(c, 9);
}

int64_t draw_element(struct call *c, int i, enum truth want, int64_t k, int64_t n) {
	const struct param *p = &c->f->params[i];
	int64_t v;
	(void)n;
	switch (p->kind) {
	case K_RANK:
	case K_RANK_NNI:
		return draw_rank(c, i, want, k);
	case K_TAG:
		return draw_tag(c, i, want);
	case K_POLYDTYPE_NUM_ELEM:
	case K_POLYDTYPE_NUM_ELEM_NNI:
	case K_POLYDTYPE_NUM_ELEM_PI:
	case K_POLYXFER_NUM_ELEM:
	case K_POLYXFER_NUM_ELEM_NNI:
	case K_XFER_NUM_ELEM:
	case K_XFER_NUM_ELEM_NNI:
	case K_XFER_NUM_ELEM_SMALL:
		return draw_count(c, i, want);
	case K_ALLOC_MEM_NUM_BYTES:
	case K_WINDOW_SIZE:
	case K_WIN_ATTACH_SIZE:
	case K_POLYRMA_DISPLACEMENT:
	case K_POLYNUM_BYTES:
	case K_POLYNUM_BYTES_NNI:
	case K_POLYDTYPE_PACK_SIZE:
	case K_POLYNUM_PARAM_VALUES:
		return draw_size(c, i, want);
	case K_ARRAY_LENGTH:
	case K_ARRAY_LENGTH_NNI:
	case K_ARRAY_LENGTH_PI:
		return draw_length(c, i, want);
	case K_DEGREE:
		if (p->length != SCALAR) { /* the array of degrees of MPI_Dist_graph_create */
			set(c, i, want == WRONG ? WRONG : RIGHT, "", MPI_ERR_ARG, 0);
			return want == WRONG ? -1 : 1;
		}
		return draw_length(c, i, want);
	case K_ERROR_CLASS:
	case K_ERROR_CODE:
		return draw_error(c, i, want);
	case K_ASSERT:
		if (want == WRONG) {
			static const int wrong[] = {-1, 1, INT_MIN, 1 << 20, 3, INT_MAX, 1 << 15};
			set(c, i, WRONG, "", MPI_ERR_ASSERT, 0);
			return wrong[below(c, 7)];
		}
		set(c, i, RIGHT, "", 0);
		if (is_called(c, "Win_fence"))
			return below(c, 2) ? 0 : below(c, 2) ? MPI_MODE_NOSTORE : MPI_MODE_NOSUCCEED;
		return 0;
	case K_LOCK_TYPE:
		return CHOICE(MPI_ERR_LOCKTYPE, MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED);
	case K_SPLIT_TYPE:
		return CHOICE(MPI_ERR_ARG, MPI_COMM_TYPE_SHARED, MPI_UNDEFINED, MPI_COMM_TYPE_HW_UNGUIDED,
			      MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED);
	case K_ORDER:
		return CHOICE(MPI_ERR_ARG, MPI_ORDER_C, MPI_ORDER_FORTRAN);
	case K_DISTRIB_ENUM:
		return CHOICE(MPI_ERR_ARG, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC);
	case K_DTYPE_DISTRIBUTION:
		set(c, i, RIGHT, "", 0); /* valid for each distribution, and ignored with MPI_DISTRIBUTE_NONE */
		return MPI_DISTRIBUTE_DFLT_DARG;
	case K_THREAD_LEVEL:
		return CHOICE(MPI_ERR_ARG, MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE);
	case K_TYPECLASS:
		return CHOICE(MPI_ERR_ARG, MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX,
			      MPIX_TYPECLASS_LOGICAL);
	case K_TYPECLASS_SIZE:
		set(c, i, want == WRONG ? WRONG : OPEN, "", MPI_ERR_ARG, MPI_ERR_SIZE, 0);
		return want == WRONG ? (below(c, 2) ? 3 : negative(c, i)) : 4 << below(c, 2);
	case K_PROCESS_GRID_SIZE:
		if (want == WRONG) {
			set(c, i, WRONG, "", MPI_ERR_ARG, MPI_ERR_DIMS, 0);
			return below(c, 2) ? 0 : 1000;
		}
		set(c, i, RIGHT, "", 0);
		return k == 0 ? value_of(c, find_param(c, "size")) : 1;
	case K_COMM_SIZE_PI:
		if (want == WRONG) {
			set(c, i, WRONG, "", MPI_ERR_ARG, 0);
			return below(c, 2) ? 0 : negative(c, i);
		}
		set(c, i, RIGHT, "", 0);
		return 1 + below(c, 4);
	case K_COMM_SIZE: /* a parameter of MPI_Dims_create and MPI_Graph_create */
		if (want == WRONG) {
			set(c, i, WRONG, "", MPI_ERR_ARG, MPI_ERR_DIMS, MPI_ERR_TOPOLOGY, 0);
			return negative(c, i);
		}
		set(c, i, RIGHT, "", 0);
		return is_called(c, "Graph_*") ? comm_size(c) : 1 + below(c, 24);
	case K_NUM_DIMS:
		if (want == WRONG) {
			set(c, i, WRONG, "", MPI_ERR_DIMS, MPI_ERR_ARG, 0);
			return negative(c, i);
		}
		set(c, i, RIGHT, "", 0);
		return is_called(c, "Dims_create") ? 1 + below(c, 3) : below(c, 4);
	case K_DIMENSION:
		if (is_called(c, "Cart_shift")) {
			set(c, i, RIGHT, "", 0);
			return below(c, 5) - 2;
		}
		if (want == WRONG) {
			set(c, i, WRONG, "", MPI_ERR_DIMS, MPI_ERR_ARG, MPI_ERR_TOPOLOGY, 0);
			return is_called(c, "Dims_create") || below(c, 2) ? negative(c, i) : below(c, 2) ? 0 : 1000;
		}
		set(c, i, RIGHT, "", 0);
		return is_called(c, "Dims_create") ? 0 : k == 0 ? comm_size(c) : 1;
	case K_COORDINATE:
		set(c, i, want == WRONG ? OPEN : RIGHT, "", 0); /* any coordinate is valid in a periodic dimension */
		return want == WRONG ? wrong_random(c, 4) : 0;
	case K_INDEX:
		if (is_called(c, "Cart_shift")) {
			if (want == WRONG || ndims_of(c) == 0) {
				set(c, i, WRONG, "", MPI_ERR_ARG, MPI_ERR_DIMS, 0);
				return below(c, 2) ? 100 : negative(c, i);
			}
			set(c, i, RIGHT, "", 0);
			return below(c, ndims_of(c));
		}
		if (want == WRONG) {
			set(c, i, WRONG, "", MPI_ERR_ARG, MPI_ERR_TOPOLOGY, 0);
			return -1;
		}
		set(c, i, RIGHT, "", 0);
		return k + 1;
	case K_COLOR:
		if (want == WRONG) {
			static const int wrong[] = {-1, INT_MIN, -100};
			set(c, i, WRONG, "", MPI_ERR_ARG, 0);
			return wrong[below(c, 3)];
		}
		set(c, i, RIGHT, "", 0);
		return below(c, 4) ? below(c, 3) : MPI_UNDEFINED;
	case K_MATH:
		set(c, i, want == WRONG ? WRONG : RIGHT, "", MPI_ERR_ARG, 0);
		return want == WRONG ? 10000 : 1 + below(c, 6);
	case K_INFO_VALUE_LENGTH:
		set(c, i, want == WRONG ? WRONG : RIGHT, "", MPI_ERR_ARG, MPI_ERR_INFO_VALUE, 0);
		return want == WRONG ? negative(c, i) : below(c, 100);
	case K_KEY_INDEX:
		set(c, i, want == WRONG ? WRONG : OPEN, "", MPI_ERR_ARG, MPI_ERR_INFO_KEY, MPI_ERR_INFO_NOKEY, 0);
		return want == WRONG ? (below(c, 2) ? 1000 : negative(c, i)) : 0;
	case K_PARTITION: {
		int known = is_called(c, "Psend_init|Precv_init");
		if (want == WRONG) {
			/* MPI_Parrived may succeed for any partition if its request is inactive. */
			set(c, i, is_called(c, "Parrived") ? OPEN : WRONG, "", MPI_ERR_ARG, MPI_ERR_COUNT,
			    known ? 0 : MPI_ERR_REQUEST, 0);
			return below(c, 2) ? negative(c, i) : known ? negative(c, i) : 1000;
		}
		set(c, i, known ? RIGHT : OPEN, "", 0);
		return known ? 2 : below(c, 3);
	}
	case K_WEIGHT:
		set(c, i, want == WRONG ? WRONG : RIGHT, "", MPI_ERR_ARG, MPI_ERR_TOPOLOGY, 0);
		return want == WRONG ? -1 : k + 1;
	case K_RMA_DISPLACEMENT_NNI:
		return draw_target(c, i, want);
	case K_POLYDISPLACEMENT: /* displacements of blocks */
	case K_DISPLACEMENT:
		if (c->f->chapter == 5 || c->f->chapter == 2) {
			set(c, i, RIGHT, "", 0);
			return (int64_t)next(c);
		}
		if (want == UNSAFE) {
			set(c, i, UNSAFE, "far", 0);
			return huge(c, i);
		}
		set(c, i, RIGHT, "", 0);
		return k * c->count * (p->kind == K_DISPLACEMENT ? 8 : 1);
	case K_POLYDISPLACEMENT_COUNT:
	case K_POLYLOCATION:
		if (p->length == SCALAR) { /* the position in a packed buffer */
			set(c, i, want == WRONG ? WRONG : RIGHT, "", MPI_ERR_ARG, MPI_ERR_COUNT, 0);
			return want == WRONG ? (below(c, 2) ? negative(c, i) : 1 << 20) : below(c, 20);
		}
		/* fall through */
	case K_POLYDISPLACEMENT_AINT_COUNT:
	case K_POLYDTYPE_STRIDE_BYTES:
		if (want == UNSAFE) {
			set(c, i, OPEN, "far", 0);
			return below(c, 2) ? huge(c, i) : negative(c, i);
		}
		set(c, i, RIGHT, "", 0);
		v = 8 * below(c, 20);
		return strcmp(p->name, "extent") == 0 ? v + 8 : v;
	case K_LOGICAL:
	case K_KEY:
	case K_HANDLE_INT:
	case K_LOCATION_SMALL:
	case K_PROFILE_LEVEL:
		set(c, i, RIGHT, "", 0);
		return p->kind == K_LOGICAL ? below(c, 2) : wrong_random(c, p->width);
	default:
		set(c, i, OPEN, "any", 0);
		return below(c, 2) ? below(c, 5) : wrong_random(c, p->width);
	}
}

void draw_number(struct call *c, int i, enum truth want) { c->arg[i].value.number = draw_element(c, i, want, 0, 1); }
