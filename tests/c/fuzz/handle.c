/* Draws handles: a valid handle that meets the requirements of the call, from the pool or predefined, or a handle that
 * is certainly invalid. */
#include "fuzz.h"

enum thing thing_of(const struct call *c, int i) {
	switch (c->f->params[i].kind) {
	case K_COMMUNICATOR:
		return T_COMM;
	case K_GROUP:
		return T_GROUP;
	case K_DATATYPE:
		return T_TYPE;
	case K_OPERATION:
		return T_OP;
	case K_WINDOW:
		return T_WIN;
	case K_REQUEST:
		return T_REQUEST;
	case K_MESSAGE:
		return T_MESSAGE;
	case K_INFO:
		return T_INFO;
	case K_ERRHANDLER:
		return T_ERRHANDLER;
	case K_FILE:
		return T_FILE;
	case K_SESSION:
		return T_SESSION;
	case K_KEYVAL:
		return is_called(c, "Type_*") ? T_TYPE_KEY : is_called(c, "Win_*") ? T_WIN_KEY : T_COMM_KEY;
	case K_TOOLS_ENUM:
	case K_CVAR:
	case K_PVAR:
	case K_PVAR_SESSION:
	case K_EVENT_REGISTRATION:
	case K_EVENT_INSTANCE:
		return T_TOOL;
	default:
		return NOTHING;
	}
}

static int always(const struct object *o) { return o != NULL; }
static int freeable(const struct object *o) { return !o->fixed; }
static int is_fixed(const struct object *o) { return o->fixed; }
static int is_cart(const struct object *o) { return o->topology == CART; }
static int is_graph(const struct object *o) { return o->topology == GRAPH; }
static int is_dist(const struct object *o) { return o->topology == DIST; }
static int has_topology(const struct object *o) { return o->topology != NO_TOPOLOGY; }
static int is_inter(const struct object *o) { return o->inter; }
static int is_intra(const struct object *o) { return !o->inter; }
static int is_usable(const struct object *o) { return o->usable; }
static int is_communicable(const struct object *o) { return o->usable && o->committed; }
static int is_several(const struct object *o) {
	return is_communicable(o) && o->bytes > 32;
} /* the data exceeds one element of any predefined type */
static int is_uncommitted(const struct object *o) { return !o->committed; }
static int is_dynamic(const struct object *o) { return o->flavor == MPI_WIN_FLAVOR_DYNAMIC; }
static int is_static(const struct object *o) { return o->flavor != MPI_WIN_FLAVOR_DYNAMIC; }
static int is_startable(const struct object *o) { return o->persistent && !o->active; }
static int is_momentary(const struct object *o) { return !o->persistent; }
static int is_general(const struct object *o) { return o->general; }
static int is_cancellable(const struct object *o) {
	return (o->p2p && !o->partitioned && !o->persistent) || o->general;
}
static int is_partitioned(const struct object *o) { return o->partitioned; }
static int is_ready(const struct object *o) {
	return o->partitioned && o->active == 1 && strstr(functions[o->maker].name, "Psend");
}
static int is_not_partitioned(const struct object *o) { return !o->partitioned; }
static int not_collective(const struct object *o) { return !o->collective; }
static int is_any(const struct object *o) { return o->alive; }

/* What a call requires of an object. `fits` selects the objects that the call must accept. `against` selects the
 * objects that it must reject, or is NULL. `classes` has the expected error classes for a rejected object. */
struct demand {
	need fits, against;
	int classes[3];
};

