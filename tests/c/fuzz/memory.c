/* Manages the memory of arguments that are addresses. Each parameter has a cell of memory. Bytes that the call must not
 * write hold a pattern. These are the bytes before and after an output, and if the call fails, also the output
 * itself. */
#include <sys/mman.h>

#include "fuzz.h"

enum {
	CELL = 1 << 20,
	MIDDLE = CELL / 2, /* offset of the argument in its cell: a type may extend to both sides of the address */
	GUARD = 64,
	LONGEST = 32768, /* maximum size of an array in bytes */
	REACH = 8192,    /* bytes on either side of a buffer's address that are checked */
	PATTERN = 0xa5,
	LASTING = 32
};

static char *cells, *lastings;
static size_t dirty[MAX_PARAMS];    /* for each cell, at least the number of bytes that no longer have the pattern */
static char saved[MAX_PARAMS][256]; /* copies of the arguments that are both input and output */

static char *reserve(size_t size) {
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

void memory_open(void) {
	cells = reserve((size_t)MAX_PARAMS * CELL);
	lastings = reserve((size_t)LASTING * CELL);
	for (int i = 0; i < MAX_PARAMS; i++)
		memset((char *)cell_of(i) - REACH, PATTERN, REACH + LONGEST + REACH);
}

void *cell_of(int i) { return cells + (size_t)i * CELL + MIDDLE; }

/* Returns memory that later calls do not reuse for a long time. It serves pending operations and windows. */
void *lasting(uint64_t number, size_t offset) { return lastings + (number % LASTING) * CELL + MIDDLE + offset; }

/* Fills the changed part of a cell with the pattern again. */
static void restore(int i) {
	if (dirty[i])
		memset((char *)cell_of(i) - GUARD, PATTERN, GUARD + dirty[i] + GUARD);
	dirty[i] = 0;
}

static int all_pattern(const char *p, size_t n) {
	return n == 0 || ((unsigned char)p[0] == PATTERN && memcmp(p, p + 1, n - 1) == 0);
}

/* ---- callback functions that calls pass to MPI */

static void user_op(void *in, void *inout, int *len, MPI_Datatype *type) {
	(void)in, (void)inout, (void)len, (void)type;
}
static void user_op_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *type) {
	(void)in, (void)inout, (void)len, (void)type;
}
static int comm_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
	(void)comm, (void)key;
	*(void **)out = in;
	*flag = extra != NULL;
	return MPI_SUCCESS;
}
static int comm_delete(MPI_Comm comm, int key, void *value, void *extra) {
	return (void)comm, (void)key, (void)value, (void)extra, MPI_SUCCESS;
}
static int type_copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
	(void)type, (void)key;
	*(void **)out = in;
	*flag = extra != NULL;
	return MPI_SUCCESS;
}
static int type_delete(MPI_Datatype type, int key, void *value, void *extra) {
	return (void)type, (void)key, (void)value, (void)extra, MPI_SUCCESS;
}
static int win_copy(MPI_Win win, int key, void *extra, void *in, void *out, int *flag) {
	(void)win, (void)key, (void)extra;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}
static int win_delete(MPI_Win win, int key, void *value, void *extra) {
	return (void)win, (void)key, (void)value, (void)extra, MPI_SUCCESS;
}
static int query(void *extra, MPI_Status *status) {
	(void)extra;
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}
static int free_it(void *extra) { return (void)extra, MPI_SUCCESS; }
static int cancel_it(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }
static void on_comm(MPI_Comm *comm, int *code, ...) { (void)comm, raised++, raised_code = *code; }
static void on_win(MPI_Win *win, int *code, ...) { (void)win, raised++, raised_code = *code; }
static void on_file(MPI_File *file, int *code, ...) { (void)file, raised++, raised_code = *code; }
static void on_session(MPI_Session *session, int *code, ...) { (void)session, raised++, raised_code = *code; }

