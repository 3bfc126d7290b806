// racy_halo: a heat equation on a rod, with an error: a fence is missing. Each rank has some cells of the rod, and one
// halo cell at each end, into which the neighbour puts its outermost cell with MPI_Put. Without the fence, a rank may
// use its halo cells before the puts of its neighbours have arrived.
//
// The result is usually correct in spite of the error, so testing does not find it. `gompirun --check` reports which
// calls conflict, and on which lines, even if the result is correct:
//
//	gompirun -n 4 --check racy_halo
//
// With the argument "fixed" the program calls the fence, and --check finds nothing.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 100, STEPS = 200 };

// Puts the outermost cells of a rank into the halos of its neighbours.
static void exchange(const double *cells, int rank, int ranks, MPI_Win win) {
	if (rank > 0)
		MPI_Put(&cells[1], 1, MPI_DOUBLE, rank - 1, CELLS + 1, 1, MPI_DOUBLE, win);
	if (rank < ranks - 1)
		MPI_Put(&cells[CELLS], 1, MPI_DOUBLE, rank + 1, 0, 1, MPI_DOUBLE, win);
}

// Computes the new values of cells 1 to n from the old values of these cells and their neighbours.
static void step(double *cells, int n) {
	double left = cells[0];
	for (int i = 1; i <= n; i++) {
		double here = cells[i];
		cells[i] = here + 0.25 * (left - 2 * here + cells[i + 1]);
		left = here;
	}
}

// Returns the largest difference between the cells of all ranks and the result of a serial computation.
static double error(const double *all, int ranks) {
	int n = ranks * CELLS;
	double *rod = calloc(n + 2, sizeof *rod), most = 0;
	rod[0] = 100;
	for (int i = 0; i < STEPS; i++)
		step(rod, n);
	for (int i = 0; i < n; i++) {
		double d = rod[i + 1] > all[i] ? rod[i + 1] - all[i] : all[i] - rod[i + 1];
		most = d > most ? d : most;
	}
	free(rod);
	return most;
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, ranks, fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	double *all = malloc(ranks * CELLS * sizeof *all), *borders = malloc(ranks * sizeof *borders), *cells;

	MPI_Win win;
	MPI_Win_allocate((CELLS + 2) * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
	MPI_Win_set_name(win, "rod");
	memset(cells, 0, (CELLS + 2) * sizeof *cells);
	if (rank == 0)
		cells[0] = 100;

	for (int n = 0; n < STEPS; n++) {
		MPI_Win_fence(0, win); // all ranks have used their halos
		exchange(cells, rank, ranks, win);
		if (fixed)
			MPI_Win_fence(0, win); // all halos have arrived
		// Rank 0 collects the left halo cell of every rank.
		MPI_Gather(&cells[0], 1, MPI_DOUBLE, borders, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		step(cells, CELLS);
	}
	MPI_Win_fence(0, win);

	MPI_Gather(&cells[1], CELLS, MPI_DOUBLE, all, CELLS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		double off = error(all, ranks);
		printf("racy_halo: %d steps on %d ranks, %.2f degrees at the last border, %s\n", STEPS, ranks,
		       borders[ranks - 1], off == 0 ? "as computed alone" : "other than computed alone");
	}
	MPI_Win_free(&win);
	free(all);
	free(borders);
	MPI_Finalize();
	return 0;
}
