/* Proves that accesses survive faults of the system. Interrupted and short calls are continued. If a call fails at one
 * process of a collective access, all processes return the error, and none waits forever. The program defines the
 * system calls that read and write files, so that the library calls these definitions. MPI-5.0 14.7.
 *
 * np: 1 4
 * nodes: 2
 * timeout: 120
 * ref: none (MPICH 4.0 returns the error only at the process whose call failed)
 */
#define _GNU_SOURCE
#include "../files.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static enum { NO_FAULTS, INTERRUPTED, FAILING } faults;
static uint64_t state = 1;
static int calls_before_failure; /* FAILING: this many calls succeed, and those after them fail with `reason` */
static int reason, failures, all_failures, interruptions;
enum { STRIPE = 12288 };
static int writes, unaligned_writes; /* calls of pwrite; those at offsets that are no multiple of STRIPE */

/* Decides the result of a system call for n bytes. Returns -1 and sets errno if the call must fail; otherwise returns
 * how many of the n bytes the call transfers. */
static ssize_t fault(size_t n) {
	if (faults == FAILING && __atomic_sub_fetch(&calls_before_failure, 1, __ATOMIC_RELAXED) < 0) {
		failures++;
		errno = reason;
		return -1;
	}
	if (faults == INTERRUPTED && check_random(&state) % 4 == 0) {
		interruptions++;
		errno = EINTR;
		return -1;
	}
	return faults == INTERRUPTED && n > 1 ? (ssize_t)(1 + check_random(&state) % n) : (ssize_t)n;
}

ssize_t pread(int fd, void *data, size_t n, off_t offset) {
	ssize_t part = fault(n);
	return part < 0 ? -1 : syscall(SYS_pread64, fd, data, (size_t)part, offset);
}
ssize_t pwrite(int fd, const void *data, size_t n, off_t offset) {
	ssize_t part = fault(n);
	writes++;
	unaligned_writes += offset % STRIPE != 0;
	return part < 0 ? -1 : syscall(SYS_pwrite64, fd, data, (size_t)part, offset);
}
/* Reads all ranges or, in a short call, a part of the first one; pwritev writes in the same way. */
ssize_t preadv(int fd, const struct iovec *iov, int count, off_t offset) {
	ssize_t part = fault(iov->iov_len);
	if (part < 0 || (size_t)part < iov->iov_len)
		return part < 0 ? -1 : syscall(SYS_pread64, fd, iov->iov_base, (size_t)part, offset);
	return syscall(SYS_preadv, fd, iov, count, offset & 0xffffffff, offset >> 32);
}
ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t offset) {
	ssize_t part = fault(iov->iov_len);
	if (part < 0 || (size_t)part < iov->iov_len)
		return part < 0 ? -1 : syscall(SYS_pwrite64, fd, iov->iov_base, (size_t)part, offset);
	return syscall(SYS_pwritev, fd, iov, count, offset & 0xffffffff, offset >> 32);
}

enum { BLOCKS = 200, BLOCK = 700, BYTES = BLOCKS * BLOCK };
static char data[BYTES * 2], back[BYTES * 2];
/* view: the filetype, in which the blocks of all ranks alternate. runs: the memory datatype, whose data is every second
 * block of the buffer. */
static MPI_Datatype view, runs;

static void fill(int number) {
	for (int i = 0; i < BYTES * 2; i++)
		data[i] = (char)(i * 7 + i / 251 + number + check_rank * 31);
	memset(back, 0, sizeof back);
}

/* Compares `back`, into which a call has read, with `data`. in_runs: the data is in every second block in memory. */
static void compare(const char *what, int in_runs) {
	for (int i = 0; i < BLOCKS; i++) {
		int at = in_runs ? 2 * i * BLOCK : i * BLOCK;
		if (memcmp(data + at, back + at, BLOCK) != 0) {
			CHECK(0, "%s: block %d differs", what, i);
			return;
		}
	}
}