static const struct {
	const char *type;
	void (*function)(void);
} callbacks[] = {
	{"MPI_User_function", (void (*)(void))user_op},
	{"MPI_User_function_c", (void (*)(void))user_op_c},
	{"MPI_Comm_copy_attr_function", (void (*)(void))comm_copy},
	{"MPI_Comm_delete_attr_function", (void (*)(void))comm_delete},
	{"MPI_Copy_function", (void (*)(void))comm_copy},
	{"MPI_Delete_function", (void (*)(void))comm_delete},
	{"MPI_Type_copy_attr_function", (void (*)(void))type_copy},
	{"MPI_Type_delete_attr_function", (void (*)(void))type_delete},
	{"MPI_Win_copy_attr_function", (void (*)(void))win_copy},
	{"MPI_Win_delete_attr_function", (void (*)(void))win_delete},
	{"MPI_Grequest_query_function", (void (*)(void))query},
	{"MPI_Grequest_free_function", (void (*)(void))free_it},
	{"MPI_Grequest_cancel_function", (void (*)(void))cancel_it},
	{"MPI_Comm_errhandler_function", (void (*)(void))on_comm},
	{"MPI_Win_errhandler_function", (void (*)(void))on_win},
	{"MPI_File_errhandler_function", (void (*)(void))on_file},
	{"MPI_Session_errhandler_function", (void (*)(void))on_session},
};

static void draw_callback(struct call *c, int i, enum truth want) {
	struct argument *a = &c->arg[i];
	const char *type = c->f->params[i].callback;
	a->value.function = NULL;
	if (!type || c->f->flags & MISSING) {
		set(c, i, OPEN, "", 0);
		return;
	}
	if (strstr(type, "_attr_function") || strstr(type, "Copy_function") ||
	    strstr(type, "Delete_function")) { /* NULL is valid: it is the value of MPI_COMM_NULL_COPY_FN */
		set(c, i, RIGHT, "", 0);
		if (below(c, 3) == 0)
			return;
	} else if (want == WRONG) {
		set(c, i, WRONG, "NULL", MPI_ERR_ARG, MPI_ERR_OP, 0);
		return;
	}
	for (size_t k = 0; k < sizeof callbacks / sizeof callbacks[0]; k++)
		if (strcmp(callbacks[k].type, type) == 0)
			a->value.function = callbacks[k].function;
	set(c, i, a->value.function ? RIGHT : OPEN, "", 0);
}

/* ---- buffers */

/* Returns true if parameter i is the sendbuf of a collective in which all processes may pass MPI_IN_PLACE for it. */
static int may_be_in_place(const struct call *c, int i) {
	if (c->f->params[i].kind != K_BUFFER || (c->comm && c->comm->inter))
		return 0;
	return is_named(c, i, "sendbuf") &&
	       is_called(c, "Allgather*|Iallgather*|Allreduce*|Iallreduce|Alltoall*|Ialltoall*|Reduce_scatter*|"
			    "Ireduce_scatter*|Scan*|Iscan|Exscan*|Iexscan");
}

/* Returns true if the buffer certainly has data. */
static int has_data(const struct call *c, int i) {
	const struct param *p = &c->f->params[i];
	if (p->type >= 0) {
		const struct argument *t = &c->arg[p->type];
		if (t->truth != RIGHT || c->f->params[p->type].length != SCALAR || (t->object && !t->object->fixed))
			return 0; /* a derived type may have no data, or data at an absolute address */
	}
	if (p->count < 0)
		return p->type >= 0;
	if (c->f->params[p->count].length != SCALAR)
		return c->arg[p->count].truth == RIGHT && c->count > 0 && elements_of((struct call *)c, p->count) > 0;
	return c->arg[p->count].truth == RIGHT && c->arg[p->count].value.number > 0;
}

