/* Reported (pmodels/mpich issue 4631): in a container with a /dev/shm of 64 MiB, a shared window of more than 64 MiB at
 * rank 0 was created successfully, but rank 0 was killed by SIGBUS at a store.
 * Must hold: rank 0 can fill 100 MiB, and the other ranks can read them, however small /dev/shm is. If the machine does
 * not have the memory, the creation of the window fails on every rank, and the program continues. MPI-5.0 12.2.3
 * np: 2 4
 * args: large impossible
 * ref: mpich (Open MPI 4.1.4 hangs if there is not enough memory)
 * ref-wrong: impossible (MPICH 4.0 creates the window although there is not enough memory)
 * nodes: 1 (the window is shared)
 * timeout: 60
 */
#include "../check.h"

enum { PAGE = 4096 };

static void large(void) {
	MPI_Aint size = (MPI_Aint)100 << 20, theirs;
	char *mem, *first;
	int unit;
	MPI_Win win;
	CHECK_OK(MPI_Win_allocate_shared(check_rank == 0 ? size : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
	MPI_Win_shared_query(win, 0, &theirs, &unit, &first);
	CHECK(theirs == size, "rank 0 has %lld bytes", (long long)theirs);
	for (MPI_Aint i = 0; check_rank == 0 && i < size; i += PAGE)
		mem[i] = (char)(i / PAGE * 7 + 1);
	MPI_Win_fence(0, win);
	for (MPI_Aint i = (MPI_Aint)check_rank * PAGE; i < size; i += 31 * PAGE)
		CHECK(first[i] == (char)(i / PAGE * 7 + 1), "byte %lld is %d", (long long)i, first[i]);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
}

static void impossible(void) {
	char *mem;
	MPI_Win win;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int shared = 0; shared < 2; shared++)
		for (int who = 0; who < (check_size < 2 ? 1 : 2); who++) {
			MPI_Aint size = check_rank == who ? (MPI_Aint)1 << 45 : 64; /* 32 TiB */
			int rc = shared ? MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win)
					: MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
			CHECK(rc != MPI_SUCCESS, "%s with 32 TiB on rank %d succeeded",
			      shared ? "MPI_Win_allocate_shared" : "MPI_Win_allocate", who);
		}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "impossible") == 0)
		impossible();
	large();
	return check_end();
}
