// See in_place.h.
//
// Sharing and unsharing both proceed in steps of at most STEP_BYTES bytes: write-protect the pages, copy them, then
// replace the mapping by one system call. The kernel changes mappings under a lock that page faults also acquire, so a
// reading thread finds either the old page or the new one. A store between the copy and the replacement would be lost.
// The write protection makes such a store fault, and the SIGSEGV handler waits for the end of the step and retries the
// store. The thread that executes the step blocks all signals: a store by a signal handler on this thread would make
// the thread wait for itself. One case remains: if another thread's read(2) stores into the pages during a step, the
// kernel's store is not retried, and read(2) fails with EFAULT.
//
// fork(): a child would share the memory with its parent and with every origin. So the parent copies the memory before
// the fork, and the child moves the copies over the shared pages. The calls vfork, posix_spawn, system and popen run no
// fork handlers (pthread_atfork) and need none, because their child does not use the memory.
#define _GNU_SOURCE
#include "win/in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include "base/atomics.h"
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
#define MADV_POPULATE_WRITE 23 // supported since Linux 5.14
#endif

enum { STEP_BYTES = 1 << 20 };
#define IMAGE_SIZE (UINT64_C(1) << 48) // equals core/shm.ImageStride

static pthread_mutex_t in_place_lock = PTHREAD_MUTEX_INITIALIZER; // held during a step and during fork()
// A duplicate of the descriptor of the node's memfd. It stays open, because programs also fork after MPI_Finalize.
static int image_fd = -1;
static uint64_t image_offset;
static dev_t image_device;
static ino_t image_inode;
static _Atomic size_t shared_bytes;

// --- Concurrent stores by other threads

enum { RANGES = 8 };
static struct {
	_Atomic uintptr_t from, to;
} ranges[RANGES]; // the most recently changed ranges; the kernel may deliver a fault after its step has ended
static unsigned next_range;
static _Atomic uint32_t steps; // futex word: incremented when a step begins (odd) and when it ends (even)
static struct sigaction old_action;
static _Thread_local struct {
	uintptr_t address;
	uint32_t steps;
} last_fault __attribute__((tls_model("initial-exec")));

