/* Two parents that start two children, for TestObservedJobs: observed MODE. It starts them as "observed child MODE".
 *
 * Parents and children put to a window over the merged communicator, and the children to a window of their own job. In
 * mode "race", a put of a parent conflicts with one of a child, and two puts of children conflict. In mode "fine",
 * fences and messages order all accesses. In mode "twice", the parents start the children
 * twice, so that the second children have the numbers of the first ones. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Accesses at the members of a window, by rank. Two members put to member 2 if `races` is true. */
static void put_both(MPI_Comm comm, int target, int first, int second, int races) {
	int rank, size, *memory, value = 1;
	MPI_Win win;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
	MPI_Win_set_name(win, size == 4 ? "merged" : "children");
	MPI_Win_fence(0, win);
	if (rank == first)
		MPI_Put(&value, 1, MPI_INT, target, 1, 1, MPI_INT, win);
	if (!races)
		MPI_Win_fence(0, win);
	if (rank == second)
		MPI_Put(&value, 1, MPI_INT, target, 1, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
}

/* Messages from parent 0 to child 0, and from there to parent 1, order two puts of the parents. */
static void put_after_child(int is_child, int rank, MPI_Comm inter) {
	int *memory, token = 0;
	MPI_Win win;
	if (is_child) {
		if (rank == 2) {
			MPI_Recv(&token, 1, MPI_INT, 0, 8, inter, MPI_STATUS_IGNORE);
			MPI_Send(&token, 1, MPI_INT, 1, 8, inter);
		}
		return;
	}
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_lock_all(0, win);
	if (rank == 1)
		MPI_Recv(&token, 1, MPI_INT, 0, 8, inter, MPI_STATUS_IGNORE);
	MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	MPI_Win_flush(1, win);
	if (rank == 0)
		MPI_Send(&token, 1, MPI_INT, 0, 8, inter);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

static void run(int is_child, int races, MPI_Comm inter) {
	MPI_Comm all;
	MPI_Win win;
	int rank, token = 0, *memory;
	MPI_Intercomm_merge(inter, is_child, &all);
	MPI_Comm_rank(all, &rank);
	put_both(all, 1, 0, 3, races);
	if (is_child)
		put_both(MPI_COMM_WORLD, 0, 0, 1, races);
	/* a message between the jobs orders two puts to one location */
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &memory, &win);
	MPI_Win_lock_all(0, win);
	if (rank == 3)
		MPI_Recv(&token, 1, MPI_INT, 0, 7, inter, MPI_STATUS_IGNORE);
	if (rank == 0 || rank == 3) {
		MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
		MPI_Win_flush(2, win);
	}
	if (rank == 0)
		MPI_Send(&token, 1, MPI_INT, 1, 7, inter);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	put_after_child(is_child, rank, inter);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv) {
	int is_child = argc > 2, races = strcmp(argv[argc - 1], "race") == 0;
	MPI_Comm inter;
	MPI_Init(&argc, &argv);
	if (is_child) {
		MPI_Comm_get_parent(&inter);
		MPI_Comm_get_parent(&inter);
		run(1, races, inter);
	} else {
		char *args[] = {"child", argv[1], NULL};
		for (int i = 0; i < (strcmp(argv[1], "twice") == 0 ? 2 : 1); i++) {
			MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
			run(0, races, inter);
		}
	}
	MPI_Finalize();
	return 0;
}
