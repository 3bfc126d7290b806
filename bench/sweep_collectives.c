/* Times collectives as public suites do, in the loop that loop.h describes: a short loop, a barrier after each call,
 * the mean over the ranks, rank 0 as root, and page-aligned buffers. BYTES is the amount that a rank sends to one other
 * rank, or its whole input to a reduction of floats. In neighbourhood collectives the ranks form a ring.
 *
 *     CALL              the blocking call, without MPI_
 *     "i" CALL          the nonblocking call and its MPI_Wait
 *     "i" CALL.overlap  the percentage of the time of "i" CALL that a computation of the same length, between
 *                       the call and MPI_Wait, hides */
#include "loop.h"

static MPI_Comm ring;
static char *out, *in;
static int *counts, *displacements, *elements; /* for each rank: number of bytes, displacement, number of floats */
static MPI_Datatype *types;

/* Returns the number of blocks in a buffer: one for each rank, but at least two, one for each neighbour in the ring. */
static int shares(void) { return size > 2 ? size : 2; }

static void buffers(void) {
	int n = shares();
	out = pages(bytes * n);
	in = pages(bytes * n);
	memset(out, 0, bytes * n);
	counts = memory(n * sizeof *counts);
	displacements = memory(n * sizeof *displacements);
	elements = memory(n * sizeof *elements);
	types = memory(n * sizeof(MPI_Datatype));
	for (int i = 0; i < n; i++) {
		counts[i] = bytes;
		displacements[i] = i * bytes;
		elements[i] = bytes / (int)sizeof(float) / size + (i < bytes / (int)sizeof(float) % size);
		types[i] = MPI_CHAR;
	}
}

static void release(void) {
	free(out);
	free(in);
	free(counts);
	free(displacements);
	free(elements);
	free(types);
}

/* --- the calls --------------------------------------------------------------------------------------------------- */

