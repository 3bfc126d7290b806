// See in_place.h.
//
// Both directions proceed in steps of at most STEP bytes: write-protect the pages, copy them, replace the mapping with
// one system call. The kernel changes mappings under a lock that page faults take too, so a reading thread finds either
// the old page or the new one. A store between the copy and the replacement would be lost. The write protection makes
// such a store fault, and the SIGSEGV handler waits for the end of the step and retries the store. The thread that
// executes the step blocks all signals: a store by a signal handler on this thread would wait for its own thread. Only
// a store by the kernel itself (read(2) into the buffer by another thread) fails with EFAULT.
//
// fork(): a child would share the memory with its parent and with every origin. So the parent copies the memory before
// the fork, and the child moves the copies over the shared pages. vfork, posix_spawn, system and popen do not run these
// handlers and need not.
#define _GNU_SOURCE
#include "in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include "base/order.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14
#endif

enum { STEP = 1 << 20 };
#define IMAGE_SIZE (UINT64_C(1) << 48) // equals core/shm.ImageStride

static pthread_mutex_t in_place_lock = PTHREAD_MUTEX_INITIALIZER; // held during a step and during fork()
static int file = -1; // a duplicated descriptor, since programs also fork after MPI_Finalize
static uint64_t image;
static dev_t file_device;
static ino_t file_number;
static _Atomic size_t shared_bytes;

// --- Concurrent stores by other threads

enum { RANGES = 8 };
static struct {
	_Atomic uintptr_t from, to;
} ranges[RANGES]; // ranges changed last; the kernel may deliver a fault after its step has ended
static unsigned next_range;
static _Atomic uint32_t steps; // futex word: incremented when a step begins (odd) and when it ends (even)
static struct sigaction old_action;
static _Thread_local struct {
	uintptr_t address;
	uint32_t steps;
} last_fault __attribute__((tls_model("initial-exec")));

// Returns true if a step caused the fault at address, so that the store must be retried. Waits for the end of a step in
// progress.
static bool fault_of_ours(uintptr_t address) {
	bool known = false;
	for (int i = 0; i < RANGES; i++)
		known = known ||
			(address >= gompi_load_total(&ranges[i].from) && address < gompi_load_total(&ranges[i].to));
	if (!known)
		return false;
	uint32_t now = gompi_load_total(&steps);
	if (now % 2 == 1) {
		syscall(SYS_futex, &steps, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		return true;
	}
	// The step may have ended since the fault. If the same store faults again without a step in between, the fault
	// is not caused by a step.
	if (last_fault.address == address && last_fault.steps == now)
		return false;
	last_fault.address = address;
	last_fault.steps = now;
	return true;
}

static void on_fault(int sig, siginfo_t *info, void *context) {
	int kept = errno;
	if (info->si_code == SEGV_ACCERR && fault_of_ours((uintptr_t)info->si_addr)) {
		errno = kept;
		return;
	}
	errno = kept;
	if (old_action.sa_flags & SA_SIGINFO) {
		old_action.sa_sigaction(sig, info, context);
	} else if (old_action.sa_handler != SIG_DFL && old_action.sa_handler != SIG_IGN) {
		old_action.sa_handler(sig);
	} else {
		signal(SIGSEGV, SIG_DFL); // the retried store faults again and ends the process
		if (info->si_code <= 0)
			raise(SIGSEGV);
	}
}

// Begins a step. Until step_ends, fork() waits and this thread receives no signal. Returns the previous signal mask, to
// be passed to step_ends.
static sigset_t step_begins(void) {
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&in_place_lock);
	gompi_add_total(&steps, 1);
	return before;
}

