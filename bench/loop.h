/* The timed loop of the programs of bench/, each of which includes this header once. The header uses only mpi.h, so
 * that the programs build with every MPI library. bench/compare runs the programs.
 *
 *     PROGRAM [--json] NAME[:BYTES]...   runs the named measurements; prints one line for each: name value unit
 *     PROGRAM --count LOOPS NAME...      for bench/icount: prints each name, after which icount prints its count
 *     PROGRAM --list                     prints the names
 *     PROGRAM --multiple ...             requests MPI_THREAD_MULTIPLE
 *
 * A value is the median of up to REPETITIONS timed loops after a warm-up. The number of iterations is chosen so that a
 * loop takes about loop_seconds. If there are more ranks than cores, a loop takes CROWDED_LOOP_SECONDS, which is longer
 * than a time slice of the scheduler. Slow operations get fewer repetitions, so that a measurement ends within seconds.
 * A BRIEF measurement is a single loop whose length the program sets. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REPETITIONS = 9, LARGE = 8 << 10, VAST = 256 << 10, PAGE = 4096 };
static double loop_seconds = 0.010, budget = 3; /* seconds for one loop, and for all loops of a measurement; a program
                                                 * may set lower values */
static const double CROWDED_LOOP_SECONDS = 0.050;

enum {
	ORIGIN = 1,   /* only rank 0 calls the measurement's function `body`; the other ranks wait in a barrier */
	IDLE = 2,     /* the other ranks are idle for 20 ms before rank 0 begins */
	APART = 4,    /* body sets `inside` to the time of its calls, without that of its barriers; the result is the
	               * mean of `inside` over the ranks */
	AWAY = 8,     /* with ORIGIN: while icount counts instructions, the other ranks sleep outside of MPI */
	SHARED = 16,  /* the number after the name is a number of threads, each of which runs the operation n times */
	BRIEF = 32,   /* one loop after a warm-up of a tenth of its length, as in public suites; large messages get
	               * fewer iterations */
	PERCENT = 64, /* with APART: body sets `inside` to a percentage, not to seconds */
	USER = 128,   /* free for the program's own flags */
};

struct measurement {
	const char *name;
	void (*open)(void);   /* collective, not timed; may be NULL */
	void (*body)(long n); /* the timed function: runs its operation n times */
	int how;
	long per; /* operations in each of the n iterations; 0 stands for 1 */
	/* Number of iterations of a loop; 0 if this header chooses the number by time. If it is not 0, a BRIEF
	 * measurement runs its single loop with it, or with fewer iterations for large messages. Any other measurement
	 * is then cold: it has no warm-up, and calls open and close around each loop. */
	long loops;
};

struct program {
	const char *name;
	const struct measurement *measurements;
	int count;
	void (*close)(void); /* undoes open; collective; may be NULL */
	/* Called before and after each loop on the ranks that call body; not timed; may be NULL. */
	void (*before)(const struct measurement *m);
	void (*after)(const struct measurement *m);
	int threads; /* several threads call MPI */
};

static int rank, size;
static long bytes;    /* the number after the name; 8 without one */
static long counted;  /* LOOPS when counting instructions; body then runs 4 * LOOPS iterations in total */
static double inside; /* seconds in the calls of an APART body */
static const struct measurement *current; /* the measurement that runs now */

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Computes without a call of MPI until now() returns `until` or more. */
static inline void compute(double until) {
	double x = 1;
	while (now() < until)
		for (int i = 0; i < 8; i++)
			x = x * 0.999999 + 1e-6;
	__asm__ volatile("" : : "g"(x));
}

static inline void *touched(size_t alignment, size_t length) {
	void *p = aligned_alloc(alignment, (length + alignment - 1) / alignment * alignment);
	if (p == NULL)
		MPI_Abort(MPI_COMM_WORLD, 3);
	memset(p, 1, length);
	return p;
}

/* Returns touched memory aligned to a cache line, as a careful program allocates it. */
static inline void *memory(size_t length) { return touched(64, length); }

/* Returns touched memory aligned to a page, as public suites allocate it. */
static inline void *pages(size_t length) { return touched(PAGE, length); }

/* Runs `warm` iterations and then, timed, n iterations. Returns on rank 0 the seconds of the slowest rank that calls
 * body or, with APART, the mean over the ranks. Collective and synchronizing. */
static double timed(const struct program *p, const struct measurement *m, long n, long warm) {
	double begin, seconds = 0, all;
	if (m->how & ORIGIN && rank != 0) {
		MPI_Barrier(MPI_COMM_WORLD);
		return 0;
	}
	if (m->how & IDLE)
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	if (p->before != NULL)
		p->before(m);
	if (warm > 0)
		m->body(warm);
	begin = now();
	m->body(n);
	seconds = now() - begin;
	if (p->after != NULL)
		p->after(m);
	if (m->how & ORIGIN) {
		MPI_Barrier(MPI_COMM_WORLD);
		return seconds;
	}
	if (m->how & APART)
		seconds = inside / size;
	MPI_Reduce(&seconds, &all, 1, MPI_DOUBLE, m->how & APART ? MPI_SUM : MPI_MAX, 0, MPI_COMM_WORLD);
	return all;
}

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Allocates the word *go, which all ranks share. The ranks of an AWAY measurement sleep until rank 0 sets it to 1.
 * Collective. */
