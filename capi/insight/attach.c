// Attaches a process and its threads to the shared memory that gompirun has created. This library maps the memory when
// it is loaded. The first process of the rank that calls MPI owns the rank's part of the memory. A shell that starts
// the program, or a child process of the program, does not call MPI and so does not attach.

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

#define ASSERT_OFFSET(type, field, offset) \
	_Static_assert(offsetof(struct gompi_insight_##type, field) == offset, #field)
ASSERT_OFFSET(job, magic, GOMPI_INSIGHT_JOB_MAGIC);
ASSERT_OFFSET(job, version, GOMPI_INSIGHT_JOB_VERSION);
ASSERT_OFFSET(job, mode, GOMPI_INSIGHT_JOB_MODE);
ASSERT_OFFSET(job, ranks, GOMPI_INSIGHT_JOB_RANKS);
ASSERT_OFFSET(job, doorbell, GOMPI_INSIGHT_JOB_DOORBELL);
ASSERT_OFFSET(job, reader_asleep, GOMPI_INSIGHT_JOB_READER_ASLEEP);
ASSERT_OFFSET(job, functions, GOMPI_INSIGHT_JOB_FUNCTIONS);
ASSERT_OFFSET(job, part_size, GOMPI_INSIGHT_JOB_PART_SIZE);
ASSERT_OFFSET(job, ring_size, GOMPI_INSIGHT_JOB_RING_SIZE);
ASSERT_OFFSET(job, tick, GOMPI_INSIGHT_JOB_TICK);
ASSERT_OFFSET(job, parts, GOMPI_INSIGHT_JOB_PARTS);
ASSERT_OFFSET(part, pid, GOMPI_INSIGHT_PART_PID);
ASSERT_OFFSET(part, threads, GOMPI_INSIGHT_PART_THREADS);
ASSERT_OFFSET(part, rejected, GOMPI_INSIGHT_PART_REJECTED);
ASSERT_OFFSET(part, space_futex, GOMPI_INSIGHT_PART_SPACE_FUTEX);
ASSERT_OFFSET(part, space_wanted, GOMPI_INSIGHT_PART_SPACE_WANTED);
ASSERT_OFFSET(part, objects, GOMPI_INSIGHT_PART_OBJECTS);
ASSERT_OFFSET(part, names, GOMPI_INSIGHT_PART_NAMES);
ASSERT_OFFSET(part, objects_lost, GOMPI_INSIGHT_PART_OBJECTS_LOST);
ASSERT_OFFSET(part, monotonic, GOMPI_INSIGHT_PART_MONOTONIC);
ASSERT_OFFSET(part, realtime, GOMPI_INSIGHT_PART_REALTIME);
ASSERT_OFFSET(part, first, GOMPI_INSIGHT_PART_FIRST);
ASSERT_OFFSET(part, head, GOMPI_INSIGHT_PART_HEAD);
ASSERT_OFFSET(part, tail, GOMPI_INSIGHT_PART_TAIL);
ASSERT_OFFSET(part, dropped, GOMPI_INSIGHT_PART_DROPPED);
ASSERT_OFFSET(part, failed_tests, GOMPI_INSIGHT_PART_FAILED_TESTS);
ASSERT_OFFSET(part, essential_lost, GOMPI_INSIGHT_PART_ESSENTIAL_LOST);
ASSERT_OFFSET(part, checked, GOMPI_INSIGHT_PART_CHECKED);
ASSERT_OFFSET(part, conflicts, GOMPI_INSIGHT_PART_CONFLICTS);
ASSERT_OFFSET(part, check_wanted, GOMPI_INSIGHT_PART_CHECK_WANTED);
ASSERT_OFFSET(part, check_futex, GOMPI_INSIGHT_PART_CHECK_FUTEX);
ASSERT_OFFSET(part, conflict_ends, GOMPI_INSIGHT_PART_CONFLICT_ENDS);
ASSERT_OFFSET(part, ticks, GOMPI_INSIGHT_PART_TICKS);
ASSERT_OFFSET(part, ticks_now, GOMPI_INSIGHT_PART_TICKS_NOW);
ASSERT_OFFSET(part, monotonic_now, GOMPI_INSIGHT_PART_MONOTONIC_NOW);
ASSERT_OFFSET(part, ended, GOMPI_INSIGHT_PART_ENDED);
ASSERT_OFFSET(part, uncounted, GOMPI_INSIGHT_PART_UNCOUNTED);
ASSERT_OFFSET(part, windows, GOMPI_INSIGHT_PART_WINDOWS);
ASSERT_OFFSET(part, file_counts, GOMPI_INSIGHT_PART_FILE_COUNTS);
ASSERT_OFFSET(part, owners, GOMPI_INSIGHT_PART_OWNERS);
ASSERT_OFFSET(part, window, GOMPI_INSIGHT_PART_WINDOW_AT);
ASSERT_OFFSET(part, paths, GOMPI_INSIGHT_PART_PATHS_AT);
ASSERT_OFFSET(part, slots, GOMPI_INSIGHT_PART_SLOTS);
ASSERT_OFFSET(window, handle, GOMPI_INSIGHT_WINDOW_HANDLE);
ASSERT_OFFSET(window, first_rank, GOMPI_INSIGHT_WINDOW_FIRST_RANK);
ASSERT_OFFSET(window, members, GOMPI_INSIGHT_WINDOW_MEMBERS);
ASSERT_OFFSET(window, ordinal, GOMPI_INSIGHT_WINDOW_ORDINAL);
ASSERT_OFFSET(window, has_paths, GOMPI_INSIGHT_WINDOW_HAS_PATHS);
ASSERT_OFFSET(window, label, GOMPI_INSIGHT_WINDOW_LABEL);
ASSERT_OFFSET(count, calls, GOMPI_INSIGHT_COUNT_CALLS);
ASSERT_OFFSET(count, bytes, GOMPI_INSIGHT_COUNT_BYTES);
ASSERT_OFFSET(count, ticks, GOMPI_INSIGHT_COUNT_TICKS);
ASSERT_OFFSET(count, until_next, GOMPI_INSIGHT_COUNT_UNTIL_NEXT);
ASSERT_OFFSET(count, stride, GOMPI_INSIGHT_COUNT_STRIDE);
ASSERT_OFFSET(use, calls, GOMPI_INSIGHT_USE_CALLS);
ASSERT_OFFSET(use, bytes, GOMPI_INSIGHT_USE_BYTES);
ASSERT_OFFSET(use, ticks, GOMPI_INSIGHT_USE_TICKS);
ASSERT_OFFSET(slot, windows, GOMPI_INSIGHT_SLOT_WINDOWS);
_Static_assert(sizeof(struct gompi_insight_window) == GOMPI_INSIGHT_WINDOW_SIZE, "size");
_Static_assert(sizeof(struct gompi_insight_count) == GOMPI_INSIGHT_COUNT_SIZE, "size");
_Static_assert(sizeof(struct gompi_insight_use) == GOMPI_INSIGHT_USE_SIZE, "size");
_Static_assert(sizeof(struct gompi_insight_slot) == GOMPI_INSIGHT_SLOT_SIZE, "size");
_Static_assert(GOMPI_INSIGHT_FUNCTIONS <= GOMPI_INSIGHT_MAX_FUNCTIONS, "functions");
ASSERT_OFFSET(part, objects_table, GOMPI_INSIGHT_PART_TABLE);
ASSERT_OFFSET(part, name, GOMPI_INSIGHT_PART_NAME_AT);
ASSERT_OFFSET(part, ring, GOMPI_INSIGHT_PART_RING);
ASSERT_OFFSET(object, low, GOMPI_INSIGHT_OBJECT_LOW);
ASSERT_OFFSET(object, high, GOMPI_INSIGHT_OBJECT_HIGH);
ASSERT_OFFSET(object, bias, GOMPI_INSIGHT_OBJECT_BIAS);
ASSERT_OFFSET(object, name, GOMPI_INSIGHT_OBJECT_NAME);
_Static_assert(sizeof(struct gompi_insight_object) == GOMPI_INSIGHT_OBJECT_SIZE, "size");
_Static_assert(sizeof(MPI_Status) == 8 * GOMPI_INSIGHT_STATUS_WORDS, "a status");

_Thread_local struct gompi_insight_thread gompi_insight_self __attribute__((tls_model("initial-exec")));
struct gompi_insight_part *gompi_insight_part;
struct gompi_insight_hooks gompi_insight_hooks;
struct gompi_insight_job *gompi_insight_job;
bool gompi_insight_standalone;

static gompi_a32 attach_state;    // 0 before, 1 during, 2 after attach_rank
static pthread_key_t insight_key; // the key's destructor frees a thread's record
gompi_a32 gompi_insight_is_attached;

// Returns a number from the environment, or -1.
static long env_number(const char *name) {
	const char *text = getenv(name);
	char *end;
	long number = text ? strtol(text, &end, 10) : -1;
	return text && *text && !*end ? number : -1;
}

// Unmaps memory by a direct system call, which bypasses the interposed munmap (free.c).
static void unmap(void *at, size_t size) { syscall(SYS_munmap, at, size); }

// Maps a rank's part of the shared memory. The ring is mapped twice, one mapping after the other, so that a record that
// crosses the ring's end is contiguous.
static struct gompi_insight_part *map_part(int fd, const struct gompi_insight_job *job, long rank) {
	size_t size = job->part_size, ring = job->ring_size;
	off_t from = GOMPI_INSIGHT_JOB_SIZE + rank * (off_t)size;
	char *at = mmap(NULL, size + ring, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	int protection = PROT_READ | PROT_WRITE, map_flags = MAP_SHARED | MAP_FIXED;
	if (mmap(at, size, protection, map_flags, fd, from) == MAP_FAILED ||
	    mmap(at + size, ring, protection, map_flags, fd, from + GOMPI_INSIGHT_PART_RING) == MAP_FAILED) {
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
		close(insight_fd); // else the program has closed insight_fd, and the number may refer to another file
}

// Lets the process count its calls without gompirun, under another launcher, if the user has requested it.
static void init_standalone(void) {
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
	gompi_insight_standalone = true;
}

__attribute__((constructor)) static void map_job(void) {
	long fd = env_number(GOMPI_INSIGHT_ENV_FD), rank = env_number(GOMPI_INSIGHT_ENV_RANK);
	if (rank < 0)
		rank = env_number("PMI_RANK");
	struct stat st;
	if (fd < 0)
		init_standalone();
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

// Detaches a forked child process, which does not represent the rank.
static void forked(void) {
	gompi_insight_part = NULL;
	gompi_store(&gompi_insight_is_attached, 0);
	gompi_insight_self.is_outermost = false;
	gompi_insight_self.mode = 0;
	gompi_insight_self.slot = NULL;
}

// Assigns a slot of counters to a thread. A reused slot keeps the counts of earlier threads, because only sums are
// reported.
static void assign_counters(struct gompi_insight_thread *t) {
	for (int i = 0; i < GOMPI_INSIGHT_SLOTS; i++) {
		uint32_t unowned = 0;
		if (gompi_cas_strong(&gompi_insight_part->owners[i], &unowned, 1)) {
			t->slot = &gompi_insight_part->slots[i];
			return;
		}
	}
	gompi_add(&gompi_insight_part->uncounted, 1);
}

static void release_thread(void *words) {
	struct gompi_insight_thread *t = &gompi_insight_self;
	t->is_outermost = false; // destructors of other libraries may still call MPI
	t->words = NULL;
	if (t->slot != NULL && gompi_insight_part != NULL)
		gompi_store_seq_cst(&gompi_insight_part->owners[t->slot - gompi_insight_part->slots], 0);
	t->slot = NULL;
	unmap(words, GOMPI_INSIGHT_MAX_RECORD * 8);
}

static void attach_rank(void) {
	if (gompi_insight_part == NULL)
		return;
	uint32_t unowned = 0, this_pid = getpid();
	if (!gompi_cas_strong(&gompi_insight_part->pid, &unowned, this_pid) && unowned != this_pid) {
		gompi_add(&gompi_insight_part->rejected, 1);
		return;
	}
	gompi_insight_part->monotonic = gompi_insight_now(CLOCK_MONOTONIC);
	gompi_insight_part->realtime = gompi_insight_now(CLOCK_REALTIME);
	close_insight();
	gompi_insight_init_clock();
	gompi_store(&gompi_insight_part->ticks, gompi_insight_ticks());
	if (pthread_key_create(&insight_key, release_thread) != 0)
		return;
	pthread_atfork(NULL, NULL, forked);
	if (gompi_insight_hooks.init != NULL)
		gompi_insight_hooks.init();
	gompi_store_release(&gompi_insight_is_attached, 1); // pairs with the acquire in gompi_insight_enter
}

// Runs attach_rank once. It does not use pthread_once, because this library interposes pthread_once.
static void attach_once(void) {
	uint32_t unclaimed = 0;
	if (gompi_cas_strong(&attach_state, &unclaimed, 1)) {
		attach_rank();
		gompi_store_release(&attach_state, 2);
	}
	while (gompi_load_acquire(&attach_state) != 2) // pairs with the release above
		sched_yield();
}

// Returns true if a thread has left its wrapper by longjmp, as an error handler may do. There are three signs of this:
// the current frame has the address of the wrapper's frame, or is an older frame of the same stack, or the return
// address in the wrapper's frame has changed. Frames less than 8 MiB apart count as frames of one stack.
static bool has_unwound(const struct gompi_insight_thread *t, uintptr_t frame) {
	const uintptr_t stack = 8 << 20;
	if (frame >= t->frame)
		return frame - t->frame < stack;
	return t->frame - frame < stack && ((void **)t->frame)[1] != t->return_address;
}

// Returns true if t may begin a record although is_outermost is false: the thread is new, or it has left its wrapper by
// longjmp. For a new thread, first attaches the process to the shared memory, and allocates the memory for the thread's
// records.
bool gompi_insight_enter(struct gompi_insight_thread *t, uintptr_t frame) {
	if (t->frame != 0)
		return t->words != NULL && t->mode != 0 && has_unwound(t, frame);
	t->frame = frame; // marks the thread as inside a wrapper, so that calls in attach_once are not recorded
	attach_once();
	if (!gompi_load_acquire(&gompi_insight_is_attached)) { // pairs with the release in attach_rank
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
		assign_counters(t);
	return true;
}
