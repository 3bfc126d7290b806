/* clean: One origin accumulates a record of several predefined datatypes, another accumulates one element of the
 * record. Each element is updated atomically (MPI-5.0 12.7.1).
 * race: One origin accumulates a record of several predefined datatypes, another accumulates one element of the record
 * with a different datatype. Accumulates are atomic only if both use the same predefined type (MPI-5.0 12.7.1).
 *
 * np: 3
 * ref: none (MPICH 4.0 ends with an assertion)
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>

struct record {
	double x;
	int i, j;
};

int main(int argc, char **argv) {
	static struct record mem[4];
	struct record mine = {1, 2, 3};
	MPI_Datatype type;
	MPI_Win win;
	int rank, lengths[2] = {1, 2};
	MPI_Aint at[2] = {offsetof(struct record, x), offsetof(struct record, i)};
	MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Type_create_struct(2, lengths, at, types, &type);
	MPI_Type_commit(&type);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		MPI_Accumulate(&mine, 1, type, 2, 0, 1, type, MPI_REPLACE, win); /* @first */
#ifdef WRONG
	if (rank == 1) {
		float other = 1;
		MPI_Accumulate(&other, 1, MPI_FLOAT, 2, 12, 1, MPI_FLOAT, MPI_REPLACE, win); /* @second */
	}
#else
	if (rank == 1)
		MPI_Accumulate(&mine.j, 1, MPI_INT, 2, 12, 1, MPI_INT, MPI_REPLACE, win);
#endif
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Type_free(&type);
	MPI_Finalize();
	return 0;
}
