/* Checks the results and side effects of a call, and reports findings. */
#include <stdarg.h>

#include "fuzz.h"

enum handler handler;
int raised, raised_code;
static int ignoring, findings;
static MPI_Errhandler of_comm, of_win;

static void comm_handler(MPI_Comm *comm, int *code, ...) {
	(void)comm;
	raised++;
	raised_code = *code;
	if (handler == MENDS)
		*code = MPI_SUCCESS;
}

static void win_handler(MPI_Win *win, int *code, ...) {
	(void)win;
	raised++;
	raised_code = *code;
	if (handler == MENDS)
		*code = MPI_SUCCESS;
}

void verify_open(void) {
	if (handler == RETURNS) {
		of_comm = of_win = MPI_ERRORS_RETURN;
		return;
	}
	MPI_Comm_create_errhandler(comm_handler, &of_comm);
	MPI_Win_create_errhandler(win_handler, &of_win);
}

int is_own_handler(const void *errhandler) { return errhandler == of_comm || errhandler == of_win; }

void handle_errors(enum thing thing, void *object) {
	if (thing == T_COMM)
		MPI_Comm_set_errhandler(object, of_comm);
	else
		MPI_Win_set_errhandler(object, of_win);
}

void ignore_errors(int on) {
	static int before;
	if (on && !ignoring)
		before = raised;
	else if (!on && ignoring)
		raised = before;
	ignoring = on;
}

void finding(const struct call *c, const char *kind, const char *format, ...) {
	char what[800];
	va_list list;
	if (++findings > 300)
		return;
	va_start(list, format);
	vsnprintf(what, sizeof what, format, list);
	va_end(list);
	printf("FINDING\t%s\t%s\t%s\trank %d call %ju\t%s\n", kind, c ? c->f->name : "upkeep", what, me,
	       c ? (uintmax_t)c->number : 0, c ? described : "");
}

/* Reports a finding if an upkeep call failed. An upkeep call is a valid call that the fuzz program itself needs. It
 * must succeed even after other calls have failed. */
void upkeep(int code, const char *what) {
	char text[MPI_MAX_ERROR_STRING] = "";
	int length;
	if (code != MPI_SUCCESS || raised) {
		MPI_Error_string(code ? code : raised_code, text, &length);
		finding(NULL, "upkeep", "%s fails: %s", what, text);
	}
	raised = 0;
}

static int class_of(int code) {
	int class = -1;
	ignore_errors(1);
	MPI_Error_class(code, &class);
	ignore_errors(0);
	return class;
}

static int is_one_of(int class, const int *classes) {
	if (!classes[0])
		return 1;
	for (int k = 0; classes[k]; k++)
		if (classes[k] == class)
			return 1;
	return 0;
}

/* Returns the expected error classes if exactly one argument (or the state of an object) is wrong and all others are
 * certainly valid. Otherwise returns NULL. */
static const int *only_wrong(const struct call *c, const char **name) {
	const int *classes = NULL;
	if (c->wrong_here != 1)
		return NULL;
	if (c->state_error) {
		classes = c->state_classes;
		*name = "state";
	} else if (c->state_note || c->state_hold)
		return NULL;
	for (int i = 0; i < c->f->n; i++) {
		if (c->arg[i].truth == WRONG) {
			classes = c->arg[i].classes;
			*name = c->f->params[i].name;
		} else if (c->arg[i].truth != RIGHT)
			return NULL;
	}
	return classes;
}

static void judge_class(struct call *c, int code) {
	char text[MPI_MAX_ERROR_STRING] = "";
	int class = class_of(code), length = 0;
	const char *name = "";
	const int *classes = only_wrong(c, &name);

	ignore_errors(1);
	MPI_Error_string(code, text, &length);
	ignore_errors(0);
	if (class <= MPI_SUCCESS || class > MPI_ERR_ABI || class == MPI_ERR_INTERN || class == MPI_ERR_UNKNOWN ||
	    length == 0)
		finding(c, "strange error", "code %d, class %d: %s", code, class, text);
	else if (classes && !is_one_of(class, classes))
		finding(c, "class", "class %d instead of %d for %s: %s", class, classes[0], name, text);
}

/* Returns true for a valid call of MPI_Comm_call_errhandler or of its equivalent for other objects. */
static int calls_handler(const struct call *c) {
	return is_called(c, "*_call_errhandler") && c->wrong_here == 0 && !(c->f->flags & MISSING);
}

int has_failed(const struct call *c, int64_t result) {
	return (c->f->flags & NO_CODE) == 0 && (result != MPI_SUCCESS || (raised && !calls_handler(c)));
}

void verify(struct call *c, int64_t result) {
	char text[300];
	int now = raised, code = (int)result;

	if (c->f->flags & NO_CODE)
		return;
	if (calls_handler(c))
		now = 0;
	if (now && code == MPI_SUCCESS)
		code = raised_code;
	if (c->f->chapter == 15) { /* for the tool interface, only the range of the error code is checked */
		if (code != MPI_SUCCESS && (code < MPI_T_ERR_CANNOT_INIT || code > MPI_T_ERR_CANNOT_INIT + 98))
			finding(c, "strange error", "code %d", code);
	} else if (c->f->flags & MISSING) {
		if (code != MPI_ERR_UNSUPPORTED_OPERATION)
			finding(c, "missing", "code %d", code);
	} else if (code != MPI_SUCCESS)
		judge_class(c, code);
	else if (c->wrong_here > 0) {
		char names[300] = "";
		for (int i = 0; i < c->f->n; i++)
			if (c->arg[i].truth == WRONG)
				snprintf(names + strlen(names), sizeof names - strlen(names), " %s: %s",
					 c->f->params[i].name, c->arg[i].note);
		finding(c, "no error", "%s%s", names, c->state_error ? " state" : "");
	}
	if (c->f->chapter < 14 && !calls_handler(c) && !is_called(c, "File_*") && handler != RETURNS) {
		if (now > 1)
			finding(c, "handler", "%d error handlers called", now);
		else if (handler == LEAVES && (result != MPI_SUCCESS) != now)
			finding(c, "handler", "code %d, %d error handlers called", (int)result, now);
		else if (handler == LEAVES && now && raised_code != result)
			finding(c, "handler", "code %d, the error handler got %d", (int)result, raised_code);
		else if (handler == MENDS && result != MPI_SUCCESS)
			finding(c, "handler", "code %d though the error handler has set MPI_SUCCESS; %d called",
				(int)result, now);
	}
	/* These calls may complete an operation and return its error, so their outputs may be written. */
	int ends = c->wrong_here == 0 && (c->f->chapter == 6 || c->f->chapter == 8 ||
					  is_called(c, "Mrecv|Imrecv|Recv|Sendrecv*|Wait*|Test*|Request_*"));
	memory_check(c, code != MPI_SUCCESS && !ends, text, sizeof text);
	if (text[0])
		finding(c, "memory", "%s", text);
}