static void away(MPI_Win *win, volatile int **go) {
	MPI_Aint length;
	int unit;
	MPI_Win_allocate_shared(rank == 0 ? sizeof **go : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, go, win);
	MPI_Win_shared_query(*win, 0, &length, &unit, go);
	if (rank == 0)
		**go = 0;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void marked(const struct measurement *m, long n) {
	if (rank == 0)
		raise(SIGUSR2);
	m->body(n);
	if (rank == 0)
		raise(SIGUSR2);
}

/* Runs two loops of LOOPS and 2 * LOOPS iterations, whose instructions bench/icount counts. A loop before them is not
 * counted; it binds symbols and does one-time work. `before` and `after` complete the operations of one loop before the
 * next loop. If rank 0 synchronizes with other ranks, they arrive long before it, because icount single-steps only rank
 * 0. */
static void count(const struct program *p, const struct measurement *m, const char *name) {
	volatile int *go;
	MPI_Win win;
	if (m->open != NULL)
		m->open();
	away(&win, &go);
	if (rank == 0 || !(m->how & ORIGIN)) {
		for (int i = 0; i < 3; i++) {
			if (p->before != NULL)
				p->before(m);
			if (rank == 0 && i == 1)
				printf("%s ", name), fflush(stdout);
			if (i == 0)
				m->body(counted);
			else
				marked(m, i * counted);
			if (p->after != NULL)
				p->after(m);
		}
		*go = 1;
	} else if (m->how & AWAY) {
		while (!*go)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
	if (p->close != NULL)
		p->close();
}

static void say(const struct measurement *m, const char *name, double seconds, long n, int json) {
	double value = 1e9 * seconds / n / (m->per > 0 ? m->per : 1);
	const char *unit = "ns";
	if (m->how & SHARED)
		value /= bytes;
	if (m->how & PERCENT) {
		value = seconds;
		unit = "%";
	}
	if (json)
		printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\", \"ranks\": %d, \"loops\": %ld}\n", name,
		       value, unit, size, n);
	else
		printf("%s %.2f %s\n", name, value, unit);
	fflush(stdout);
}

static void brief(const struct program *p, const struct measurement *m, const char *name, int json) {
	long n = m->loops / (bytes > VAST ? 50 : bytes > LARGE ? 10 : 1);
	if (m->open != NULL)
		m->open();
	double seconds = timed(p, m, n, (n + 9) / 10);
	if (p->close != NULL)
		p->close();
	if (rank == 0)
		say(m, name, seconds, n, json);
}

/* Runs a measurement. Rank 0 chooses n for the next loop; n <= 0 ends the measurement. */
static void run(const struct program *p, const struct measurement *m, const char *name, int json) {
	double seconds[REPETITIONS], start = now(), wanted;
	int done = 0, warm = m->loops > 0;
	long n = warm ? m->loops : 1;

	wanted = size > sysconf(_SC_NPROCESSORS_ONLN) ? CROWDED_LOOP_SECONDS : loop_seconds;
	if (m->open != NULL && m->loops == 0)
		m->open();
	while (MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD), n > 0) {
		if (m->open != NULL && m->loops > 0)
			m->open();
		double s = timed(p, m, n, 0);
		if (p->close != NULL && m->loops > 0)
			p->close();
		if (rank != 0)
			continue;
		if (warm)
			seconds[done++] = s;
		else if (s < wanted && n < 1L << 30)
			n = s > wanted / 20 ? (long)(1.2 * n * wanted / s) + 1 : 4 * n;
		else
			warm = 1;
		if (done == REPETITIONS || (done > 0 && now() - start > budget))
			n = -n;
	}
	if (p->close != NULL && m->loops == 0)
		p->close();
	if (rank != 0)
		return;
	qsort(seconds, done, sizeof *seconds, ascending);
	say(m, name, seconds[done / 2], -n, json);
}

/* Returns the measurement that an argument NAME[:BYTES] names, and sets bytes (8 without BYTES). Returns NULL if no
 * measurement has that name, or if BYTES is not positive. */
static const struct measurement *named(const struct program *p, const char *name) {
	size_t length = strcspn(name, ":");
	bytes = name[length] == ':' ? atol(name + length + 1) : 8;
	for (int i = 0; i < p->count; i++)
		if (strlen(p->measurements[i].name) == length && strncmp(p->measurements[i].name, name, length) == 0)
			return bytes > 0 ? &p->measurements[i] : NULL;
	return NULL;
}

/* Does all the work of main. Calls `begin` once after MPI_Init and `finish` once before MPI_Finalize; both may be
 * NULL. */
static int measure(const struct program *p, int argc, char **argv, void (*begin)(void), void (*finish)(void)) {
	int json = 0, threads = p->threads;
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (int i = 0; i < p->count; i++)
			puts(p->measurements[i].name);
		return 0;
	}
	for (int a = 1; a < argc; a++)
		threads = threads || strcmp(argv[a], "--multiple") == 0;
	if (threads) {
		int level;
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
		if (level != MPI_THREAD_MULTIPLE) {
			fprintf(stderr, "%s: no MPI_THREAD_MULTIPLE\n", p->name);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
	} else {
		MPI_Init(&argc, &argv);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (begin != NULL)
		begin();
	for (int a = 1; a < argc; a++) {
		const struct measurement *m;
		if (strcmp(argv[a], "--json") == 0) {
			json = 1;
			continue;
		}
		if (strcmp(argv[a], "--multiple") == 0)
			continue;
		if (strcmp(argv[a], "--count") == 0 && a + 1 < argc) {
			counted = atol(argv[++a]);
			continue;
		}
		m = named(p, argv[a]);
		if (m == NULL) {
			if (rank == 0)
				fprintf(stderr, "%s: no measurement \"%s\" (%s --list)\n", p->name, argv[a], p->name);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		current = m;
		if (counted > 0)
			count(p, m, argv[a]);
		else if (m->how & BRIEF)
			brief(p, m, argv[a], json);
		else
			run(p, m, argv[a], json);
	}
	if (finish != NULL)
		finish();
	MPI_Finalize();
	return 0;
}