static void draw_buffer(struct call *c, int i, enum truth want) {
	struct argument *a = &c->arg[i];
	const struct param *p = &c->f->params[i];
	char *cell = cell_of(i);
	int transfers = (p->count >= 0 && p->type >= 0) || is_called(c, "Compare_and_swap|Fetch_and_op");

	a->cell = cell;
	a->capacity = 0;
	a->value.pointer = cell + 16 * below(c, 3);
	set(c, i, RIGHT, "", 0);
	if (is_called(c, "Get_address")) {
		if (want == WRONG)
			a->value.pointer = NULL;
		return;
	}
	if (is_called(c, "Free_mem")) {
		struct object *o = want == WRONG ? NULL : pool_pick(c, T_MEMORY, NULL);
		a->cell = NULL;
		a->object = o;
		a->value.pointer = o ? o->value.pointer : below(c, 2) ? NULL : cell;
		set(c, i,
		    o                  ? RIGHT
		    : a->value.pointer ? WRONG
				       : OPEN,
		    o ? "" : "not of MPI_Alloc_mem", MPI_ERR_BASE, MPI_ERR_ARG, 0);
		return;
	}
	if (is_called(c, "Win_detach")) {
		a->value.pointer = want == WRONG ? cell : (char *)lasting(4 + (uint64_t)below(c, 4), 0);
		set(c, i, want == WRONG ? WRONG : OPEN, "never attached", MPI_ERR_BASE, MPI_ERR_RMA_ATTACH, MPI_ERR_ARG,
		    0);
		return;
	}
	if (is_called(c, "Win_create|Win_attach|*_attach_buffer|Buffer_attach")) {
		a->cell = lasting((uint64_t)below(c, 4) + (is_called(c, "*uffer*") ? 0 : 4), 0);
		a->value.pointer = a->cell;
		set(c, i, RIGHT, "", 0);
		if (want == WRONG && has_data(c, i)) {
			a->value.pointer = NULL;
			set(c, i, WRONG, "NULL", MPI_ERR_BASE, MPI_ERR_BUFFER, MPI_ERR_ARG, MPI_ERR_RMA_ATTACH, 0);
		}
		return;
	}
	if (!transfers && p->count < 0) { /* a buffer of the calls for files or of the tool interface */
		set(c, i, OPEN, "", 0);
		return;
	}
	if (want == WRONG) {
		int send = find_param(c, "sendbuf");
		if (!has_data(c, i)) {
			a->value.pointer = NULL;
			set(c, i, UNSAFE, "NULL", 0);
			return;
		}
		set(c, i, WRONG, "NULL", MPI_ERR_BUFFER, MPI_ERR_ARG, 0);
		a->value.pointer = NULL;
		if (below(c, 4) == 0 && !is_called(c, "Pack*|Unpack*") &&
		    !(is_named(c, i, "sendbuf") && c->f->chapter == 6) &&
		    !(is_named(c, i, "recvbuf") && is_called(c, "Scatter*|Iscatter*"))) {
			set(c, i, WRONG, "MPI_IN_PLACE", MPI_ERR_BUFFER, MPI_ERR_ARG, 0);
			a->value.pointer = MPI_IN_PLACE;
		} else if (below(c, 3) == 0 && send >= 0 && is_named(c, i, "recvbuf") && (c->f->chapter == 6) &&
			   c->arg[send].truth == RIGHT && c->arg[send].value.pointer != MPI_IN_PLACE && c->comm &&
			   !c->comm->inter && p->type >= 0 && has_data(c, send) &&
			   !is_called(c, "*v|*v_init|*w|*w_init") &&
			   (c->comm->size == 1 || !is_called(c, "Gather*|Igather*|Scatter*|Iscatter*|All*|Iall*"))) {
			a->cell = c->arg[send].cell;
			a->value.pointer = c->arg[send].value.pointer;
			set(c, i, WRONG, "the send buffer", MPI_ERR_BUFFER, 0);
		}
		return;
	}
	if (may_be_in_place(c, i) && below(c, 6) == 0) {
		a->value.pointer = MPI_IN_PLACE;
		a->note = "MPI_IN_PLACE";
	}
}

/* ---- strings */

static const char *long_string(int n) {
	static char text[5000];
	memset(text, 'x', (size_t)n);
	text[n] = '\0';
	return text;
}

