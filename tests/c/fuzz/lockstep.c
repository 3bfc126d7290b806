/* Synchronizes the ranks of a job through a mapped file, which their launcher also maps. Uses no MPI, so it works even
 * if the MPI library is broken. No rank begins a call before all ranks have returned from the previous call. At a
 * synchronization each rank learns which objects exist on all ranks. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"

enum { MAX_RANKS = 3 };

/* The data that a rank exchanges at a synchronization. */
struct word {
	uint32_t alive[THINGS];
	uint32_t made;
	uint32_t doubtful; /* one bit per window: set if a call may have left the ranks in different epochs */
	uint64_t number;
};

/* The shared data of a rank. tests/go/fuzz/shared.go reads this layout: the stage, the index of the current call's
 * function, the number and the text of the call, and then three counts of calls per function: made; successful; held,
 * which means that a call was drawn and not made (would_block.c). */
struct member {
	_Atomic uint32_t stage, function;
	_Atomic uint64_t call;
	char text[4080];
	uint32_t made[FUNCTIONS], done[FUNCTIONS], held[FUNCTIONS];
	struct word words[2]; /* for even and odd synchronizations; shared.go assumes 72 bytes each */
};

struct together {
	struct member members[MAX_RANKS];
	_Atomic uint32_t arrived, round;
};

int ranks, me;
uint64_t seed;
static struct together *shared;
static struct word heard;
static int equal, zero;
static uint64_t said;
static uint32_t doubts;
char described[4080];

void together_open(const char *name, int rank, int n) {
	int fd = open(name, O_RDWR);
	if (fd < 0 || n > MAX_RANKS || ftruncate(fd, sizeof *shared) != 0) {
		perror(name);
		exit(1);
	}
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED) {
		perror(name);
		exit(1);
	}
	me = rank;
	ranks = n;
}

void record_stage(enum stage stage, const struct call *c) {
	struct member *m = &shared->members[me];
	if (c && stage == CALLING) {
		describe_call(c, described, sizeof described);
		strcpy(m->text, described);
		atomic_store_explicit(&m->function, (uint32_t)c->index, memory_order_relaxed);
		atomic_store_explicit(&m->call, c->number, memory_order_relaxed);
	}
	atomic_store_explicit(&m->stage, (uint32_t)stage, memory_order_release);
}

void record_upkeep(const char *what) {
	struct member *m = &shared->members[me];
	snprintf(m->text, sizeof m->text, "%s", what);
	if (trace)
		printf("TRACE\t%d\t%s\n", me, what);
	atomic_store_explicit(&m->stage, KEEPING, memory_order_release);
}

void count_call(const struct call *c) {
	struct member *m = &shared->members[me];
	if (c->held)
		m->held[c->index]++;
	else
		m->made[c->index]++;
}

void count_done(const struct call *c) { shared->members[me].done[c->index]++; }

static void barrier(void) {
	uint32_t round = atomic_load_explicit(&shared->round, memory_order_acquire);
	if (atomic_fetch_add_explicit(&shared->arrived, 1, memory_order_acq_rel) + 1 == (uint32_t)ranks) {
		atomic_store_explicit(&shared->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&shared->round, round + 1, memory_order_release);
		syscall(SYS_futex, &shared->round, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
		return;
	}
	while (atomic_load_explicit(&shared->round, memory_order_acquire) == round)
		syscall(SYS_futex, &shared->round, FUTEX_WAIT, round, NULL, NULL, 0);
}

void synchronize(void) {
	struct word *mine = &shared->members[me].words[atomic_load(&shared->round) & 1];
	int parity = (int)(atomic_load(&shared->round) & 1);
	memset(mine, 0, sizeof *mine);
	for (int t = 0; t < THINGS; t++)
		for (int s = 0; s < SLOTS; s++)
			mine->alive[t] |= (uint32_t)pool[t][s].alive << s;
	mine->made = pool_made();
	mine->doubtful = doubts;
	mine->number = said;
	record_stage(LEADERS, NULL);
	barrier();
	heard = *mine;
	equal = 1;
	zero = mine->number == 0;
	for (int r = 0; r < ranks; r++) {
		struct word *w = &shared->members[r].words[parity];
		for (int t = 0; t < THINGS; t++)
			heard.alive[t] &= w->alive[t];
		heard.made &= w->made;
		heard.doubtful |= w->doubtful;
		equal = equal && w->number == mine->number;
		zero = zero && w->number == 0;
	}
	record_stage(KEEPING, NULL);
	for (int t = 0; t < THINGS; t++)
		for (int s = 0; s < SLOTS; s++)
			pool[t][s].agreed = (int)(heard.alive[t] >> s & 1);
}

uint32_t agreed_made(void) { return heard.made; }

uint32_t unequal(uint64_t word, const struct object *window) {
	said = word;
	doubts = window ? UINT32_C(1) << window->slot : 0;
	synchronize();
	doubts = 0;
	return equal ? 0 : heard.doubtful;
}

int none(int word) {
	said = (uint64_t)word;
	synchronize();
	return zero;
}