static MPI_File open_view(const char *hint, const char *unit) {
	MPI_File f;
	MPI_Info hints;
	MPI_Info_create(&hints);
	MPI_Info_set(hints, "romio_cb_write", hint);
	MPI_Info_set(hints, "cb_buffer_size", "65536");
	MPI_Info_set(hints, "striping_unit", unit);
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_name("faults"),
			       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, hints, &f));
	MPI_Info_free(&hints);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, view, "native", MPI_INFO_NULL));
	return f;
}

/* Makes all kinds of accesses while the system interrupts many calls, and transfers only a part in others. */
static void interrupted(const char *hint) {
	MPI_File f = open_view(hint, "4096");
	MPI_Request request;
	faults = INTERRUPTED;
	fill(1);
	CHECK_OK(MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_read_at_all(f, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	compare("collective", 0);
	fill(2);
	CHECK_OK(MPI_File_write_at(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_read_at(f, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	compare("strided", 0);
	fill(3);
	CHECK_OK(MPI_File_iwrite_at_all(f, 0, data, 1, runs, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_iread_at_all(f, 0, back, 1, runs, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	compare("nonblocking collective", 1);
	fill(6);
	CHECK_OK(MPI_File_write_at_all_begin(f, 0, data, BYTES, MPI_BYTE));
	CHECK_OK(MPI_File_write_at_all_end(f, data, MPI_STATUS_IGNORE));
	for (int i = 0; i < BLOCKS; i++) {
		MPI_Offset at = (MPI_Offset)i * BLOCK;
		CHECK_OK(MPI_File_iread_at(f, at, back + at, BLOCK, MPI_BYTE, &request));
		CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	compare("nonblocking", 0);
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	fill(4);
	CHECK_OK(MPI_File_write_at(f, (MPI_Offset)check_rank * BYTES, data, 1, runs, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_read_at(f, (MPI_Offset)check_rank * BYTES, back, 1, runs, MPI_STATUS_IGNORE));
	compare("contiguous in the file only", 1);
	fill(5);
	CHECK_OK(MPI_File_write_at(f, (MPI_Offset)check_rank * BYTES, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_read_at(f, (MPI_Offset)check_rank * BYTES, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	compare("contiguous", 0);
	faults = NO_FAULTS;
	CHECK(interruptions > 0, "no call has been interrupted");
	CHECK_OK(MPI_File_close(&f));
}

/* Checks the result rc of a collective access. If a system call has failed at any rank, rc must be an error of the
 * class at all ranks, and its text must name the file and the reason of the system. Otherwise rc must be MPI_SUCCESS.
 * Collective. */
static void check_agreed(const char *what, int rc, int class, const char *words) {
	int failed = failures > 0, any = 0;
	MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
	all_failures += any;
	CHECK(check_class(rc) == (any ? class : MPI_SUCCESS), "%s: class %d (%s), but a call has %sfailed", what,
	      check_class(rc), check_string(rc), any ? "" : "not ");
	CHECK(!any || (strstr(check_string(rc), words) != NULL && strstr(check_string(rc), "gompirma_faults") != NULL),
	      "%s: the text is \"%s\"", what, check_string(rc));
}

/* Makes collective accesses in which the system calls of one rank fail, from a certain call on. */
static void failing(const char *hint, int reason_here, int class, const char *words) {
	for (int number = 0; number < 8; number++) {
		MPI_File f = open_view(hint, "4096");
		MPI_Request request = MPI_REQUEST_NULL;
		MPI_Status status;
		int bad = number % check_size, rc;
		fill(number);
		CHECK_OK(MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
#define WITH_FAULTS(access)                            \
	reason = reason_here, failures = 0;            \
	calls_before_failure = number / 2;             \
	faults = check_rank == bad ? FAILING : faults; \
	access;                                        \
	faults = NO_FAULTS
		WITH_FAULTS(rc = MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, &status));
		check_agreed("write_at_all", rc, class, words);
		/* With aggregators, no rank knows how much of its data has been written. */
		if (rc != MPI_SUCCESS && check_size > 1 && strcmp(hint, "disable") != 0)
			CHECK_COUNT(&status, MPI_BYTE, 0);
		WITH_FAULTS(CHECK_OK(MPI_File_iwrite_at_all(f, 0, data, BYTES, MPI_BYTE, &request));
			    rc = MPI_Wait(&request, MPI_STATUS_IGNORE));
		check_agreed("iwrite_at_all", rc, class, words);
		/* The library executes long accesses in another thread, and short ones in the call. */
		for (int bytes = BYTES; bytes > 0; bytes = bytes == BYTES ? 2 * BLOCK : 0) {
			WITH_FAULTS(CHECK_OK(MPI_File_write_all_begin(f, data, bytes, MPI_BYTE));
				    rc = MPI_File_write_all_end(f, data, MPI_STATUS_IGNORE));
			check_agreed("write_all_end", rc, class, words);
		}
		WITH_FAULTS(rc = MPI_File_read_at_all(f, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
		check_agreed("read_at_all", rc, class, words);
		/* The file can be used as before the failure. */
		fill(number + 1);
		CHECK_OK(MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
		CHECK_OK(MPI_File_read_at_all(f, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
		compare("after a failure", 0);
		CHECK_OK(MPI_File_close(&f));
	}
}

/* Writes a file that is larger than RLIMIT_FSIZE of rank 0. Rank 0 must not write data of other ranks beyond its limit,
 * so the collective write succeeds. */
static void limited(void) {
	struct rlimit limit, small;
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit, small.rlim_cur = BYTES / 2;
	if (check_rank == 0)
		setrlimit(RLIMIT_FSIZE, &small);
	MPI_File f = open_view("enable", "4096");
	fill(1);
	/* rank 0 itself writes only one block, which lies below its limit */
	int n = check_rank == 0 ? BLOCK : BYTES;
	CHECK_OK(MPI_File_write_at_all(f, 0, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_File_read_at_all(f, 0, back, n, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(memcmp(data, back, (size_t)n) == 0, "the data differs");
	setrlimit(RLIMIT_FSIZE, &limit);
	CHECK_OK(MPI_File_close(&f));
}

/* Checks that aggregators write whole stripes of the file. */
static void aligned(void) {
	int all_writes;
	MPI_File f = open_view("enable", "12288");
	fill(1);
	writes = unaligned_writes = 0;
	CHECK_OK(MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_Allreduce(&writes, &all_writes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (check_size > 1) {
		CHECK(unaligned_writes == 0, "%d writes do not begin at a stripe", unaligned_writes);
		CHECK(all_writes >= check_size * BYTES / 65536, "only %d writes", all_writes);
	}
	CHECK_OK(MPI_File_read_at_all(f, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
	compare("stripes", 0);
	CHECK_OK(MPI_File_close(&f));
}

/* Writes to a device without space. */
static void full(void) {
	MPI_File f;
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	CHECK_CLASS(MPI_File_write_at_all(f, 0, data, 100, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, view, "native", MPI_INFO_NULL));
	CHECK_CLASS(MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
	CHECK_CLASS(MPI_File_write_at(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
	CHECK_OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	static const char *const hints[] = {"disable", "enable"};
	check_begin(&argc, &argv);
	state += (uint64_t)check_rank;
	MPI_Type_create_subarray(2, (int[]){BLOCKS, check_size * BLOCK}, (int[]){BLOCKS, BLOCK},
				 (int[]){0, check_rank * BLOCK}, MPI_ORDER_C, MPI_BYTE, &view);
	MPI_Type_vector(BLOCKS, BLOCK, 2 * BLOCK, MPI_BYTE, &runs);
	MPI_Type_commit(&view), MPI_Type_commit(&runs);
	for (int i = 0; i < 2; i++) {
		interrupted(hints[i]);
		failing(hints[i], EIO, MPI_ERR_IO, "nput/output error");
		failing(hints[i], ENOSPC, MPI_ERR_NO_SPACE, "No space left");
		failing(hints[i], ESTALE, MPI_ERR_IO, "tale file handle");
	}
	CHECK(all_failures > 0, "no call has failed");
	limited();
	aligned();
	full();
	MPI_Type_free(&view), MPI_Type_free(&runs);
	return check_end();
}