static struct demand demand(const struct call *c, int i, enum thing thing) {
	switch (thing) {
	case T_COMM:
		if (is_called(c, "Comm_free|Comm_disconnect"))
			return (struct demand){freeable, NULL, {MPI_ERR_COMM}};
		if (is_called(c, "Cart_coords|Cart_get|Cart_rank|Cart_shift|Cart_sub|Cartdim_get"))
			return (struct demand){is_cart, is_intra, {MPI_ERR_TOPOLOGY, MPI_ERR_COMM}};
		if (is_called(c, "Graph_get|Graph_neighbors*|Graphdims_get"))
			return (struct demand){is_graph, is_intra, {MPI_ERR_TOPOLOGY, MPI_ERR_COMM}};
		if (is_called(c, "Dist_graph_neighbors*"))
			return (struct demand){is_dist, is_intra, {MPI_ERR_TOPOLOGY, MPI_ERR_COMM}};
		if (is_called(c, "Neighbor_*|Ineighbor_*"))
			return (struct demand){has_topology, is_intra, {MPI_ERR_TOPOLOGY, MPI_ERR_COMM}};
		if (is_called(c, "Comm_remote_*|Intercomm_merge"))
			return (struct demand){is_inter, is_intra, {MPI_ERR_COMM}};
		if (is_called(c, "Cart_*|Graph_*|Dist_graph_*|Win_*|Scan*|Iscan|Exscan*|Iexscan|Comm_create_group|"
				 "Comm_connect") ||
		    is_named(c, i, "local_comm"))
			return (struct demand){is_intra, is_inter, {MPI_ERR_COMM, MPI_ERR_TOPOLOGY}};
		if (is_called(c, "Comm_create|Comm_split*|*v|*v_init|*w|*w_init|*educe_scatter*"))
			return (struct demand){is_intra, NULL, {0}};
		break;
	case T_TYPE:
		for (int k = 0; k < c->f->n; k++)
			if (c->f->params[k].type == i || c->f->chapter == 12)
				return (struct demand){is_communicable, is_uncommitted, {MPI_ERR_TYPE}};
		if (is_called(c, "Type_free|Type_get_contents"))
			return (struct demand){freeable, NULL, {MPI_ERR_TYPE}};
		return (struct demand){is_called(c, "Pack_*size") ? is_communicable : is_usable, NULL, {0}};
	case T_OP:
		return (struct demand){is_called(c, "Op_free") ? freeable : always, NULL, {MPI_ERR_OP}};
	case T_WIN:
		if (is_called(c, "Win_attach|Win_detach"))
			return (struct demand){is_dynamic, is_static, {MPI_ERR_RMA_FLAVOR, MPI_ERR_WIN}};
		if (is_called(c, "Win_shared_query"))
			return (struct demand){is_static, is_dynamic, {MPI_ERR_RMA_FLAVOR}};
		break;
	case T_GROUP:
		if (is_called(c, "Group_free"))
			return (struct demand){freeable, NULL, {0}};
		break;
	case T_REQUEST:
		if (is_called(c, "Start|Startall"))
			return (struct demand){is_startable, is_momentary, {MPI_ERR_REQUEST}};
		if (is_called(c, "Cancel"))
			return (struct demand){is_cancellable, NULL, {0}};
		if (is_called(c, "Request_free"))
			return (struct demand){not_collective, NULL, {0}};
		if (is_called(c, "Grequest_complete"))
			return (struct demand){is_general, is_momentary, {MPI_ERR_REQUEST}};
		if (is_called(c, "Pready*"))
			return (struct demand){is_ready, is_not_partitioned, {MPI_ERR_REQUEST}};
		if (is_called(c, "Parrived"))
			return (struct demand){is_partitioned, is_not_partitioned, {MPI_ERR_REQUEST}};
		break;
	default:
		break;
	}
	return (struct demand){is_any, NULL, {0}};
}

/* Predefined types, grouped by the reductions that they allow. */
static const MPI_Datatype integers[] = {MPI_INT,      MPI_LONG,     MPI_SHORT, MPI_UNSIGNED, MPI_LONG_LONG,  MPI_INT8_T,
					MPI_UINT16_T, MPI_UINT64_T, MPI_AINT,  MPI_COUNT,    MPI_SIGNED_CHAR};
static const MPI_Datatype floats[] = {MPI_FLOAT, MPI_DOUBLE,           MPI_LONG_DOUBLE,
				      MPI_REAL,  MPI_DOUBLE_PRECISION, MPI_REAL8};
