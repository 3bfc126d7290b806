/* Makes calls before MPI_Init, after MPI_Finalize, or between them. No error handler is set, so every error ends the
 * process. Each process therefore calls one function only, and may end at the first call. The error message must name
 * the function. */
#include "fuzz.h"

int running;

/* Returns true for functions that need MPI to be initialized: those with a parameter whose objects exist only after
 * MPI_Init. */
static int needs_mpi(const struct function *f) {
	for (int i = 0; i < f->n; i++)
		switch (f->params[i].kind) {
		case K_COMMUNICATOR:
		case K_WINDOW:
		case K_MESSAGE:
		case K_FILE:
			return !(f->flags & NO_CODE);
		default:
			break;
		}
	return 0;
}

int outside(const char *phase, const char *function, uint64_t calls) {
	static struct call c;
	char text[300];
	int index = 0, inside = strcmp(phase, "within") == 0;
	while (index < FUNCTIONS && strcmp(functions[index].name, function) != 0)
		index++;
	if (index == FUNCTIONS) {
		fprintf(stderr, "there is no %s\n", function);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	memory_open();
	if (strcmp(phase, "before") != 0)
		MPI_Init(NULL, NULL);
	if (strcmp(phase, "after") == 0)
		MPI_Finalize();
	for (uint64_t k = 0; k < calls; k++) {
		union value values[MAX_PARAMS];
		draw_call(&c, k, index);
		for (int i = 0; i < c.f->n; i++)
			values[i] = c.arg[i].value;
		record_stage(CALLING, &c);
		int64_t result = c.f->call(values);
		record_stage(KEEPING, NULL);
		count_call(&c);
		int failed = !(c.f->flags & NO_CODE) && result != MPI_SUCCESS;
		memory_check(&c, failed, text, sizeof text);
		if (text[0])
			finding(&c, "memory", "%s", text);
		if (!failed && !inside && needs_mpi(c.f))
			finding(&c, "no error", "%s", phase);
		if (failed && c.f->chapter != 15 &&
		    !is_called(&c, "File_*|Register_datarep")) /* the default error handler of files returns errors */
			finding(&c, "not fatal", "%s: code %d", phase, (int)result);
	}
	record_stage(ENDED, NULL);
	return 0;
}