static void draw_string(struct call *c, int i, enum truth want) {
	static const char *const keys[] = {
		"fuzz0", "fuzz1", "accumulate_ops", "mpi_assert_no_any_tag", "accumulate_ordering", "same_size"};
	static const char *const values[] = {"true", "false", "same_op", "waw,raw", "1", "none", ""};
	struct argument *a = &c->arg[i];
	const struct param *p = &c->f->params[i];
	int key = strcmp(p->name, "key") == 0, value = strcmp(p->name, "value") == 0,
	    datarep = strcmp(p->name, "datarep") == 0;
	const char *text;

	a->cell = cell_of(i);
	a->value.pointer = a->cell;
	set(c, i, RIGHT, "", 0);
	text = key           ? keys[below(c, 6)]
	       : value       ? values[below(c, 7)]
	       : datarep     ? "external32"
	       : below(c, 2) ? "name"
			     : "\xff\xfe text";
	if (want == UNSAFE && !key && !value && !datarep) {
		text = long_string(300);
		set(c, i, OPEN, "long", 0);
	}
	if (want == WRONG) {
		int how = below(c, 3);
		set(c, i, c->f->flags & MISSING ? OPEN : WRONG, "", MPI_ERR_ARG,
		    key     ? MPI_ERR_INFO_KEY
		    : value ? MPI_ERR_INFO_VALUE
			    : MPI_ERR_UNSUPPORTED_DATAREP,
		    0);
		if (how == 0 || !(key || value || datarep)) {
			a->note = "NULL";
			a->value.pointer = a->cell = NULL;
			return;
		}
		if (how == 1 && value)
			how = 2;
		text = how == 1 ? ""
		       : key    ? long_string(MPI_MAX_INFO_KEY + below(c, 3))
		       : value  ? long_string(MPI_MAX_INFO_VAL + below(c, 3))
				: "native";
		if (how == 1 && datarep)
			text = "external33";
	}
	strcpy(a->cell, text);
	dirty[i] = strlen(text) + 1;
}

/* ---- other arguments passed by address */

static void out_cell(struct call *c, int i, int64_t n) {
	struct argument *a = &c->arg[i];
	a->cell = cell_of(i);
	a->n = n;
	a->capacity = (size_t)n * (size_t)c->f->params[i].width;
	if (a->capacity > LONGEST)
		a->capacity = LONGEST;
	a->value.pointer = a->cell;
	if (c->f->params[i].dir != OUT)
		dirty[i] = a->capacity;
}

static void null_cell(struct call *c, int i, enum truth truth) {
	struct argument *a = &c->arg[i];
	a->cell = NULL;
	a->value.pointer = NULL;
	set(c, i, truth, "NULL", MPI_ERR_ARG, MPI_ERR_BUFFER, 0);
}

static void draw_out(struct call *c, int i, enum truth want) {
	const struct param *p = &c->f->params[i];
	struct argument *a = &c->arg[i];
	int64_t n = elements_of(c, i);
	int missing = c->f->flags & MISSING;

	set(c, i, RIGHT, "", 0);
	if (p->kind == K_STRING) {
		int length = find_param(c, "valuelen");
		n = p->length == FIXED ? p->fixed : MPI_MAX_INFO_KEY;
		if (length < 0)
			length = find_param(c, "buflen");
		if (length >= 0) { /* MPI_Info_get writes the terminating zero after valuelen characters */
			int64_t v =
				is_named(c, length, "buflen") ? *(int *)cell_of(length) : c->arg[length].value.number;
			n = c->arg[length].truth == RIGHT && v >= 0 ? v + is_named(c, length, "valuelen") : 0;
		}
	}
	if (p->kind == K_STATUS || strcmp(p->name, "array_of_errcodes") == 0) { /* may be an ignore constant */
		if (below(c, 3) == 0) {
			null_cell(c, i, RIGHT);
			a->note = "ignored";
			return;
		}
	} else if (want == WRONG) {
		/* The length of these arrays is the number of dimensions, not maxdims. */
		if (is_called(c, "Cart_get|Cart_coords") && p->length != SCALAR)
			n = c->comm ? c->comm->ndims : 0;
		/* NULL is right for an array without elements. */
		null_cell(c, i,
			  missing || is_called(c, "Type_get_contents|Dist_graph_neighbors") ? OPEN
			  : n > 0                                                           ? WRONG
											    : RIGHT);
		return;
	}
	out_cell(c, i, n);
}