static const MPI_Datatype complexes[] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX};
static const MPI_Datatype logicals[] = {MPI_C_BOOL, MPI_LOGICAL, MPI_CXX_BOOL};
static const MPI_Datatype pairs[] = {MPI_2INT, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL};
static const MPI_Datatype others[] = {MPI_BYTE, MPI_PACKED, MPI_WCHAR};

static const struct {
	const MPI_Datatype *list;
	int n;
} families[] = {{integers, 11}, {floats, 6}, {complexes, 3}, {logicals, 3}, {pairs, 5}, {others, 3}};

enum family { INTEGERS, FLOATS, COMPLEXES, LOGICALS, PAIRS, OTHERS, DERIVED };

static enum family family_of(const void *type) {
	for (int f = 0; f < DERIVED; f++)
		for (int k = 0; k < families[f].n; k++)
			if (families[f].list[k] == type)
				return (enum family)f;
	return DERIVED;
}

static void *any_type(struct call *c, int only) {
	int f = only >= 0 ? only : below(c, DERIVED);
	return families[f].list[below(c, families[f].n)];
}

static void *const predefined[][4] = {
	[T_COMM] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_COMM_NULL},
	[T_GROUP] = {MPI_GROUP_EMPTY, MPI_GROUP_NULL, MPI_GROUP_EMPTY, MPI_GROUP_NULL},
	[T_TYPE] = {MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_DATATYPE_NULL},
	[T_OP] = {MPI_SUM, MPI_REPLACE, MPI_MINLOC, MPI_OP_NULL},
	[T_WIN] = {MPI_WIN_NULL, MPI_WIN_NULL, MPI_WIN_NULL, MPI_WIN_NULL},
	[T_REQUEST] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL},
	[T_MESSAGE] = {MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC},
	[T_INFO] = {MPI_INFO_NULL, MPI_INFO_ENV, MPI_INFO_NULL, MPI_INFO_ENV},
	[T_ERRHANDLER] = {MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL, MPI_ERRHANDLER_NULL, MPI_ERRORS_ABORT},
	[T_COMM_KEY] = {(void *)MPI_TAG_UB, (void *)MPI_WTIME_IS_GLOBAL, (void *)MPI_APPNUM,
			(void *)MPI_KEYVAL_INVALID},
	[T_TYPE_KEY] = {(void *)MPI_TAG_UB, (void *)MPI_WIN_BASE, (void *)MPI_KEYVAL_INVALID, (void *)MPI_APPNUM},
	[T_WIN_KEY] = {(void *)MPI_WIN_BASE, (void *)MPI_WIN_SIZE, (void *)MPI_WIN_MODEL, (void *)MPI_KEYVAL_INVALID},
	[T_MEMORY] = {NULL, NULL, NULL, NULL},
	[T_FILE] = {MPI_FILE_NULL, MPI_FILE_NULL, MPI_FILE_NULL, MPI_FILE_NULL},
	[T_SESSION] = {MPI_SESSION_NULL, MPI_SESSION_NULL, MPI_SESSION_NULL, MPI_SESSION_NULL},
};

/* Returns true if `handle` is in the range of the predefined handles of its kind. The null handle is not in that
 * range. */
int is_predefined(enum thing thing, const void *handle) {
	static const int from[] = {[T_COMM] = 0x101,       [T_GROUP] = 0x109,   [T_TYPE] = 0x201,    [T_OP] = 0x21,
				   [T_WIN] = 0x111,        [T_REQUEST] = 0x181, [T_MESSAGE] = 0x129, [T_INFO] = 0x131,
				   [T_ERRHANDLER] = 0x141, [T_COMM_KEY] = 501,  [T_TYPE_KEY] = 1,    [T_WIN_KEY] = 601,
				   [T_MEMORY] = 1,         [T_FILE] = 0x119,    [T_SESSION] = 0x121, [T_TOOL] = 1};
	static const int to[] = {[T_COMM] = 0x107,       [T_GROUP] = 0x10f,   [T_TYPE] = 0x3ff,    [T_OP] = 0x3f,
				 [T_WIN] = 0x117,        [T_REQUEST] = 0x18f, [T_MESSAGE] = 0x12f, [T_INFO] = 0x13f,
				 [T_ERRHANDLER] = 0x14f, [T_COMM_KEY] = 520,  [T_TYPE_KEY] = 0,    [T_WIN_KEY] = 620,
				 [T_MEMORY] = 0,         [T_FILE] = 0x11f,    [T_SESSION] = 0x127, [T_TOOL] = 0};
	return (uintptr_t)handle >= (uintptr_t)from[thing] && (uintptr_t)handle <= (uintptr_t)to[thing];
}

