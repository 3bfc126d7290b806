/* clean: One origin puts in the first exposure epoch, another fetches and adds in the second. MPI_Win_wait of the first
 * completes the put (MPI-5.0 12.5.2).
 * race: One origin puts to an integer and another fetches and adds to it in one exposure epoch: a put and an accumulate
 * conflict (MPI-5.0 12.3, 12.5.2).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, old;
#ifdef WRONG
	MPI_Group world, origins, target;
#else
	MPI_Group world, first, second, target;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Comm_group(MPI_COMM_WORLD, &world);
#ifdef WRONG
	MPI_Group_incl(world, 2, (int[]){0, 1}, &origins);
	MPI_Group_incl(world, 1, (int[]){2}, &target);
	if (rank == 2) {
		MPI_Win_post(origins, 0, win);
#else
	MPI_Group_incl(world, 1, (int[]){0}, &first);
	MPI_Group_incl(world, 1, (int[]){1}, &second);
	MPI_Group_incl(world, 1, (int[]){2}, &target);
	if (rank == 2) {
		MPI_Win_post(first, 0, win);
		MPI_Win_wait(win);
		MPI_Win_post(second, 0, win);
#endif
		MPI_Win_wait(win);
	}
	if (rank == 0) {
		MPI_Win_start(target, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_complete(win);
	}
	if (rank == 1) {
		MPI_Win_start(target, 0, win);
		MPI_Fetch_and_op(&value, &old, MPI_INT, 2, 0, MPI_SUM, win); /* @second */
		MPI_Win_complete(win);
	}
#ifdef WRONG
	MPI_Group_free(&origins);
#else
	MPI_Group_free(&first);
	MPI_Group_free(&second);
#endif
	MPI_Group_free(&target);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
