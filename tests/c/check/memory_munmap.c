/* clean: The program unmaps memory after it frees the window on it (MPI-5.0 12.2.5).
 * error: The program unmaps memory while the window on it exists (MPI-5.0 12.2.5).
 *
 * np: 2
 * ref: mpich
 * find: memory window=q lines=free
 */
#include <mpi.h>
#include <stddef.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
	char *mem;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MPI_Win_create(mem, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#ifdef WRONG
	munmap(mem, 4096); /* @free */
	MPI_Win_free(&win);
#else
	MPI_Win_free(&win);
	munmap(mem, 4096);
#endif
	MPI_Finalize();
	return 0;
}