// Returns true if a step caused the fault at this address, so that the store must be retried. Waits for the end of a
// step in progress.
static bool is_step_fault(uintptr_t address) {
	bool is_recent = false;
	for (int i = 0; i < RANGES; i++)
		is_recent = is_recent || (address >= gompi_load_seq_cst(&ranges[i].from) &&
					  address < gompi_load_seq_cst(&ranges[i].to));
	if (!is_recent)
		return false;
	uint32_t now = gompi_load_seq_cst(&steps);
	if (now % 2 == 1) {
		syscall(SYS_futex, &steps, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		return true;
	}
	// The step may have ended after the fault. If the same store faults again without a step in between, the fault
	// is not caused by a step.
	if (last_fault.address == address && last_fault.steps == now)
		return false;
	last_fault.address = address;
	last_fault.steps = now;
	return true;
}

static void on_fault(int sig, siginfo_t *info, void *context) {
	int saved_errno = errno;
	if (info->si_code == SEGV_ACCERR && is_step_fault((uintptr_t)info->si_addr)) {
		errno = saved_errno;
		return;
	}
	errno = saved_errno;
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

// Begins a step. Until end_step, fork() waits and this thread receives no signal. Returns the previous signal mask, to
// be passed to end_step.
static sigset_t begin_step(void) {
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&in_place_lock);
	gompi_add_seq_cst(&steps, 1);
	return before;
}

static void end_step(sigset_t before) {
	gompi_add_seq_cst(&steps, 1);
	syscall(SYS_futex, &steps, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
	pthread_mutex_unlock(&in_place_lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void add_changed_range(uintptr_t address, size_t size) {
	unsigned i = next_range++ % RANGES;
	gompi_store_seq_cst(&ranges[i].to, 0);
	gompi_store_seq_cst(&ranges[i].from, address);
	gompi_store_seq_cst(&ranges[i].to, address + size);
}

// --- Mappings of the image

// The image of this process is a part of the node's memfd with one byte for each address (core/shm/layout.go). The
// struct describes one mapping of a range of the image.
struct image_mapping {
	uintptr_t at;
	size_t size;
	uint64_t offset; // offset in the image file
	int protection;
	void *copy; // copy of the contents; used during fork() only
};

// Lists the mappings of the bytes [from, to) of the node's memfd in this process. The caller frees *list. Returns the
// number of mappings, or -1 if they cannot be determined.
static int list_mappings(uint64_t from, uint64_t to, struct image_mapping **list) {
	*list = NULL;
	FILE *maps = fopen("/proc/self/maps", "re");
	if (maps == NULL)
		return -1;
	int n = 0, capacity = 0;
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
		    number != image_inode || makedev(major, minor) != image_device || mode[3] != 's')
			continue;
		uint64_t first = offset < from ? from : offset, end = offset + (hi - lo) > to ? to : offset + (hi - lo);
		if (first >= end)
			continue;
		if (n == capacity) {
			struct image_mapping *new_list =
				realloc(*list, sizeof **list * (size_t)(capacity = capacity * 2 + 8));
			if (new_list == NULL) {
				n = -1;
				break;
			}
			*list = new_list;
		}
		(*list)[n++] =
			(struct image_mapping){lo + (first - offset), end - first, first,
					       (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
						       (mode[2] == 'x' ? PROT_EXEC : 0),
					       NULL};
	}
	fclose(maps);
	return n;
}

// Reserves address space for a copy. The kernel allocates memory only for pages that are written.
static void *reserve_copy(size_t size) {
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static int read_all(void *to, size_t size, uint64_t offset) {
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(image_fd, (char *)to + done, size - done, (off_t)(offset + done));
		if (n == 0 || (n < 0 && errno != EINTR))
			return n == 0 ? EIO : errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int write_all(const void *from, size_t size, uint64_t offset) {
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(image_fd, (const char *)from + done, size - done, (off_t)(offset + done));
		if (n == 0 || (n < 0 && errno != EINTR))
			return n == 0 ? ENOSPC : errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static void punch_hole(uint64_t offset, size_t size) {
	if (fallocate(image_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size) == 0)
		return;
	// fallocate failed, for example because a seccomp profile denies it. Punch the hole with madvise.
	void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, image_fd, (off_t)offset);
	if (mapped == MAP_FAILED)
		return;
	madvise(mapped, size, MADV_REMOVE);
	munmap(mapped, size);
}

// --- Sharing and unsharing

static int share_step(char *at, size_t size) {
	uint64_t offset = image_offset + (uintptr_t)at;
	int rc = 0;
	sigset_t before = begin_step();
	if (mprotect(at, size, PROT_READ) != 0) {
		rc = errno;
	} else if ((rc = write_all(at, size, offset)) != 0 ||
		   (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, image_fd, (off_t)offset) ==
			    MAP_FAILED &&
		    (rc = errno) != 0)) {
		mprotect(at, size, PROT_READ | PROT_WRITE);
		punch_hole(offset, size);
	}
	if (rc == 0)
		gompi_add_seq_cst(&shared_bytes, size);
	end_step(before);
	if (rc == 0)
		// cheaper than a later fault per page; an older kernel returns EINVAL, which is harmless
		madvise(at, size, MADV_POPULATE_WRITE);
	return rc;
}

static int unshare_mapping(const struct image_mapping *p) {
	char *new_pages = reserve_copy(p->size);
	if (new_pages == MAP_FAILED)
		return errno;
	int rc = 0;
	size_t done = 0;
	add_changed_range(p->at, p->size);
	for (size_t n; done < p->size && rc == 0; done += n) {
		n = p->size - done < STEP_BYTES ? p->size - done : STEP_BYTES;
		char *at = (char *)p->at + done, *copy = new_pages + done;
		sigset_t before = begin_step();
		if ((p->protection & PROT_WRITE) && mprotect(at, n, p->protection & ~PROT_WRITE) != 0)
			rc = errno;
		else if ((rc = read_all(copy, n, p->offset + done)) == 0 &&
			 ((p->protection != (PROT_READ | PROT_WRITE) && mprotect(copy, n, p->protection) != 0) ||
			  mremap(copy, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED))
			rc = errno;
		if (rc == 0)
			punch_hole(p->offset + done, n);
		else // after an error, map the file again, which still has the contents
			mmap(at, n, p->protection, MAP_SHARED | MAP_FIXED, image_fd, (off_t)(p->offset + done));
		end_step(before);
		if (rc != 0)
			break;
	}
	if (done < p->size)
		munmap(new_pages + done, p->size - done);
	return rc;
}

int gompi_in_place_unshare(uintptr_t address, size_t size) {
	struct image_mapping *list;
	int n = list_mappings(image_offset + address, image_offset + address + size, &list), rc = n < 0 ? ENOMEM : 0;
	for (int i = 0; i < n; i++) {
		int failed = unshare_mapping(&list[i]);
		rc = rc != 0 ? rc : failed;
	}
	free(list);
	if (rc == 0) {
		punch_hole(image_offset + address, size); // also releases ranges that the program has unmapped
		gompi_sub_seq_cst(&shared_bytes, size);
	}
	return rc;
}

// --- fork()

static struct image_mapping *fork_mappings;
static int fork_mapping_count;

static void before_fork(void) {
	pthread_mutex_lock(&in_place_lock);
	fork_mapping_count = 0;
	if (gompi_load_seq_cst(&shared_bytes) == 0)
		return;
	fork_mapping_count = list_mappings(image_offset, image_offset + IMAGE_SIZE, &fork_mappings);
	for (int i = 0; i < fork_mapping_count; i++) {
		struct image_mapping *p = &fork_mappings[i];
		p->copy = reserve_copy(p->size);
		if (p->copy != MAP_FAILED && read_all(p->copy, p->size, p->offset) != 0) {
			munmap(p->copy, p->size);
			p->copy = MAP_FAILED;
		}
	}
}

static void after_fork_in_parent(void) {
	for (int i = 0; i < fork_mapping_count; i++)
		if (fork_mappings[i].copy != MAP_FAILED)
			munmap(fork_mappings[i].copy, fork_mappings[i].size);
	free(fork_mappings);
	fork_mappings = NULL;
	pthread_mutex_unlock(&in_place_lock);
}

static void after_fork_in_child(void) {
	bool failed = fork_mapping_count < 0;
	for (int i = 0; i < fork_mapping_count; i++) {
		struct image_mapping *p = &fork_mappings[i];
		failed =
			failed || p->copy == MAP_FAILED ||
			(p->protection != (PROT_READ | PROT_WRITE) && mprotect(p->copy, p->size, p->protection) != 0) ||
			mremap(p->copy, p->size, p->size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)p->at) == MAP_FAILED;
	}
	if (failed) {
		static const char text[] = "gompirma: out of memory in a child process after fork: cannot copy the "
					   "window memory that is shared in place; the child process ends\n";
		ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
		(void)written;
		_exit(127);
	}
	gompi_store_seq_cst(&shared_bytes, 0);
	pthread_mutex_init(&in_place_lock, NULL);
}

// --- Entry

static int open_image(int fd, uint64_t at) {
	if (image_fd >= 0)
		return 0;
	struct stat s;
	int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 64);
	if (duplicate < 0) // ulimit -n does not allow a descriptor >= 64
		duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (duplicate < 0 || fstat(duplicate, &s) != 0)
		return errno;
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART, .sa_sigaction = on_fault};
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSEGV, &action, &old_action) != 0 ||
	    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) {
		close(duplicate);
		return ENOMEM;
	}
	image_offset = at;
	image_device = s.st_dev;
	image_inode = s.st_ino;
	image_fd = duplicate;
	return 0;
}

int gompi_in_place_share(int fd, uint64_t at, uintptr_t address, size_t size) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		return EFBIG; // a write beyond the limit would raise SIGXFSZ
	int rc = open_image(fd, at);
	if (rc != 0)
		return rc;
	add_changed_range(address, size);
	size_t done = 0;
	for (size_t n; done < size && rc == 0; done += rc == 0 ? n : 0) {
		n = size - done < STEP_BYTES ? size - done : STEP_BYTES;
		rc = share_step((char *)address + done, n);
	}
	if (rc != 0 && done > 0)
		gompi_in_place_unshare(address, done);
	return rc;
}
