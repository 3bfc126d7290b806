// How a process and its threads attach: memory that gompirun has created is mapped when this library is loaded. It
// belongs to the first process of the rank that calls MPI. A shell that starts the program, or a child process of it,
// does not call MPI and so does not attach.

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "insight/count.h"

#define AT(type, field, offset) _Static_assert(offsetof(struct gompi_insight_##type, field) == offset, #field)
AT(job, magic, GOMPI_INSIGHT_JOB_MAGIC);
AT(job, version, GOMPI_INSIGHT_JOB_VERSION);
AT(job, mode, GOMPI_INSIGHT_JOB_MODE);
AT(job, ranks, GOMPI_INSIGHT_JOB_RANKS);
AT(job, bell, GOMPI_INSIGHT_JOB_BELL);
AT(job, sleeping, GOMPI_INSIGHT_JOB_SLEEPING);
AT(job, functions, GOMPI_INSIGHT_JOB_FUNCTIONS);
AT(job, part_size, GOMPI_INSIGHT_JOB_PART_SIZE);
AT(job, ring_size, GOMPI_INSIGHT_JOB_RING_SIZE);
AT(job, tick, GOMPI_INSIGHT_JOB_TICK);
AT(part, pid, GOMPI_INSIGHT_PART_PID);
AT(part, threads, GOMPI_INSIGHT_PART_THREADS);
AT(part, others, GOMPI_INSIGHT_PART_OTHERS);
AT(part, room, GOMPI_INSIGHT_PART_ROOM);
AT(part, full, GOMPI_INSIGHT_PART_FULL);
AT(part, objects, GOMPI_INSIGHT_PART_OBJECTS);
AT(part, names, GOMPI_INSIGHT_PART_NAMES);
AT(part, lost, GOMPI_INSIGHT_PART_LOST);
AT(part, monotonic, GOMPI_INSIGHT_PART_MONOTONIC);
AT(part, realtime, GOMPI_INSIGHT_PART_REALTIME);
AT(part, head, GOMPI_INSIGHT_PART_HEAD);
AT(part, tail, GOMPI_INSIGHT_PART_TAIL);
AT(part, dropped, GOMPI_INSIGHT_PART_DROPPED);
AT(part, polls, GOMPI_INSIGHT_PART_POLLS);
AT(part, broken, GOMPI_INSIGHT_PART_BROKEN);
AT(part, answered, GOMPI_INSIGHT_PART_ANSWERED);
AT(part, conflicts, GOMPI_INSIGHT_PART_CONFLICTS);
AT(part, asking, GOMPI_INSIGHT_PART_ASKING);
AT(part, answer, GOMPI_INSIGHT_PART_ANSWER);
AT(part, later, GOMPI_INSIGHT_PART_LATER);
AT(part, ticks, GOMPI_INSIGHT_PART_TICKS);
AT(part, ticks_now, GOMPI_INSIGHT_PART_TICKS_NOW);
AT(part, now, GOMPI_INSIGHT_PART_NOW);
AT(part, ended, GOMPI_INSIGHT_PART_ENDED);
AT(part, uncounted, GOMPI_INSIGHT_PART_UNCOUNTED);
AT(part, windows, GOMPI_INSIGHT_PART_WINDOWS);
AT(part, owners, GOMPI_INSIGHT_PART_OWNERS);
AT(part, window, GOMPI_INSIGHT_PART_WINDOW_AT);
AT(part, ways, GOMPI_INSIGHT_PART_WAYS_AT);
AT(part, slots, GOMPI_INSIGHT_PART_SLOTS);
AT(window, handle, GOMPI_INSIGHT_WINDOW_HANDLE);
AT(window, leader, GOMPI_INSIGHT_WINDOW_LEADER);
AT(window, members, GOMPI_INSIGHT_WINDOW_MEMBERS);
AT(window, ordinal, GOMPI_INSIGHT_WINDOW_ORDINAL);
AT(window, ways, GOMPI_INSIGHT_WINDOW_WAYS);
AT(window, label, GOMPI_INSIGHT_WINDOW_LABEL);
AT(count, calls, GOMPI_INSIGHT_COUNT_CALLS);
AT(count, bytes, GOMPI_INSIGHT_COUNT_BYTES);
AT(count, ticks, GOMPI_INSIGHT_COUNT_TICKS);
AT(count, left, GOMPI_INSIGHT_COUNT_LEFT);
AT(count, stride, GOMPI_INSIGHT_COUNT_STRIDE);
AT(use, calls, GOMPI_INSIGHT_USE_CALLS);
AT(use, bytes, GOMPI_INSIGHT_USE_BYTES);
AT(use, ticks, GOMPI_INSIGHT_USE_TICKS);
AT(slot, windows, GOMPI_INSIGHT_SLOT_WINDOWS);
_Static_assert(sizeof(struct gompi_insight_window) == GOMPI_INSIGHT_WINDOW_SIZE, "size");
_Static_assert(sizeof(struct gompi_insight_count) == GOMPI_INSIGHT_COUNT_SIZE, "size");
_Static_assert(sizeof(struct gompi_insight_use) == GOMPI_INSIGHT_USE_SIZE, "size");
_Static_assert(sizeof(struct gompi_insight_slot) == GOMPI_INSIGHT_SLOT_SIZE, "size");
_Static_assert(GOMPI_INSIGHT_FUNCTIONS <= GOMPI_INSIGHT_MAX_FUNCTIONS, "functions");
AT(part, table, GOMPI_INSIGHT_PART_TABLE);
AT(part, name, GOMPI_INSIGHT_PART_NAME_AT);
AT(part, ring, GOMPI_INSIGHT_PART_RING);
AT(object, low, GOMPI_INSIGHT_OBJECT_LOW);
AT(object, high, GOMPI_INSIGHT_OBJECT_HIGH);
AT(object, bias, GOMPI_INSIGHT_OBJECT_BIAS);
AT(object, name, GOMPI_INSIGHT_OBJECT_NAME);
_Static_assert(sizeof(struct gompi_insight_object) == GOMPI_INSIGHT_OBJECT_SIZE, "size");
_Static_assert(sizeof(MPI_Status) == 8 * GOMPI_INSIGHT_STATUS_WORDS, "a status");

