/* mandelbrot: work distribution by MPI_Fetch_and_op.
 *
 * The rows of the picture take very different times to compute, so the ranks do not get fixed shares. Rank 0 has a
 * window with a counter, which holds the next row, and with the picture. To get a row, a rank fetches the counter and
 * adds 1 to it in one atomic step. It puts the finished row into the picture. Rank 0 computes rows like all other
 * ranks: it does not distribute work, and receives no messages.
 *
 *     gompirun -n 4 mandelbrot [PICTURE] [--size WIDTHxHEIGHT] [--iterations N]
 *
 * In the end rank 0 computes the whole picture serially and compares.
 */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include "png.h"

static int rank, ranks;
static int width = 960, height = 640, iterations = 600;
static const char *picture = "mandelbrot.png";

/* The parts of rank 0's window. */
struct shared {
	int64_t next_row;
	unsigned char rgb[]; /* height rows of 3 * width bytes */
};

/* Computes the colours of row y, from 2 x 2 samples for each pixel. Points of the set are black; the colour of another
 * point depends on how fast it escapes. */
static void compute_row(int y, unsigned char *rgb) {
	static const unsigned char scale[][3] = {{4, 7, 60},      {18, 60, 140},  {57, 134, 200}, {178, 222, 242},
						 {250, 248, 225}, {252, 200, 80}, {214, 110, 20}, {120, 30, 18},
						 {30, 8, 40},     {4, 7, 60}};
	double centre_x = -0.743643, centre_y = 0.131825, view = 0.0085, step = view / width;
	for (int x = 0; x < width; x++) {
		double sum[3] = {0, 0, 0};
		for (int sample = 0; sample < 4; sample++) {
			double cx = centre_x + (x - width / 2.0 + 0.25 + 0.5 * (sample % 2)) * step;
			double cy = centre_y - (y - height / 2.0 + 0.25 + 0.5 * (sample / 2)) * step;
			double zx = 0, zy = 0, xx = 0, yy = 0;
			int i = 0;
			while (i < iterations && xx + yy < 256) {
				zy = 2 * zx * zy + cy;
				zx = xx - yy + cx;
				xx = zx * zx;
				yy = zy * zy;
				i++;
			}
			if (i == iterations)
				continue;
			double speed = i + 1 - log2(log2(xx + yy) / 2), turns = log2(speed + 1) * 0.62;
			unsigned char colour[3];
			png_colour(scale, 10, turns - floor(turns), colour);
			for (int k = 0; k < 3; k++)
				sum[k] += colour[k];
		}
		for (int k = 0; k < 3; k++)
			rgb[3 * x + k] = (unsigned char)(sum[k] / 4 + 0.5);
	}
}

/* Prints the error and the usage on rank 0, and ends the program on all ranks. */
static int usage(const char *what, const char *value) {
	if (rank == 0)
		fprintf(stderr,
			"mandelbrot: %s '%s'\nusage: mandelbrot [PICTURE] [--size WIDTHxHEIGHT] [--iterations N]\n",
			what, value);
	MPI_Finalize();
	return 2;
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 1; i < argc; i++) {
		char rest;
		if (strcmp(argv[i], "--size") == 0 && i + 1 < argc) {
			if (sscanf(argv[++i], "%dx%d%c", &width, &height, &rest) != 2 || width < 1 || height < 1 ||
			    width > 20000 || height > 20000)
				return usage("not a size, such as 960x640:", argv[i]);
		} else if (strcmp(argv[i], "--iterations") == 0 && i + 1 < argc) {
			if (sscanf(argv[++i], "%d%c", &iterations, &rest) != 1 || iterations < 1)
				return usage("not a number of iterations:", argv[i]);
		} else if (argv[i][0] == '-') {
			return usage("unknown or incomplete option", argv[i]);
		} else {
			picture = argv[i];
		}
	}

	int bad = 0;
	if (rank == 0 && png_writable(picture) != 0) {
		fprintf(stderr, "mandelbrot: cannot write %s: %s\n", picture, strerror(errno));
		bad = 1;
	}
	MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD); /* all ranks end with the same status */
	if (bad) {
		MPI_Finalize();
		return 1;
	}

	/* Rank 0's window memory has the counter and the picture. The other ranks have no window memory, since all
	 * operations access the memory of rank 0. */
	size_t row_size = 3 * (size_t)width, picture_size = row_size * (size_t)height;
	struct shared *shared;
	MPI_Win win;
	MPI_Win_allocate(rank == 0 ? (MPI_Aint)(sizeof *shared + picture_size) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
			 &shared, &win);
	if (rank == 0)
		memset(shared, 0, sizeof *shared + picture_size);
	MPI_Barrier(MPI_COMM_WORLD); /* the counter is 0 before any rank fetches it */

	double begin = MPI_Wtime();
	unsigned char *row = malloc(row_size);
	int rows = 0;
	MPI_Win_lock_all(0, win); /* operations on all targets are allowed until unlock_all */
	for (;;) {
		int64_t one = 1, y;
		MPI_Fetch_and_op(&one, &y, MPI_INT64_T, 0, offsetof(struct shared, next_row), MPI_SUM, win);
		MPI_Win_flush(0, win); /* `y` has its value now */
		if (y >= height)
			break;
		compute_row((int)y, row);
		MPI_Put(row, (int)row_size, MPI_BYTE, 0,
			(MPI_Aint)(offsetof(struct shared, rgb) + (size_t)y * row_size), (int)row_size, MPI_BYTE, win);
		MPI_Win_flush_local(0, win); /* `row` may be overwritten now */
		rows++;
	}
	MPI_Win_unlock_all(win);     /* all puts of this rank are complete in rank 0's memory */
	MPI_Barrier(MPI_COMM_WORLD); /* so are the puts of all other ranks */
	double seconds = MPI_Wtime() - begin;

	int *all_rows = malloc(sizeof(int) * (size_t)ranks);
	MPI_Gather(&rows, 1, MPI_INT, all_rows, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win); /* to read its own window memory */
		int sum = 0, wrong = 0;
		printf("mandelbrot: %d x %d pixels in %.2f s on %d ranks\n", width, height, seconds, ranks);
		for (int r = 0; r < ranks; r++) {
			printf("  rank %d computed %d rows\n", r, all_rows[r]);
			sum += all_rows[r];
		}
		for (int y = 0; y < height; y++) {
			compute_row(y, row);
			wrong += memcmp(row, shared->rgb + (size_t)y * row_size, row_size) != 0;
		}
		if (sum != height || wrong > 0) {
			printf("WRONG: %d rows were handed out, not %d; %d rows differ from the serial computation\n",
			       sum, height, wrong);
			bad = 1;
		} else {
			printf("verified: each of the %d rows was computed once and equals the serial computation\n",
			       height);
		}
		if (png_write(picture, width, height, shared->rgb) != 0) {
			fprintf(stderr, "mandelbrot: cannot write %s: %s\n", picture, strerror(errno));
			bad = 1;
		} else {
			printf("picture: %s\n", picture);
		}
		MPI_Win_unlock(0, win);
	}
	MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Win_free(&win);
	free(row);
	free(all_rows);
	MPI_Finalize();
	return bad;
}
