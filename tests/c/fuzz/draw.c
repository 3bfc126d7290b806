/* Draws a call: the function, and which of its arguments are wrong. Every choice depends only on the seed, the number
 * of the call, the parameter and the state common to all ranks, so all ranks draw the same call. Only the values of
 * addresses and handles differ between ranks. */
#include <fnmatch.h>
#include <stdarg.h>

#include "fuzz.h"

uint64_t mix(uint64_t a, uint64_t b) {
	uint64_t z = a + b * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t next(struct call *c) { return c->rng = mix(c->rng, 1); }

int below(struct call *c, int n) { return (int)((next(c) >> 16) % (uint64_t)n); }

/* The names of the functions, without the suffix _c. */
static char names[FUNCTIONS][64];

static void open_names(void) {
	for (int i = 0; i < FUNCTIONS; i++) {
		size_t n = strlen(functions[i].name);
		if (n > 2 && strcmp(functions[i].name + n - 2, "_c") == 0)
			n -= 2;
		snprintf(names[i], sizeof names[i], "%.*s", (int)n, functions[i].name);
	}
}

/* Returns true if the name of the function, without MPI_ and _c, matches one of the patterns (fnmatch), which are
 * separated by |. */
int is_called(const struct call *c, const char *pattern) {
	char one[80];
	while (*pattern) {
		size_t n = strcspn(pattern, "|");
		snprintf(one, sizeof one, "MPI_%.*s", (int)n, pattern);
		if (fnmatch(one, names[c->index], 0) == 0)
			return 1;
		pattern += n + (pattern[n] == '|');
	}
	return 0;
}

int is_named(const struct call *c, int i, const char *name) { return strcmp(c->f->params[i].name, name) == 0; }

int find_param(const struct call *c, const char *name) {
	for (int i = 0; i < c->f->n; i++)
		if (is_named(c, i, name))
			return i;
	return -1;
}

void set(struct call *c, int i, enum truth truth, const char *note, ...) {
	struct argument *a = &c->arg[i];
	va_list list;
	int n = 0, class;
	a->truth = truth;
	a->note = note;
	va_start(list, note);
	while ((class = va_arg(list, int)) != 0 && n < 5)
		a->classes[n++] = class;
	va_end(list);
	a->classes[n] = 0;
}

static int phase_of(const struct param *p) {
	if (p->kind == K_BUFFER)
		return 5;
	if (p->kind == K_OPERATION)
		return 2; /* drawn after the datatypes, because the operation must allow the datatype */
	if (p->length != SCALAR)
		return 4; /* an array is drawn after the parameter with its length */
	if (p->pointer && p->dir != INOUT)
		return 3;
	switch (p->kind) {
	case K_COMMUNICATOR:
	case K_GROUP:
	case K_WINDOW:
	case K_DATATYPE:
		return 0;
	default:
		return 1;
	}
}

static void draw_argument(struct call *c, int i, enum truth want) {
	const struct param *p = &c->f->params[i];
	enum thing thing = thing_of(c, i);
	c->rng = mix(mix(seed, c->number), (uint64_t)i + 1);
	memset(&c->arg[i], 0, sizeof c->arg[i]);
	c->arg[i].note = "";
	c->arg[i].n = 1;
	if (p->pointer || p->callback)
		draw_memory(c, i, want);
	else if (thing != NOTHING)
		c->arg[i].value.pointer = draw_handle(c, i, thing, want);
	else
		draw_number(c, i, want);
}

/* Changes WRONG arguments to OPEN if the call ignores them, or if they are significant at one rank only: then the test
 * cannot expect an error at every rank. */
static void weigh(struct call *c) {
	int root = find_param(c, "root"), op = find_param(c, "op");
	int send = find_param(c, "sendbuf"), recv = find_param(c, "recvbuf");
	int gather = is_called(c, "Gather*|Igather*"), scatter = is_called(c, "Scatter*|Iscatter*");
	int reduce = is_called(c, "Reduce|Reduce_init|Ireduce"), exscan = is_called(c, "Exscan*|Iexscan");
	int in_place = send >= 0 && c->arg[send].truth == RIGHT && c->arg[send].value.pointer == MPI_IN_PLACE;
	int nowhere = 0, no_data = c->count == 0;
	static const char *const peers[] = {"dest", "source", "target_rank"};

	for (int k = 0; k < 3; k++) {
		int i = find_param(c, peers[k]);
		nowhere |= i >= 0 && c->arg[i].value.number == MPI_PROC_NULL;
	}
	int message = find_param(c, "message");
	if (message >= 0 && c->arg[message].cell && *(void **)c->arg[message].cell == MPI_MESSAGE_NO_PROC)
		nowhere = 1;
	for (int i = 0; i < c->f->n; i++) {
		struct argument *a = &c->arg[i];
		const struct param *p = &c->f->params[i];
		int sends = strncmp(p->name, "send", 4) == 0 || strcmp(p->name, "sdispls") == 0;
		int receives = strncmp(p->name, "recv", 4) == 0 || strcmp(p->name, "rdispls") == 0;
		int displs = strcmp(p->name, "displs") == 0;
		if (a->truth != WRONG)
			continue;
		if (nowhere && (p->kind == K_BUFFER || p->kind == K_RMA_DISPLACEMENT_NNI))
			a->truth = OPEN;
		if (is_called(c, "Pack*|Unpack*") && p->kind == K_BUFFER) {
			const struct object *type = c->arg[find_param(c, "datatype")].object;
			if (no_data || (type && type->bytes == 0))
				a->truth = OPEN;
		}
		if (c->f->chapter == 12 && i == op && (no_data || nowhere) && strcmp(a->note, "not for this type") == 0)
			a->truth = OPEN;
		/* With count 0 the datatype may be invalid, except in calls of chapters 5 and 12 and in reductions. */
		if (no_data &&
		    (c->f->chapter == 3 || c->f->chapter == 4 || c->f->chapter == 8 ||
		     (c->f->chapter == 6 && op < 0)) &&
		    p->length == SCALAR && p->kind == K_DATATYPE && a->value.pointer == MPI_DATATYPE_NULL)
			a->truth = OPEN;
		if (p->kind == K_BUFFER && !a->value.pointer) { /* NULL is MPI_BOTTOM: displacements are addresses */
			int d = find_param(c, sends ? "sdispls" : "rdispls");
			if (d < 0)
				d = find_param(c, "displs");
			if (d >= 0 && c->arg[d].truth == UNSAFE)
				a->truth = UNSAFE;
		}
		if (no_data && (p->length == OTHER && p->kind == K_DATATYPE))
			a->truth = OPEN;
		if (no_data && (displs || strcmp(p->name, "sdispls") == 0 || strcmp(p->name, "rdispls") == 0))
			a->truth = OPEN;
		if (in_place && sends && !is_called(c, "Sendrecv*|Isendrecv*") && i != send)
			a->truth = OPEN;
		if (op >= 0 && c->arg[op].value.pointer == MPI_NO_OP && strncmp(p->name, "origin", 6) == 0)
			a->truth = OPEN;
		if (is_called(c, "Neighbor_*|Ineighbor_*") && c->comm && (sends || receives || displs)) {
			int degree = sends ? c->comm->outdegree : c->comm->indegree;
			if (degree == 0 || (c->comm->all_null && p->kind == K_BUFFER))
				a->truth = OPEN;
		}
		int some = (gather && (receives || displs)) || (scatter && (sends || displs)) || (reduce && i == recv);
		if (exscan && i == recv) {
			if (!c->comm || c->comm->size == 1)
				a->truth = OPEN;
			else {
				a->here = 1;
				a->truth = c->comm->rank > 0 ? WRONG : OPEN;
			}
		}
		if ((is_called(c, "Intercomm_create") &&
		     (is_named(c, i, "peer_comm") || is_named(c, i, "remote_leader")))) {
			int leader = find_param(c, "local_leader");
			if (!c->comm || c->arg[leader].truth != RIGHT)
				a->truth = OPEN;
			else if (c->comm->size > 1) {
				a->here = 1;
				a->truth = c->arg[leader].value.number == c->comm->rank ? WRONG : OPEN;
			}
		}
		if (root < 0)
			continue;
		if (c->comm && c->comm->inter && i != root && p->kind != K_COMMUNICATOR) {
			a->truth = OPEN;
			a->here = 1;
		} else if (some && (!c->comm || c->arg[root].truth != RIGHT))
			a->truth = OPEN;
		else if (some && c->comm->size > 1) {
			a->here = 1;
			a->truth = c->arg[root].value.number == c->comm->rank ? WRONG : OPEN;
		} else if (gather && in_place && sends)
			a->truth = OPEN;
		if (scatter && receives && i != recv && c->arg[recv].value.pointer == MPI_IN_PLACE)
			a->truth = OPEN;
	}
}

static void count_wrong(struct call *c) {
	c->wrong = c->wrong_here = 0;
	for (int i = 0; i < c->f->n; i++) {
		c->wrong += c->arg[i].truth == WRONG && !c->arg[i].here;
		c->wrong_here += c->arg[i].truth == WRONG;
	}
	c->wrong += c->state_error;
	c->wrong_here += c->state_error;
}

static void draw_arguments(struct call *c, const enum truth *want) {
	c->comm = c->group = c->win = NULL;
	c->state_error = 0;
	c->state_note = c->state_hold = NULL;
	for (int phase = 0; phase < 6; phase++)
		for (int i = 0; i < c->f->n; i++)
			if (phase_of(&c->f->params[i]) == phase)
				draw_argument(c, i, want[i]);
	weigh(c);
	window_state(c);
	count_wrong(c);
}

/* Returns true for functions that must not be called: MPI_Abort and MPI_Finalize, which end the job; functions that
 *   start processes or wait for others to connect; functions that raise their errors with the error handler that is
 *   one of their arguments (conformance/session and spawn test them); and functions that the environment variable
 *   GOMPIRMA_FUZZ_FUNCTIONS excludes. If its value begins with !, the following characters are a pattern of the
 *   excluded functions. Otherwise the value is a pattern of the only functions to call. */
static int left_out(const struct call *c) {
	static const char *some;
	if (!some)
		some = getenv("GOMPIRMA_FUZZ_FUNCTIONS") ? getenv("GOMPIRMA_FUZZ_FUNCTIONS") : "";
	if (is_called(c, "Abort|Finalize|Session_init|*create_from_group*|Comm_spawn|Comm_accept|Comm_join"))
		return 1;
	return *some == '!' ? is_called(c, some + 1) : *some && !is_called(c, some);
}

void draw_call(struct call *c, uint64_t number, int only) {
	enum truth want[MAX_PARAMS];
	uint64_t base = mix(seed, number);
	int plan, victim;

	if (!names[0][0])
		open_names();
	memset(c, 0, sizeof *c);
	c->number = number;
	c->rng = mix(base, 777);
	do {
		c->index = only >= 0 ? only : (int)(next(c) % FUNCTIONS);
		c->f = &functions[c->index];
	} while (only < 0 && (left_out(c) || (c->f->flags & MISSING && below(c, 12))));
	c->count = below(c, 6);
	plan = below(c, 100);
	victim = below(c, MAX_PARAMS);
	for (int tries = 0; tries < 4; tries++) {
		uint64_t random = mix(base, 888 + (uint64_t)tries);
		for (int i = 0; i < c->f->n; i++) {
			random = mix(random, 1);
			want[i] = RIGHT;
			if (plan >= 15 && plan < 65 && i == (victim + tries) % c->f->n)
				want[i] = WRONG;
			if (plan >= 65 && plan < 85)
				want[i] = random >> 20 & 1 ? WRONG : RIGHT;
			if (plan >= 85)
				want[i] = random >> 20 & 1 ? UNSAFE : random >> 21 & 1 ? WRONG : RIGHT;
		}
		draw_arguments(c, want);
		if (c->wrong > 0 || plan < 15)
			break;
	}
	if (c->wrong == 0) { /* no argument makes the call fail: replace UNSAFE arguments */
		int unsafe = 0;
		for (int i = 0; i < c->f->n; i++)
			if (c->arg[i].truth == UNSAFE) {
				want[i] = RIGHT;
				unsafe = 1;
			}
		if (unsafe)
			draw_arguments(c, want);
	}
	int partly = 0;
	for (int i = 0; i < c->f->n; i++)
		partly |= c->arg[i].here;
	if (c->wrong == 0)
		memory_last(c);
	if (c->wrong == 0)
		c->held = partly && ranks > 1 ? "wrong at one rank only: the others may wait for it" : held(c);
}

void describe_call(const struct call *c, char *text, size_t size) {
	size_t n = (size_t)snprintf(text, size, "%s(", c->f->name);
	for (int i = 0; i < c->f->n && n < size; i++) {
		const struct argument *a = &c->arg[i];
		const struct param *p = &c->f->params[i];
		static const char *const marks[] = {"", "?", "~", "!"};
		n += (size_t)snprintf(text + n, size - n, "%s%s%s=", i ? ", " : "", marks[a->truth], p->name);
		if (n >= size)
			break;
		if (p->pointer && a->value.pointer && a->cell && p->kind != K_STRING &&
		    (p->dir != OUT || p->kind == K_BUFFER) && a->n <= 6 && p->kind != K_BUFFER) {
			n += (size_t)snprintf(text + n, size - n, "[");
			for (int64_t k = 0; k < a->n && n < size && p->width != 32; k++) {
				int64_t v = 0;
				if (p->width == 12) {
					const int *t = (const int *)(a->cell + k * 12);
					n += (size_t)snprintf(text + n, size - n, "%s%d:%d:%d", k ? " " : "", t[0],
							      t[1], t[2]);
					continue;
				}
				memcpy(&v, a->cell + k * p->width, (size_t)(p->width > 8 ? 8 : p->width));
				if (p->width == 4)
					v = (int32_t)v;
				n += (size_t)snprintf(text + n, size - n,
						      thing_of(c, i) != NOTHING ? "%s%#jx" : "%s%jd", k ? " " : "",
						      (intmax_t)v);
			}
			if (n < size)
				n += (size_t)snprintf(text + n, size - n, "]");
		} else if (p->kind == K_STRING && a->cell && p->dir == IN && a->value.pointer)
			n += (size_t)snprintf(text + n, size - n, "\"%.24s\"", a->cell);
		else if (p->pointer || p->callback || thing_of(c, i) != NOTHING)
			n += (size_t)snprintf(text + n, size - n, "%#jx", (uintmax_t)a->value.number);
		else
			n += (size_t)snprintf(text + n, size - n, "%jd", (intmax_t)a->value.number);
		if (a->note && *a->note && n < size)
			n += (size_t)snprintf(text + n, size - n, " (%s)", a->note);
	}
	if (n < size)
		n += (size_t)snprintf(text + n, size - n, ")%s%s", c->state_error || c->state_note ? " in state: " : "",
				      c->state_note ? c->state_note : "");
}
