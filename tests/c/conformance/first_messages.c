/* Proves: after a first message each way, the next messages between two processes of a node cause no page faults. A
 * process thus populates the memory through which its messages go.
 *
 * np: 2 16
 * nodes: 1 (a message between nodes goes through the memory of the network)
 * timeout: 60
 * ref: none (the number of page faults is not part of the standard)
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>

#include "../check.h"

enum { MESSAGES = 3000, MOST_FAULTS = 10 };

static void exchange(int n) {
	const int partner = check_rank ^ 1;
	long long value = 0;
	for (int i = 0; i < n; i++)
		if (check_rank < partner) {
			MPI_Send(&value, 1, MPI_LONG_LONG, partner, 1, MPI_COMM_WORLD);
			MPI_Recv(&value, 1, MPI_LONG_LONG, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&value, 1, MPI_LONG_LONG, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&value, 1, MPI_LONG_LONG, partner, 1, MPI_COMM_WORLD);
		}
}

static long faults(void) {
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	return u.ru_minflt;
}

/* Returns true if the kernel can populate memory (Linux 5.14). Otherwise the page faults cannot be avoided. */
static int can_populate(void) {
	enum { PAGE = 4096, POPULATE_READ = 22 };
	static _Alignas(PAGE) char page[PAGE];
	return madvise(page, PAGE, POPULATE_READ) == 0;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	exchange(1);
	long before = faults();
	exchange(MESSAGES);
	long n = faults() - before;
	CHECK(n <= MOST_FAULTS || !can_populate(), "%d messages each way have caused %ld page faults", MESSAGES, n);
	return check_end();
}
