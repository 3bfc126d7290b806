/* "fuzz FILE SEED CALLS HANDLER" makes CALLS calls drawn from SEED. HANDLER is 0 for MPI_ERRORS_RETURN, 1 for a user's
 * error handler, 2 for a user's error handler that sets the code to MPI_SUCCESS.
 * "fuzz FILE SEED CALLS before|after|within FUNCTION" makes CALLS calls of FUNCTION before MPI_Init, after
 * MPI_Finalize, or between them, with the default error handler MPI_ERRORS_ARE_FATAL.
 * FILE is shared with the launcher of the job (lockstep.c). Each finding is a line on standard output that begins with
 * FINDING. */
#include "fuzz.h"

/* Moves a random window into another epoch. */
static void move_windows(uint64_t number) {
	uint64_t random = mix(mix(seed, number), 6000);
	struct object *w = &pool[T_WIN][random % SLOTS];
	if (random >> 20 & 3 && w->agreed)
		window_move(w, random >> 32);
}

int trace;

static void one_call(uint64_t number) {
	static struct call c;
	int failed = 1;
	draw_call(&c, number, -1);
	pool_before(&c);
	count_call(&c);
	if (!c.held) {
		record_stage(CALLING, &c);
		raised = 0;
		union value values[MAX_PARAMS];
		for (int i = 0; i < c.f->n; i++)
			values[i] = c.arg[i].value;
		int64_t result = c.f->call(values);
		record_stage(KEEPING, NULL);
		if (trace)
			printf("TRACE\t%d\t%ju\t%jd\t%d\t%s\n", me, (uintmax_t)number, (intmax_t)result, raised,
			       described);
		failed = has_failed(&c, result);
		if (!failed)
			count_done(&c);
		pool_collect(&c, failed);
		verify(&c, result);
		raised = 0;
	} else {
		char text[300];
		pool_collect(&c, 1);
		memory_check(&c, 0, text, sizeof text);
	}
	uint32_t doubtful = unequal(mix(mix((uint64_t)c.index, (uint64_t)c.wrong), window_digest()), c.win);
	for (int s = 0; s < SLOTS; s++)
		if (pool[T_WIN][s].agreed && doubtful >> s & 1)
			pool[T_WIN][s].broken = 1;
	pool_settle(&c, agreed_made());
}

int main(int argc, char **argv) {
	int rank, size;
	if (argc != 5 && argc != 6) {
		fprintf(stderr, "usage: fuzz FILE SEED CALLS HANDLER|PHASE FUNCTION\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 10);
	uint64_t calls = strtoull(argv[3], NULL, 10);
	if (argc == 6) {
		together_open(argv[1], 0, 1);
		return outside(argv[4], argv[5], calls);
	}
	handler = (enum handler)atoi(argv[4]);
	trace = getenv("GOMPIRMA_FUZZ_TRACE") != NULL;
	setvbuf(stdout, NULL, _IOLBF, 0);
	MPI_Init(&argc, &argv);
	running = 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	together_open(argv[1], rank, size);
	memory_open();
	verify_open();
	pool_open();
	for (uint64_t k = 0; k < calls; k++) {
		if (k % 8 == 0)
			pool_refill(k);
		if (k % 256 == 255)
			drain();
		move_windows(k);
		one_call(k);
	}
	drain();
	if (seed & 1) { /* with even seeds MPI_Finalize is called with live objects and open epochs */
		pool_close();
		drain();
	}
	record_upkeep("MPI_Finalize");
	MPI_Finalize();
	record_stage(ENDED, NULL);
	return 0;
}
