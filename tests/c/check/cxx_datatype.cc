/* clean: One origin puts the first member of each struct in an array. Another puts the second member of the third
 * struct (MPI-5.0 12.3).
 * race: One origin puts the first member of each struct in an array. Another puts the whole third struct (MPI-5.0
 * 12.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

struct Particle {
	double weight;
	double charge;
};

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	static Particle particles[4];
	MPI_Win win;
	MPI_Win_create(particles, sizeof particles, sizeof(Particle), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Datatype weight;
	MPI_Type_create_resized(MPI_DOUBLE, 0, sizeof(Particle), &weight);
	MPI_Type_commit(&weight);
#ifdef WRONG
	MPI_Datatype whole;
	MPI_Type_contiguous(2, MPI_DOUBLE, &whole);
	MPI_Type_commit(&whole);
#else
	MPI_Datatype charge;
	const int one = 1, second = 1;
	MPI_Type_indexed(1, &one, &second, MPI_DOUBLE, &charge);
	MPI_Type_commit(&charge);
#endif
	const double values[4] = {1.0, 2.0, 3.0, 4.0};
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(values, 4, MPI_DOUBLE, 2, 0, 4, weight, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(values, 1, whole, 2, 2, 1, whole, win); /* @second */
	MPI_Win_fence(0, win);
	MPI_Type_free(&whole);
#else
		MPI_Put(values, 1, MPI_DOUBLE, 2, 2, 1, charge, win);
	MPI_Win_fence(0, win);
	MPI_Type_free(&charge);
#endif
	MPI_Type_free(&weight);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
