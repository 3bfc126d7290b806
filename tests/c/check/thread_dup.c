/* clean: Each of two threads duplicates its own communicator, and the program uses both duplicates (MPI-5.0 6.14,
 * 7.4.2).
 * error: Each of two threads duplicates its own communicator. Then rank 1 passes the wrong duplicate to a barrier
 * (MPI-5.0 6.14).
 *
 * np: 2
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=name lines=sum,barrier
 */
#include <mpi.h>
#include <pthread.h>

static MPI_Comm parents[2], copies[2];

static void sum_up(MPI_Comm comm) {
	int value = 1, sum;

	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm); /* @sum */
}

static void *copy(void *number) {
	long i = (long)number;

	for (int round = 0; round < 20; round++) {
		MPI_Comm_dup(parents[i], &copies[i]);
		if (i == 0)
			sum_up(copies[0]);
		else
			MPI_Barrier(copies[1]);
		if (round < 19)
			MPI_Comm_free(&copies[i]);
	}
	return NULL;
}

int main(int argc, char **argv) {
	int level, rank;
	pthread_t threads[2];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, copy, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
#ifdef WRONG
	if (rank == 0)
		sum_up(copies[0]);
	MPI_Barrier(copies[1 - rank]); /* @barrier */
#else
	sum_up(copies[0]);
	MPI_Barrier(copies[1]);
#endif
	for (int i = 0; i < 2; i++) {
		MPI_Comm_free(&copies[i]);
		MPI_Comm_free(&parents[i]);
	}
	MPI_Finalize();
	return 0;
}