static void draw_statuses(struct call *c, int i, enum truth want) {
	MPI_Status status;
	struct argument *a = &c->arg[i];
	int ignored = below(c, 2);
	if (want == WRONG) {
		null_cell(c, i, WRONG);
		return;
	}
	memset(&status, 0, sizeof status);
	if (running) {
		ignore_errors(1);
		MPI_Status_set_elements(&status, MPI_INT, (int)c->count);
		MPI_Status_set_cancelled(&status, below(c, 2));
		ignore_errors(0);
	}
	status.MPI_SOURCE = below(c, 3);
	status.MPI_TAG = below(c, 3);
	set(c, i, RIGHT, "", 0);
	if (want == UNSAFE && !ignored) {
		set(c, i, OPEN, "random", 0);
		for (size_t k = 0; k < sizeof status; k++)
			((char *)&status)[k] = (char)below(c, 256);
	}
	out_cell(c, i, 1);
	memcpy(a->cell, &status, sizeof status);
}

static void put(char *at, int width, int64_t v) {
	if (width == 4) {
		int narrow = (int)v;
		memcpy(at, &narrow, 4);
	} else
		memcpy(at, &v, 8);
}

static void draw_ranges(struct call *c, int i, enum truth want, int64_t n) {
	int *range = cell_of(i), size = c->group ? c->group->size : 0;
	out_cell(c, i, n);
	c->arg[i].capacity = 0;
	set(c, i, RIGHT, "", 0);
	for (int64_t k = 0; k < n; k++) {
		range[3 * k] = 0;
		range[3 * k + 1] = size - 1;
		range[3 * k + 2] = 1;
	}
	if (want == WRONG && n > 0) {
		const int first[] = {-1, INT_MIN, -1000, -2}, last[] = {1000, INT_MAX, size, 1 << 30};
		int k = below(c, 3);
		range[k] = k == 2 ? 0 : k == 1 ? last[below(c, 4)] : first[below(c, 4)];
		if (size == 0)
			range[1] = 1;
		set(c, i, WRONG, "", MPI_ERR_RANK, MPI_ERR_ARG, 0);
	}
}

/* Draws the values of an input argument that is passed by address: an array or a scalar. */
static void draw_in(struct call *c, int i, enum truth want) {
	const struct param *p = &c->f->params[i];
	struct argument *a = &c->arg[i];
	int64_t n = elements_of(c, i), odd;
	int weights = p->kind == K_WEIGHT, handles = thing_of(c, i) != NOTHING;
	struct argument best;

	if (weights && !(mix(mix(seed, c->number), 1003) >> 20 & 1) && want == RIGHT) {
		set(c, i, RIGHT, "MPI_UNWEIGHTED", 0);
		a->value.pointer = MPI_UNWEIGHTED;
		return;
	}
	if (p->width == 12) {
		draw_ranges(c, i, want, n);
		return;
	}
	if (n > 6 && p->length != FIXED)
		n = 6;
	if (want == WRONG && (n == 0 || below(c, 3) == 0)) {
		null_cell(c, i, n == 0 ? RIGHT : c->f->flags & MISSING ? OPEN : WRONG);
		if (n > 0 && is_called(c, "*v|*v_init|*w|*w_init|*educe_scatter*"))
			set(c, i, a->truth, "NULL", MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_BUFFER, MPI_ERR_TYPE, 0);
		if (c->f->chapter == 5)
			set(c, i, a->truth, "NULL", MPI_ERR_ARG, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, 0);
		return;
	}
	out_cell(c, i, n);
	a->capacity = 0;
	set(c, i, RIGHT, "", 0);
	best = *a;
	odd = n > 0 ? below(c, (int)n) : 0;
	for (int64_t k = 0; k < n; k++) {
		enum truth w = want == RIGHT || k == odd ? want : RIGHT;
		if (handles) {
			void *h = draw_handle(c, i, thing_of(c, i), w);
			if (thing_of(c, i) == T_REQUEST) /* replace a duplicate: no request may occur twice */
				for (int64_t j = 0; j < k; j++)
					if (((void **)best.cell)[j] == h)
						h = MPI_REQUEST_NULL,
						set(c, i, is_called(c, "Startall") ? WRONG : RIGHT, "", MPI_ERR_REQUEST,
						    0);
			memcpy(best.cell + 8 * k, &h, 8);
		} else
			put(best.cell + p->width * k, p->width, draw_element(c, i, w, k, n));
		if (a->truth > best.truth) {
			best.truth = a->truth;
			best.note = a->note;
			memcpy(best.classes, a->classes, sizeof best.classes);
		}
	}
	*a = best;
	if (thing_of(c, i) == T_REQUEST && a->truth == WRONG && n > 1 && a->classes[0]) {
		int end = 0;
		while (a->classes[end])
			end++;
		a->classes[end] = MPI_ERR_IN_STATUS;
		a->classes[end + 1] = 0;
	}
}