static void step_ends(sigset_t before) {
	gompi_add_total(&steps, 1);
	syscall(SYS_futex, &steps, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
	pthread_mutex_unlock(&in_place_lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void will_change(uintptr_t address, size_t size) {
	unsigned i = next_range++ % RANGES;
	gompi_store_total(&ranges[i].to, 0);
	gompi_store_total(&ranges[i].from, address);
	gompi_store_total(&ranges[i].to, address + size);
}

// --- Mappings of the image

// A mapping of a range of the image.
struct piece {
	uintptr_t at;
	size_t size;
	uint64_t offset; // in the file
	int protection;
	void *copy; // used during fork() only
};

// Lists the mappings of [from, to) of the file in this process. The caller frees *list. Returns their number, or -1 if
// they cannot be determined.
static int find_pieces(uint64_t from, uint64_t to, struct piece **list) {
	*list = NULL;
	FILE *maps = fopen("/proc/self/maps", "re");
	if (maps == NULL)
		return -1;
	int n = 0, room = 0;
	char line[256];
	bool begins = true;
	while (fgets(line, sizeof line, maps) != NULL) {
		bool header = begins;
		begins = strchr(line, '\n') != NULL; // false if the line continues, because a file name may be longer
						     // than the buffer
		uintptr_t lo, hi;
		unsigned long offset, number;
		unsigned major, minor;
		char mode[5];
		if (!header ||
		    sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &lo, &hi, mode, &offset, &major, &minor, &number) != 7 ||
		    number != file_number || makedev(major, minor) != file_device || mode[3] != 's')
			continue;
		uint64_t first = offset < from ? from : offset, end = offset + (hi - lo) > to ? to : offset + (hi - lo);
		if (first >= end)
			continue;
		if (n == room) {
			struct piece *more = realloc(*list, sizeof **list * (size_t)(room = room * 2 + 8));
			if (more == NULL) {
				n = -1;
				break;
			}
			*list = more;
		}
		(*list)[n++] = (struct piece){lo + (first - offset), end - first, first,
					      (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
						      (mode[2] == 'x' ? PROT_EXEC : 0),
					      NULL};
	}
	fclose(maps);
	return n;
}

// Reserves address space for a copy. The kernel allocates memory only for pages that are written.
static void *room_for(size_t size) {
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static int read_all(void *to, size_t size, uint64_t offset) {
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(file, (char *)to + done, size - done, (off_t)(offset + done));
		if (n == 0 || (n < 0 && errno != EINTR))
			return n == 0 ? EIO : errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int write_all(const void *from, size_t size, uint64_t offset) {
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(file, (const char *)from + done, size - done, (off_t)(offset + done));
		if (n == 0 || (n < 0 && errno != EINTR))
			return n == 0 ? ENOSPC : errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static void give_back(uint64_t offset, size_t size) {
	if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size) == 0)
		return;
	// fallocate failed, for example because a seccomp profile denies it. Punch the hole with madvise.
	void *there = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, (off_t)offset);
	if (there == MAP_FAILED)
		return;
	madvise(there, size, MADV_REMOVE);
	munmap(there, size);
}

// --- Sharing and unsharing

static int share_step(char *at, size_t size) {
	uint64_t offset = image + (uintptr_t)at;
	int rc = 0;
	sigset_t before = step_begins();
	if (mprotect(at, size, PROT_READ) != 0) {
		rc = errno;
	} else if ((rc = write_all(at, size, offset)) != 0 ||
		   (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)offset) == MAP_FAILED &&
		    (rc = errno) != 0)) {
		mprotect(at, size, PROT_READ | PROT_WRITE);
		give_back(offset, size);
	}
	if (rc == 0)
		gompi_add_total(&shared_bytes, size);
	step_ends(before);
	if (rc == 0)
		madvise(at, size, MADV_POPULATE_WRITE); // cheaper than a later fault per page; a kernel without this
							// advice only loses that gain
	return rc;
}

static int unshare_piece(const struct piece *p) {
	char *room = room_for(p->size);
	if (room == MAP_FAILED)
		return errno;
	int rc = 0;
	size_t done = 0;
	will_change(p->at, p->size);
	for (size_t n; done < p->size && rc == 0; done += n) {
		n = p->size - done < STEP ? p->size - done : STEP;
		char *at = (char *)p->at + done, *copy = room + done;
		sigset_t before = step_begins();
		if ((p->protection & PROT_WRITE) && mprotect(at, n, p->protection & ~PROT_WRITE) != 0)
			rc = errno;
		else if ((rc = read_all(copy, n, p->offset + done)) == 0 &&
			 ((p->protection != (PROT_READ | PROT_WRITE) && mprotect(copy, n, p->protection) != 0) ||
			  mremap(copy, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED))
			rc = errno;
		if (rc == 0)
			give_back(p->offset + done, n);
		else // the contents are in the file, whatever the state of the mapping
			mmap(at, n, p->protection, MAP_SHARED | MAP_FIXED, file, (off_t)(p->offset + done));
		step_ends(before);
		if (rc != 0)
			break;
	}
	if (done < p->size)
		munmap(room + done, p->size - done);
	return rc;
}

int gompi_in_place_unshare(uintptr_t address, size_t size) {
	struct piece *list;
	int n = find_pieces(image + address, image + address + size, &list), rc = n < 0 ? ENOMEM : 0;
	for (int i = 0; i < n; i++) {
		int failed = unshare_piece(&list[i]);
		rc = rc != 0 ? rc : failed;
	}
	free(list);
	if (rc == 0) {
		give_back(image + address, size); // the parts that nothing maps any longer
		gompi_sub_total(&shared_bytes, size);
	}
	return rc;
}

// --- fork()

static struct piece *copies;
static int copies_number;

static void before_fork(void) {
	pthread_mutex_lock(&in_place_lock);
	copies_number = 0;
	if (gompi_load_total(&shared_bytes) == 0)
		return;
	copies_number = find_pieces(image, image + IMAGE_SIZE, &copies);
	for (int i = 0; i < copies_number; i++) {
		struct piece *p = &copies[i];
		p->copy = room_for(p->size);
		if (p->copy != MAP_FAILED && read_all(p->copy, p->size, p->offset) != 0) {
			munmap(p->copy, p->size);
			p->copy = MAP_FAILED;
		}
	}
}

static void after_fork_in_parent(void) {
	for (int i = 0; i < copies_number; i++)
		if (copies[i].copy != MAP_FAILED)
			munmap(copies[i].copy, copies[i].size);
	free(copies);
	copies = NULL;
	pthread_mutex_unlock(&in_place_lock);
}

static void after_fork_in_child(void) {
	bool lost = copies_number < 0;
	for (int i = 0; i < copies_number; i++) {
		struct piece *p = &copies[i];
		lost = lost || p->copy == MAP_FAILED ||
		       (p->protection != (PROT_READ | PROT_WRITE) && mprotect(p->copy, p->size, p->protection) != 0) ||
		       mremap(p->copy, p->size, p->size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)p->at) == MAP_FAILED;
	}
	if (lost) {
		static const char text[] = "gompirma: a child of fork() ends: out of memory for its copy of window "
					   "memory that is shared in place\n";
		ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
		(void)written;
		_exit(127);
	}
	gompi_store_total(&shared_bytes, 0);
	pthread_mutex_init(&in_place_lock, NULL);
}

// --- Entry

static int open_once(int fd, uint64_t at) {
	if (file >= 0)
		return 0;
	struct stat s;
	int mine = fcntl(fd, F_DUPFD_CLOEXEC, 64);
	if (mine < 0) // ulimit -n does not allow a number from 64
		mine = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (mine < 0 || fstat(mine, &s) != 0)
		return errno;
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART, .sa_sigaction = on_fault};
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSEGV, &action, &old_action) != 0 ||
	    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) {
		close(mine);
		return ENOMEM;
	}
	image = at;
	file_device = s.st_dev;
	file_number = s.st_ino;
	file = mine;
	return 0;
}

int gompi_in_place_share(int fd, uint64_t at, uintptr_t address, size_t size) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		return EFBIG; // a write beyond the limit would raise SIGXFSZ
	int rc = open_once(fd, at);
	if (rc != 0)
		return rc;
	will_change(address, size);
	size_t done = 0;
	for (size_t n; done < size && rc == 0; done += rc == 0 ? n : 0) {
		n = size - done < STEP ? size - done : STEP;
		rc = share_step((char *)address + done, n);
	}
	if (rc != 0 && done > 0)
		gompi_in_place_unshare(address, done);
	return rc;
}