_Thread_local struct gompi_insight_thread gompi_insight_self __attribute__((tls_model("initial-exec")));
struct gompi_insight_part *gompi_insight_part;
struct gompi_insight_own gompi_insight_own;
struct gompi_insight_job *gompi_insight_job;
bool gompi_insight_alone;

static gompi_a32 insight_claimed; // 1: in progress, 2: done
static pthread_key_t insight_key; // its destructor frees a thread's record
gompi_a32 gompi_insight_attached;

// Returns a number from the environment, or -1.
static long number_of(const char *name) {
	const char *text = getenv(name);
	char *end;
	long number = text ? strtol(text, &end, 10) : -1;
	return text && *text && !*end ? number : -1;
}

// Unmaps memory by a direct system call, bypassing the interposed munmap (free.c).
static void unmap(void *at, size_t size) { syscall(SYS_munmap, at, size); }

// Maps the part of a rank, with its ring twice.
static struct gompi_insight_part *map_part(int fd, const struct gompi_insight_job *job, long rank) {
	size_t size = job->part_size, ring = job->ring_size;
	off_t from = GOMPI_INSIGHT_JOB_SIZE + rank * (off_t)size;
	char *at = mmap(NULL, size + ring, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	int use = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_FIXED;
	if (mmap(at, size, use, how, fd, from) == MAP_FAILED ||
	    mmap(at + size, ring, use, how, fd, from + GOMPI_INSIGHT_PART_RING) == MAP_FAILED) {
		unmap(at, size + ring);
		return NULL;
	}
	return (struct gompi_insight_part *)at;
}

// The descriptor of the shared memory, closed when a process attaches, and the identity of its file.
static int insight_fd = -1;
static struct stat insight_file;

static void close_insight(void) {
	struct stat st;
	if (insight_fd >= 0 && fstat(insight_fd, &st) == 0 && st.st_ino == insight_file.st_ino &&
	    st.st_dev == insight_file.st_dev)
		close(insight_fd); // otherwise the program has closed it, and the number refers to another file
}

// Makes a process count by itself, if the user has requested that: under another launcher.
static void count_alone(void) {
	static struct gompi_insight_job job = {.mode = GOMPI_INSIGHT_MODE_STATS};
	const char *what = getenv(GOMPI_INSIGHT_ENV_ALONE);
	if (what == NULL || strcmp(what, "stats") != 0)
		return;
	void *part = mmap(NULL, GOMPI_INSIGHT_PART_RING, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (part == MAP_FAILED)
		return;
	gompi_insight_part = part;
	gompi_insight_job = &job;
	gompi_insight_alone = true;
}

__attribute__((constructor)) static void map_job(void) {
	long fd = number_of(GOMPI_INSIGHT_ENV_FD), rank = number_of(GOMPI_INSIGHT_ENV_RANK);
	if (rank < 0)
		rank = number_of("PMI_RANK");
	struct stat st;
	if (fd < 0)
		count_alone();
	if (fd < 0 || rank < 0 || fstat(fd, &st) != 0 || st.st_size < GOMPI_INSIGHT_JOB_SIZE)
		return;
	struct gompi_insight_job *job = mmap(NULL, GOMPI_INSIGHT_JOB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (job == MAP_FAILED)
		return;
	if (job->magic == GOMPI_INSIGHT_MAGIC && job->version == GOMPI_INSIGHT_VERSION && rank < job->ranks &&
	    job->functions == GOMPI_INSIGHT_FUNCTIONS &&
	    (uint64_t)st.st_size >= GOMPI_INSIGHT_JOB_SIZE + job->ranks * job->part_size)
		gompi_insight_part = map_part(fd, job, rank);
	if (gompi_insight_part == NULL)
		unmap(job, GOMPI_INSIGHT_JOB_SIZE);
	else
		gompi_insight_job = job;
	insight_fd = fd;
	insight_file = st;
}

// Detaches a forked child process, which is not the rank.
static void forked(void) {
	gompi_insight_part = NULL;
	gompi_store(&gompi_insight_attached, 0);
	gompi_insight_self.open = false;
	gompi_insight_self.mode = 0;
	gompi_insight_self.slot = NULL;
}

// Assigns a slot of counters to a thread. They keep the values of earlier threads, since only sums matter.
static void give_counters(struct gompi_insight_thread *t) {
	for (int i = 0; i < GOMPI_INSIGHT_SLOTS; i++) {
		uint32_t nobody = 0;
		if (gompi_change_once(&gompi_insight_part->owners[i], &nobody, 1)) {
			t->slot = &gompi_insight_part->slots[i];
			return;
		}
	}
	gompi_add(&gompi_insight_part->uncounted, 1);
}

static void thread_ends(void *words) {
	struct gompi_insight_thread *t = &gompi_insight_self;
	t->open = false; // destructors of other libraries may still call MPI
	t->words = NULL;
	if (t->slot != NULL && gompi_insight_part != NULL)
		gompi_store_total(&gompi_insight_part->owners[t->slot - gompi_insight_part->slots], 0);
	t->slot = NULL;
	unmap(words, GOMPI_INSIGHT_MAX_RECORD * 8);
}

static void claim_rank(void) {
	if (gompi_insight_part == NULL)
		return;
	uint32_t nobody = 0, me = getpid();
	if (!gompi_change_once(&gompi_insight_part->pid, &nobody, me) && nobody != me) {
		gompi_add(&gompi_insight_part->others, 1);
		return;
	}
	gompi_insight_part->monotonic = gompi_insight_now(CLOCK_MONOTONIC);
	gompi_insight_part->realtime = gompi_insight_now(CLOCK_REALTIME);
	close_insight();
	gompi_insight_set_clock();
	gompi_store(&gompi_insight_part->ticks, gompi_insight_ticks());
	if (pthread_key_create(&insight_key, thread_ends) != 0)
		return;
	pthread_atfork(NULL, NULL, forked);
	if (gompi_insight_own.find != NULL)
		gompi_insight_own.find();
	gompi_store_release(&gompi_insight_attached, 1); // pairs with the acquire in gompi_insight_enter
}

// Runs claim_rank once. It does not use pthread_once, because this library interposes that.
static void claim_once(void) {
	uint32_t nobody = 0;
	if (gompi_change_once(&insight_claimed, &nobody, 1)) {
		claim_rank();
		gompi_store_release(&insight_claimed, 2);
	}
	while (gompi_load_acquire(&insight_claimed) != 2) // pairs with the release above
		sched_yield();
}

// Returns true if a thread has left its wrapper by longjmp, as an error handler may do. Then the wrapper's frame is not
// above the current one on the same stack, or its return address has changed.
static bool has_left(const struct gompi_insight_thread *t, uintptr_t frame) {
	const uintptr_t stack = 8 << 20;
	if (frame >= t->frame)
		return frame - t->frame < stack;
	return t->frame - frame < stack && ((void **)t->frame)[1] != t->back;
}

// Returns true if t may make a record although it is not open: it is new, or it has left its wrapper.
bool gompi_insight_enter(struct gompi_insight_thread *t, uintptr_t frame) {
	if (t->frame != 0)
		return t->words != NULL && t->mode != 0 && has_left(t, frame);
	t->frame = frame; // calls from here on are nested
	claim_once();
	if (!gompi_load_acquire(&gompi_insight_attached)) { // pairs with the release in claim_rank
		t->frame = 0;
		return false;
	}
	t->number = gompi_add(&gompi_insight_part->threads, 1);
	t->mode = gompi_insight_job->mode;
	void *words = mmap(NULL, GOMPI_INSIGHT_MAX_RECORD * 8, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (words == MAP_FAILED || pthread_setspecific(insight_key, words) != 0) {
		t->mode = 0;
		return false;
	}
	t->words = words;
	if (t->mode & GOMPI_INSIGHT_MODE_STATS)
		give_counters(t);
	return true;
}