/* Draws the value of a handle that is passed by address, for input and output. */
void handle_cell(struct call *c, int i, int64_t n) {
	struct argument *a = &c->arg[i];
	(void)n;
	out_cell(c, i, 1);
	a->capacity = 8;
}

void draw_memory(struct call *c, int i, enum truth want) {
	const struct param *p = &c->f->params[i];
	struct argument *a = &c->arg[i];
	enum thing thing = thing_of(c, i);

	restore(i);
	if (p->callback || p->kind == K_FUNCTION || p->kind == K_POLYFUNCTION || strstr(p->name, "cb_function")) {
		draw_callback(c, i, want);
		return;
	}
	switch (p->kind) {
	case K_BUFFER:
		draw_buffer(c, i, want);
		break;
	case K_STATUS:
		if (p->dir == OUT)
			draw_out(c, i, want);
		else
			draw_statuses(c, i, want);
		break;
	case K_ARGUMENT_COUNT:
	case K_ARGUMENT_LIST:
	case K_STRING_ARRAY:
	case K_STRING_2DARRAY:
	case K_TOOL_MPI_OBJ:
		set(c, i, OPEN, "", 0);
		a->value.pointer = NULL;
		break;
	case K_STRING:
		if (p->dir == IN)
			draw_string(c, i, want);
		else
			draw_out(c, i, want);
		break;
	case K_ATTRIBUTE_VAL:
	case K_ATTRIBUTE_VAL_10:
	case K_EXTRA_STATE:
	case K_EXTRA_STATE2:
		if (p->dir == OUT)
			draw_out(c, i, want);
		else {
			set(c, i, RIGHT, "", 0);
			a->value.pointer = below(c, 2) ? (void *)wrong_random(c, 8) : NULL;
		}
		break;
	default:
		if (p->dir == OUT)
			draw_out(c, i, want);
		else if (p->length != SCALAR || thing == NOTHING) {
			if (p->length == SCALAR && want == WRONG && below(c, 2)) {
				null_cell(c, i, c->f->flags & MISSING ? OPEN : WRONG);
				break;
			}
			draw_in(c, i, want);
			if (p->dir == INOUT && a->cell)
				a->capacity = (size_t)a->n * (size_t)p->width;
		} else { /* a handle that is passed by address */
			void *h;
			if (want == WRONG && below(c, 4) == 0) {
				null_cell(c, i, c->f->flags & MISSING ? OPEN : WRONG);
				set(c, i, a->truth, "NULL", MPI_ERR_ARG, thing_class(thing), 0);
				break;
			}
			h = draw_handle(c, i, thing, want);
			handle_cell(c, i, 1);
			memcpy(a->cell, &h, 8);
		}
	}
	if (a->cell && p->dir == INOUT && p->kind != K_BUFFER)
		memcpy(saved[i], a->cell, a->capacity < sizeof saved[i] ? a->capacity : sizeof saved[i]);
}