/* Defines the blocking form of a call, and the nonblocking form, whose last argument is a request. */
#define COLLECTIVE(name, Name, ...)                         \
	static void name(void) { MPI_##Name(__VA_ARGS__); } \
	static void i##name(MPI_Request *r) { MPI_I##name(__VA_ARGS__, r); }

#define WORLD MPI_COMM_WORLD
#define CHARS bytes, MPI_CHAR
#define FLOATS bytes / (int)sizeof(float), MPI_FLOAT, MPI_SUM
#define VARYING counts, displacements, MPI_CHAR

COLLECTIVE(barrier, Barrier, WORLD)
COLLECTIVE(bcast, Bcast, out, CHARS, 0, WORLD)
COLLECTIVE(reduce, Reduce, out, in, FLOATS, 0, WORLD)
COLLECTIVE(allreduce, Allreduce, out, in, FLOATS, WORLD)
COLLECTIVE(gather, Gather, out, CHARS, in, CHARS, 0, WORLD)
COLLECTIVE(gatherv, Gatherv, out, CHARS, in, VARYING, 0, WORLD)
COLLECTIVE(scatter, Scatter, out, CHARS, in, CHARS, 0, WORLD)
COLLECTIVE(scatterv, Scatterv, out, VARYING, in, CHARS, 0, WORLD)
COLLECTIVE(allgather, Allgather, out, CHARS, in, CHARS, WORLD)
COLLECTIVE(allgatherv, Allgatherv, out, CHARS, in, VARYING, WORLD)
COLLECTIVE(alltoall, Alltoall, out, CHARS, in, CHARS, WORLD)
COLLECTIVE(alltoallv, Alltoallv, out, VARYING, in, VARYING, WORLD)
COLLECTIVE(alltoallw, Alltoallw, out, counts, displacements, types, in, counts, displacements, types, WORLD)
COLLECTIVE(reduce_scatter, Reduce_scatter, out, in, elements, MPI_FLOAT, MPI_SUM, WORLD)
COLLECTIVE(reduce_scatter_block, Reduce_scatter_block, out, in, FLOATS, WORLD)
COLLECTIVE(scan, Scan, out, in, FLOATS, WORLD)
COLLECTIVE(exscan, Exscan, out, in, FLOATS, WORLD)
COLLECTIVE(neighbor_allgather, Neighbor_allgather, out, CHARS, in, CHARS, ring)
COLLECTIVE(neighbor_allgatherv, Neighbor_allgatherv, out, CHARS, in, VARYING, ring)
COLLECTIVE(neighbor_alltoall, Neighbor_alltoall, out, CHARS, in, CHARS, ring)
COLLECTIVE(neighbor_alltoallv, Neighbor_alltoallv, out, VARYING, in, VARYING, ring)

#define CALL(name) \
	{ #name, name, i##name }
static const struct {
	const char *name;
	void (*whole)(void);
	void (*start)(MPI_Request *r);
} calls[] = {
	CALL(barrier),
	CALL(bcast),
	CALL(reduce),
	CALL(allreduce),
	CALL(gather),
	CALL(gatherv),
	CALL(scatter),
	CALL(scatterv),
	CALL(allgather),
	CALL(allgatherv),
	CALL(alltoall),
	CALL(alltoallv),
	CALL(alltoallw),
	CALL(reduce_scatter),
	CALL(reduce_scatter_block),
	CALL(scan),
	CALL(exscan),
	CALL(neighbor_allgather),
	CALL(neighbor_allgatherv),
	CALL(neighbor_alltoall),
	CALL(neighbor_alltoallv),
};

/* --- how they are timed ------------------------------------------------------------------------------------------ */

enum { CALLS = sizeof calls / sizeof *calls, FORMS = 3 };

static struct measurement rows[FORMS * CALLS];
static char names[FORMS * CALLS][64];

static int call_of(const struct measurement *m) { return (m - rows) / FORMS; }

static void blocking(long n) {
	void (*whole)(void) = calls[call_of(current)].whole;
	inside = 0;
	for (long i = 0; i < n; i++) {
		double t = now();
		whole();
		inside += now() - t;
		MPI_Barrier(WORLD);
	}
}

/* Returns the seconds of n nonblocking calls with their MPI_Wait. Between call and MPI_Wait, it computes for
 * `computation` seconds, which it does not count. */
static double nonblocking_with(double computation, long n) {
	void (*start)(MPI_Request * r) = calls[call_of(current)].start;
	double seconds = 0;
	for (long i = 0; i < n; i++) {
		MPI_Request r;
		double t = now();
		start(&r);
		if (computation > 0) {
			double from = now();
			compute(from + computation);
			t += now() - from;
		}
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		seconds += now() - t;
		MPI_Barrier(WORLD);
	}
	return seconds;
}

static void nonblocking(long n) { inside = nonblocking_with(0, n); }

static void overlap(long n) {
	double pure = nonblocking_with(0, n);
	inside = 100 * (1 - nonblocking_with(pure / n, n) / pure);
	inside = inside < 0 ? 0 : inside;
}

static void begin(void) {
	int periodic = 1;
	MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &ring);
}

static void finish(void) { MPI_Comm_free(&ring); }

int main(int argc, char **argv) {
	static const struct program program = {"sweep_collectives", rows, FORMS * CALLS, release, NULL, NULL, 0};
	static const struct {
		const char *before, *after;
		void (*body)(long n);
		int how;
	} forms[FORMS] = {{"", "", blocking, 0}, {"i", "", nonblocking, 0}, {"i", ".overlap", overlap, PERCENT}};
	for (int i = 0; i < FORMS * CALLS; i++) {
		int form = i % FORMS;
		snprintf(names[i], sizeof names[i], "%s%s%s", forms[form].before, calls[i / FORMS].name,
			 forms[form].after);
		rows[i] = (struct measurement){.name = names[i],
					       .open = buffers,
					       .body = forms[form].body,
					       .how = BRIEF | APART | forms[form].how,
					       .loops = 1000};
	}
	return measure(&program, argc, argv, begin, finish);
}