static int is_key(enum thing thing) { return thing == T_COMM_KEY || thing == T_TYPE_KEY || thing == T_WIN_KEY; }

/* Returns a handle that certainly refers to no object of the kind. */
static void *handle_error(struct call *c, enum thing thing, const char **note) {
	for (int tries = 0; tries < 20; tries++) {
		void *h = NULL;
		struct object *o;
		enum thing other = (enum thing)below(c, THINGS);
		switch (below(c, 9)) {
		case 0:
			*note = "zero";
			break;
		case 1:
			*note = "null handle";
			h = thing_null(thing);
			break;
		case 2:
			*note = "predefined, of another kind";
			h = predefined[other][below(c, 4)];
			break;
		case 3:
			*note = "of another kind";
			o = pool_pick(c, other, always);
			h = o ? o->value.pointer : NULL;
			break;
		case 4:
		case 5:
			*note = "freed";
			h = pool_freed(c, thing);
			if (!h)
				continue;
			break;
		case 6:
			*note = "random";
			h = (void *)wrong_random(c, below(c, 2) ? 4 : 8);
			break;
		case 7:
			*note = "random address";
			h = (char *)&functions[0] + below(c, 1000);
			break;
		default:
			*note = "nearly right";
			o = thing < THINGS ? pool_pick(c, thing, always) : NULL;
			h = (void *)((o ? (uintptr_t)o->value.pointer : 0x1000) ^ (uintptr_t)1 << (32 + below(c, 32)));
		}
		if (is_key(thing))
			h = (void *)(intptr_t)(int)(intptr_t)h;
		if (thing < THINGS && (pool_is_live(thing, h) || is_predefined(thing, h)))
			continue;
		return h;
	}
	*note = "null handle";
	return thing_null(thing);
}

/* Decides whether the call allows the null handle. */
static enum truth truth_of_null(const struct call *c, enum thing thing) {
	if (c->f->flags & NO_CODE)
		return OPEN;
	switch (thing) {
	case T_INFO:
		return c->f->chapter == 10 || is_called(c, "Info_*") ? WRONG : RIGHT;
	case T_REQUEST:
		return is_called(c, "Wait*|Test*|Request_get_status*|Parrived") ? RIGHT : WRONG;
	case T_FILE: /* allowed: MPI_FILE_NULL has the error handler of new files */
		return is_called(c, "File_*_errhandler") ? RIGHT : WRONG;
	case T_COMM:
	case T_TYPE:
	case T_WIN:
		return is_called(c, "*_get_name") ? OPEN : WRONG;
	default:
		return WRONG;
	}
}

static void *right_type(struct call *c, struct argument *a, struct demand d) {
	uint64_t rng = c->rng;
	void *type;
	/* The same random state for each parameter, so that all datatypes of a valid call are equal. */
	c->rng = mix(mix(seed, c->number), 1000);
	if (is_called(c, "*ccumulate*") && d.fits == is_communicable)
		d.fits = is_fixed; /* predefined types only: a derived type may have elements of several types */
	if (is_called(c, "Compare_and_swap"))
		type = any_type(c, below(c, 2) ? INTEGERS : LOGICALS);
	else if (is_called(c, "Fetch_and_op"))
		type = any_type(c, below(c, 2) ? INTEGERS : FLOATS);
	else if (is_called(c, "Type_*_attr") && below(c, 2))
		type = MPI_INT; /* often the same type, so that calls find attributes of earlier calls */
	else if (d.fits != freeable && below(c, 3))
		type = any_type(c, -1);
	else {
		a->object = pool_pick(c, T_TYPE, d.fits);
		type = a->object ? a->object->value.pointer : any_type(c, -1);
	}
	c->rng = rng;
	return type;
}