/* Moves the buffers of an operation that continues after the call (a request, or an RMA operation) to memory of
 * `lasting`, because the next calls reuse the cells. */
void memory_last(struct call *c) {
	static uint64_t number;
	int idup = is_called(c, "Comm_idup*");
	int lasts = idup || c->f->chapter == 12;
	for (int i = 0; i < c->f->n; i++)
		lasts |= c->f->params[i].kind == K_REQUEST && c->f->params[i].dir == OUT;
	if (!lasts)
		return;
	number++;
	for (int i = 0; i < c->f->n; i++) {
		const struct param *p = &c->f->params[i];
		struct argument *a = &c->arg[i];
		char *place = (char *)lasting(number, 0) + (i - 6) * 24576;
		if (a->cell != cell_of(i) || a->value.pointer < (void *)a->cell ||
		    a->value.pointer > (void *)(a->cell + REACH))
			continue;
		if (p->kind == K_BUFFER || (idup && is_named(c, i, "newcomm"))) {
			a->value.pointer = place + ((char *)a->value.pointer - a->cell);
			a->cell = NULL;
		} else if (p->dir == IN && p->length != SCALAR) {
			memcpy(place, a->cell, (size_t)a->n * (size_t)p->width);
			a->value.pointer = place;
		}
	}
}

static void check_buffer(const struct call *c, int i, int failed, char *text, size_t size) {
	char *cell = cell_of(i);
	if (all_pattern(cell - REACH, REACH + LONGEST))
		return;
	if ((c->f->params[i].dir == IN || failed) && !all_pattern(cell - 1024, 1024 + REACH))
		snprintf(text, size, "memory around %s was written%s", c->f->params[i].name,
			 failed ? " though the call failed" : "");
	memset(cell - REACH, PATTERN, REACH + LONGEST + REACH);
}

static void check_output(const struct call *c, int i, int failed, char *text, size_t size) {
	const size_t most = LONGEST / 8 + GUARD;
	size_t from = failed ? 0 : c->arg[i].capacity;
	char *cell = cell_of(i);
	MPI_Comm null = MPI_COMM_NULL; /* a failed call that creates a communicator may store this */
	if (failed && c->f->params[i].kind == K_COMMUNICATOR && memcmp(cell, &null, sizeof null) == 0)
		from = sizeof null;
	const char *name = c->f->params[i].name;
	if (!all_pattern(cell - GUARD, GUARD))
		snprintf(text, size, "%s was written before its begin", name);
	else if (from < most && !all_pattern(cell + from, most - from)) {
		while ((unsigned char)cell[from] == PATTERN)
			from++;
		snprintf(text, size,
			 failed ? "%s was written at byte %zu though the call failed"
				: "%s was written at byte %zu, behind its end",
			 name, from);
	}
	if (!all_pattern(cell - GUARD, GUARD + most))
		memset(cell - GUARD, PATTERN, GUARD + most);
}

/* Checks the memory of all arguments after the call. Writes to `text` which bytes the call has wrongly changed; the
 * text is empty if there are none. Then restores the memory. */
void memory_check(const struct call *c, int failed, char *text, size_t size) {
	text[0] = '\0';
	for (int i = 0; i < c->f->n; i++) {
		const struct argument *a = &c->arg[i];
		const struct param *p = &c->f->params[i];
		size_t both = a->capacity < sizeof saved[i] ? a->capacity : sizeof saved[i];
		if (a->cell != cell_of(i))
			;
		else if (p->kind == K_BUFFER)
			check_buffer(c, i, failed, text, size);
		else if (p->dir == OUT)
			check_output(c, i, failed, text, size);
		else if (p->dir == INOUT && failed && memcmp(a->cell, saved[i], both) != 0)
			snprintf(text, size, "%s was changed though the call failed", p->name);
		restore(i);
	}
}
