/* clean: One origin puts a struct of a char and an int. Another puts a byte of the padding, which no datatype contains.
 * race: One origin puts a struct of a char and an int. Another puts a byte of the int.
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>

struct item {
	char tag;
	int count;
};

int main(int argc, char **argv) {
	static char mem[64];
	MPI_Win win;
	int rank;
	struct item item = {1, 2};
	MPI_Datatype item_type;
	MPI_Aint places[2] = {offsetof(struct item, tag), offsetof(struct item, count)};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Type_create_struct(2, (int[]){1, 1}, places, (MPI_Datatype[]){MPI_CHAR, MPI_INT}, &item_type);
	MPI_Type_commit(&item_type);
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&item, 1, item_type, 2, 0, 1, item_type, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(&item.tag, 1, MPI_CHAR, 2, 4, 1, MPI_CHAR, win); /* @second */
#else
		MPI_Put(&item.tag, 1, MPI_CHAR, 2, 1, 1, MPI_CHAR, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Type_free(&item_type);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