/* Returns a reduction operation. The argument `want` states whether the operation must be defined for the datatype of
 * the call. */
static void *right_op(struct call *c, int i, enum truth want) {
	static const MPI_Op sums[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
				      MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
	int type = -1, rma = c->f->chapter == 12;
	for (int k = 0; k < c->f->n; k++)
		if (c->f->params[k].kind == K_DATATYPE && (type < 0 || is_named(c, k, "target_datatype")))
			type = k;
	if (type < 0 || c->arg[type].truth != RIGHT) {
		set(c, i, OPEN, "any", 0);
		return sums[below(c, 10)];
	}
	enum family f = family_of(c->arg[type].value.pointer);
	if (want == WRONG) {
		set(c, i, WRONG, "not for this type", MPI_ERR_OP, MPI_ERR_TYPE, 0);
		if (!rma && below(c, 2))
			return below(c, 2) ? MPI_REPLACE : MPI_NO_OP;
		switch (f) {
		case INTEGERS:
			return MPI_MINLOC;
		case FLOATS:
			return MPI_BAND;
		case COMPLEXES:
			return MPI_MAX;
		case LOGICALS:
			return MPI_SUM;
		case PAIRS:
			return MPI_SUM;
		case OTHERS:
			return rma && c->arg[type].value.pointer == MPI_BYTE ? MPI_MAXLOC : MPI_PROD;
		default:
			if (!rma)
				return MPI_SUM;
			set(c, i, OPEN, "any", 0);
			return MPI_SUM;
		}
	}
	struct object *o = rma || below(c, 4) ? NULL : pool_pick(c, T_OP, freeable);
	set(c, i, RIGHT, "", 0);
	c->arg[i].object = o;
	if (o)
		return o->value.pointer;
	if (rma && below(c, 4) == 0)
		return MPI_REPLACE;
	if (rma && below(c, 6) == 0 && is_called(c, "Get_accumulate|Rget_accumulate|Fetch_and_op"))
		return MPI_NO_OP;
	switch (f) {
	case INTEGERS:
		return sums[below(c, 10)];
	case FLOATS:
		return sums[below(c, 4)];
	case COMPLEXES:
		return sums[below(c, 2)];
	case LOGICALS:
		return sums[4 + below(c, 3)];
	case PAIRS:
		return below(c, 2) ? MPI_MINLOC : MPI_MAXLOC;
	default:
		if (rma)
			return MPI_REPLACE;
		o = c->arg[i].object = pool_pick(c, T_OP, freeable);
		if (!o)
			set(c, i, OPEN, "any", 0);
		return o ? o->value.pointer : MPI_SUM;
	}
}

void *draw_handle(struct call *c, int i, enum thing thing, enum truth want) {
	struct argument *a = &c->arg[i];
	const char *note = "";
	struct demand d = demand(c, i, thing);
	enum truth null = truth_of_null(c, thing);
	int missing = c->f->flags & MISSING;

	a->object = NULL;
	if (want == OPEN || want == UNSAFE)
		want = below(c, 2) ? RIGHT : WRONG;
	if (thing == T_TOOL || missing) {
		set(c, i, OPEN, "any", 0);
		return below(c, 2) ? thing_null(thing) : handle_error(c, thing, &a->note);
	}
	if (want == WRONG && thing < THINGS) {
		/* Sometimes use an object of the right kind that this call must reject. */
		if (d.against && below(c, 3) == 0) {
			struct object *o = pool_pick(c, thing, d.against);
			if (o && !d.fits(o)) {
				set(c, i, WRONG, "not for this call", d.classes[0], d.classes[1], 0);
				a->object = o;
				return o->value.pointer;
			}
		}
		if (d.fits == freeable && d.classes[0] && below(c, 3) == 0) {
			set(c, i, WRONG, "predefined", d.classes[0], 0);
			return predefined[thing][below(c, 2)];
		}
		if (thing == T_OP && below(c, 2) && c->f->n > 2)
			return right_op(c, i, WRONG);
		if (is_key(thing) &&
		    is_called(c, "*_set_attr|*_delete_attr|Attr_put|Attr_delete|*eyval_free|*_free_keyval") &&
		    below(c, 4) == 0) {
			set(c, i, WRONG, "predefined", MPI_ERR_KEYVAL, 0);
			return predefined[thing][below(c, 3)];
		}
		if (thing == T_TYPE && below(c, 3) == 0) {
			if (is_called(c, "Compare_and_swap")) {
				set(c, i, WRONG, "not for this call", MPI_ERR_TYPE, 0);
				return any_type(c, below(c, 2) ? FLOATS : PAIRS);
			}
			if (is_called(c, "Compare_and_swap|Fetch_and_op") &&
			    (a->object = pool_pick(c, T_TYPE, is_several)) && !a->object->fixed) {
				set(c, i, WRONG, "derived", MPI_ERR_TYPE, MPI_ERR_OP, 0);
				return a->object->value.pointer;
			}
			a->object = NULL;
		}
	}
	if (want == WRONG) {
		void *h = handle_error(c, thing, &note);
		int lives = is_key(thing) && strcmp(note, "freed") == 0; /* a freed keyval stays valid as long as an
		                                                          * object has the attribute */
		set(c, i,
		    h == thing_null(thing)           ? null
		    : lives || c->f->flags & NO_CODE ? OPEN
						     : WRONG,
		    note, thing_class(thing), 0);
		if (thing == T_ERRHANDLER)
			set(c, i, a->truth, note, MPI_ERR_ERRHANDLER, MPI_ERR_ARG, 0);
		if (thing == T_MESSAGE)
			set(c, i, a->truth, note, MPI_ERR_REQUEST, MPI_ERR_ARG, 0);
		return h;
	}
	set(c, i, RIGHT, "", 0);
	if (thing == T_TYPE)
		return right_type(c, a, d);
	if (thing == T_OP && c->f->n > 2)
		return right_op(c, i, RIGHT);
	if (null == RIGHT && below(c, 4) == 0) {
		a->note = "null handle";
		return thing_null(thing);
	}
	if (is_key(thing) && is_called(c, "*_get_attr|Attr_get") && thing != T_TYPE_KEY && below(c, 2))
		return predefined[thing][below(c, 3)];
	if (thing == T_MESSAGE && below(c, 2))
		return MPI_MESSAGE_NO_PROC;
	if (thing == T_ERRHANDLER && below(c, 2) && !is_called(c, "Errhandler_free"))
		return MPI_ERRORS_RETURN;
	struct object *o = thing == T_WIN && c->f->chapter == 12 && below(c, 4)
				   ? pool_pick(c, thing, d.fits == is_any && window_need(c) ? window_need(c) : d.fits)
				   : NULL;
	if (!o && thing < THINGS)
		o = pool_pick(c, thing, d.fits);
	if (thing == T_GROUP && is_called(c, "Win_post|Win_start") && below(c, 2))
		o = &pool[T_GROUP][1]; /* the group of MPI_COMM_WORLD, which is also that of most windows */
	if (thing == T_COMM && is_called(c, "*_attr|Attr_*") && below(c, 2))
		o = &pool[T_COMM][0]; /* often the same one, so that calls find attributes of earlier calls */
	if (!o) {
		if (null == RIGHT)
			return thing_null(thing);
		void *h = handle_error(c, thing, &note);
		set(c, i, c->f->flags & NO_CODE ? OPEN : WRONG, note, 0);
		return h;
	}
	a->object = o;
	if (thing == T_INFO && c->f->chapter != 10 && !is_called(c, "Info_*"))
		a->truth = OPEN; /* the call may reject the info's value for a key that it knows */
	if (thing == T_COMM && !c->comm)
		c->comm = o;
	if (thing == T_GROUP && !c->group)
		c->group = o;
	if (thing == T_WIN && !c->win)
		c->win = o;
	return o->value.pointer;
}
