/* heat: a two-dimensional heat equation with halo exchange by MPI_Put.
 *
 * The plate is divided into bands of rows, one band for each rank. A rank has one more row above and one below its
 * band, the halo, with copies of its neighbours' edge rows. In each step every rank puts its first and its last row
 * into its neighbours' halos, and then computes the new temperatures of its band from the old ones. There are two
 * copies of the band with its halo, old and new, which exchange roles in each step. A neighbour that is one step ahead
 * writes into the halo of the other copy, so one synchronization per step is enough. (A rank stores into its band while
 * neighbours put into its halo. The unified memory model allows this, since the locations differ.)
 *
 *     gompirun -n 4 heat [fence|pscw|flush] [PICTURE] [--size WIDTHxHEIGHT] [--steps N]
 *
 * The synchronization is chosen by the first argument:
 *   fence   MPI_Win_fence: all ranks together. The simplest.
 *   pscw    MPI_Win_post, start, complete, wait: each rank with its neighbours only.
 *   flush   MPI_Win_lock_all once; in each step MPI_Win_flush_all, which completes the puts, and a barrier.
 *
 * In the end rank 0 gets all bands with MPI_Get, computes the whole plate serially, and compares: no bit may differ.
 */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include "png.h"

enum sync { FENCE, PSCW, FLUSH };
static const char *const sync_name[] = {"fence", "pscw", "flush"};

static int rank, ranks;
static int width = 600, height = 400, steps = 2000;
static enum sync sync = FENCE;
static const char *picture = "heat.png";

/* Returns the number of rows of a rank's band. The first height % ranks bands have one row more than the other bands.
 * If there are more ranks than rows, the last bands are empty. */
static int band_rows(int r) { return height / ranks + (r < height % ranks); }

static int band_begin(int r) { return r * (height / ranks) + (r < height % ranks ? r : height % ranks); }

/* Returns the initial temperature of a point. There are hot and cold bodies of several shapes, and a cold edge. Sets
 * *fixed to 1 if the point's temperature never changes, else to 0. */
static double at_first(int x, int y, int *fixed) {
	double u = (x + 0.5) / width, v = (y + 0.5) / height, aspect = (double)width / height;
	double hot_x = (u - 0.3) * aspect, hot_y = v - 0.42, ring = sqrt(hot_x * hot_x + hot_y * hot_y);
	*fixed = 1;
	if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
		return 0;
	if (ring > 0.2 && ring < 0.225 && !(hot_x > 0.05 && fabs(hot_y) < 0.07))
		return 1; /* a hot ring with a gap */
	if (ring < 0.04)
		return 0; /* a cold body inside the ring */
	if (u > 0.62 && u < 0.64 && v > 0.15 && v < 0.8)
		return 1; /* a hot rod */
	if (fabs(v - 0.3) < 0.012 && u > 0.72 && u < 0.93)
		return 0; /* cold bars */
	if (fabs(v - 0.6) < 0.012 && u > 0.72 && u < 0.93)
		return 0.9; /* a warm bar */
	if ((u - 0.8) * (u - 0.8) * aspect * aspect + (v - 0.83) * (v - 0.83) < 0.0025)
		return 1;
	*fixed = 0;
	return 0.15;
}

/* Computes one step for `rows` rows. The copies `old` and `new` each have a halo row above and below. The array `rate`
 * holds the speed with which each point approaches its neighbours' temperature; the rate is 0 if the temperature is
 * fixed. All points at the plate's edge are fixed, so it does not matter that here[x - 1] and here[x + 1] may be in
 * another row. */
static void compute(const double *restrict old, double *restrict new, const double *restrict rate, int rows) {
	for (int y = 1; y <= rows; y++) {
		const double *up = old + (size_t)(y - 1) * width, *here = up + width, *down = here + width;
		const double *k = rate + (size_t)(y - 1) * width;
		double *to = new + (size_t)y *width;
		for (int x = 0; x < width; x++)
			to[x] = here[x] + k[x] * (up[x] + down[x] + here[x - 1] + here[x + 1] - 4 * here[x]);
	}
}

/* Sets both copies and the rates, for rows that begin at row `first` of the plate. */
static void set_up(double *old, double *new, double *rate, int first, int rows) {
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < width; x++) {
			int fixed;
			size_t at = (size_t)(y + 1) * width + x;
			old[at] = new[at] = at_first(x, first + y, &fixed);
			rate[(size_t)y * width + x] = fixed ? 0 : 0.24;
		}
}

/* Puts this rank's edge rows into the halos of its neighbours, and returns when the neighbours' rows are in its own
 * halo. The argument `copy` (0 or 1) selects the copy of the band. The window memory of a rank is an array
 * [copy][row][x] with rows + 2 rows, of which row 0 is the upper halo. */
static void exchange(MPI_Win win, MPI_Group neighbours, const double *mine, int copy) {
	int rows = band_rows(rank), up = rank - 1,
	    down = rank + 1 < ranks && band_rows(rank + 1) > 0 ? rank + 1 : MPI_PROC_NULL;
	if (up < 0 || rows == 0)
		up = MPI_PROC_NULL; /* an operation on MPI_PROC_NULL does nothing */
	if (rows == 0)
		down = MPI_PROC_NULL;
	if (sync == PSCW) {
		MPI_Win_post(neighbours, 0, win);  /* the neighbours may write this rank's halo */
		MPI_Win_start(neighbours, 0, win); /* this rank may write the neighbours' halos */
	}
	if (up != MPI_PROC_NULL) {
		MPI_Aint lower_halo = ((MPI_Aint)copy * (band_rows(up) + 2) + band_rows(up) + 1) * width;
		MPI_Put(mine + width, width, MPI_DOUBLE, up, lower_halo, width, MPI_DOUBLE, win);
	}
	if (down != MPI_PROC_NULL) {
		MPI_Aint upper_halo = (MPI_Aint)copy * (band_rows(down) + 2) * width;
		MPI_Put(mine + (size_t)rows * width, width, MPI_DOUBLE, down, upper_halo, width, MPI_DOUBLE, win);
	}
	switch (sync) {
	case FENCE:
		MPI_Win_fence(0, win); /* ends the epoch of these puts and begins the next one */
		break;
	case PSCW:
		MPI_Win_complete(win); /* no more puts of this rank in this step */
		MPI_Win_wait(win);     /* the neighbours' puts have arrived */
		break;
	case FLUSH:
		MPI_Win_flush_all(win);      /* the puts of this rank are complete at the targets */
		MPI_Barrier(MPI_COMM_WORLD); /* now the puts of all other ranks are complete, too */
		MPI_Win_sync(win);
		break;
	}
}

/* Writes the picture. Colours go from dark blue for temperature 0 over violet, red, orange and yellow to white for 1.
 * Thin lines connect points of equal temperature. */
static int draw(const double *plate) {
	static const unsigned char scale[][3] = {{8, 10, 40},    {40, 18, 95},   {95, 20, 110},
						 {155, 30, 100}, {205, 55, 75},  {238, 96, 45},
						 {250, 148, 20}, {252, 204, 65}, {253, 245, 200}};
	unsigned char *rgb = malloc(3 * (size_t)width * (size_t)height);
	if (!rgb)
		return -1;
	for (size_t i = 0; i < (size_t)width * (size_t)height; i++) {
		double t = plate[i], right = i % width + 1 < (size_t)width ? plate[i + 1] : t;
		double below = i / width + 1 < (size_t)height ? plate[i + width] : t;
		png_colour(scale, 9, t, rgb + 3 * i);
		int line = floor(t * 20) != floor(right * 20) || floor(t * 20) != floor(below * 20);
		for (int k = 0; k < 3 && line; k++)
			rgb[3 * i + k] = (unsigned char)(rgb[3 * i + k] * 0.72);
	}
	int code = png_write(picture, width, height, rgb);
	free(rgb);
	return code;
}

/* Reads the plate from all windows and compares it with a serial computation. Only rank 0 calls it. Returns the number
 * of points that differ. */
static long collect(MPI_Win win, double *plate, double *largest) {
	int copy = steps % 2;
	for (int r = 0; r < ranks;
	     r++) { /* locks one rank after the other; after the barrier, no rank changes its band any more */
		int rows = band_rows(r);
		MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win);
		for (int y = 0; y < rows; y++)
			MPI_Get(plate + (size_t)(band_begin(r) + y) * width, width, MPI_DOUBLE, r,
				((MPI_Aint)copy * (rows + 2) + y + 1) * width, width, MPI_DOUBLE, win);
		MPI_Win_unlock(r, win); /* the gets are complete */
	}
	size_t points = (size_t)width * (size_t)height, with_halo = points + 2 * (size_t)width;
	double *old = calloc(with_halo, sizeof *old), *new = calloc(with_halo, sizeof *new);
	double *rate = malloc(points * sizeof *rate);
	set_up(old, new, rate, 0, height);
	for (int step = 0; step < steps; step++) {
		compute(old, new, rate, height);
		double *swap = old;
		old = new;
		new = swap;
	}
	long different = 0;
	for (size_t i = 0; i < points; i++) {
		double difference = fabs(plate[i] - old[width + i]);
		different += difference != 0;
		*largest = difference > *largest ? difference : *largest;
	}
	free(old);
	free(new);
	free(rate);
	return different;
}

static int usage(const char *what, const char *value) {
	if (rank == 0)
		fprintf(stderr,
			"heat: %s '%s'\nusage: heat [fence|pscw|flush] [PICTURE] [--size WIDTHxHEIGHT] [--steps N]\n",
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
		int named = 0;
		if (strcmp(argv[i], "--sync") == 0 && i + 1 < argc) {
			named = 1; /* the next argument must be a synchronization */
			i++;
		}
		int s = 0;
		while (s < 3 && strcmp(argv[i], sync_name[s]) != 0)
			s++;
		if (s < 3) {
			sync = (enum sync)s;
		} else if (named) {
			return usage("not a synchronization:", argv[i]);
		} else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc) {
			if (sscanf(argv[++i], "%dx%d%c", &width, &height, &rest) != 2 || width < 3 || height < 3 ||
			    width > 20000 || height > 20000)
				return usage("not a size, such as 600x400:", argv[i]);
		} else if (strcmp(argv[i], "--steps") == 0 && i + 1 < argc) {
			if (sscanf(argv[++i], "%d%c", &steps, &rest) != 1 || steps < 0)
				return usage("not a number of steps:", argv[i]);
		} else if (argv[i][0] == '-') {
			return usage("unknown or incomplete option", argv[i]);
		} else {
			picture = argv[i];
		}
	}
	int bad = 0;
	if (rank == 0 && png_writable(picture) != 0) {
		fprintf(stderr, "heat: cannot write %s: %s\n", picture, strerror(errno));
		bad = 1;
	}
	MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD); /* all ranks end with the same status */
	if (bad) {
		MPI_Finalize();
		return 1;
	}

	/* The window memory: two copies of the band with its halo rows. Displacements count in doubles. */
	int rows = band_rows(rank);
	size_t one_copy = (size_t)(rows + 2) * width;
	double *copies[2];
	double *rate = malloc(((size_t)rows * width + 1) * sizeof *rate);
	MPI_Win win;
	MPI_Win_allocate((MPI_Aint)(2 * one_copy * sizeof(double)), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &copies[0], &win);
	int *model, found;
	MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found);
	if (!found || *model != MPI_WIN_UNIFIED) {
		fprintf(stderr, "heat: this MPI library's windows are not of the unified memory model\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	copies[1] = copies[0] + one_copy;
	memset(copies[0], 0, 2 * one_copy * sizeof(double));
	set_up(copies[0], copies[1], rate, band_begin(rank), rows);

	/* The ranks above and below this one, for post and start. */
	int list[2], n = 0;
	if (rank > 0 && rows > 0)
		list[n++] = rank - 1;
	if (rank + 1 < ranks && band_rows(rank + 1) > 0)
		list[n++] = rank + 1;
	MPI_Group all, neighbours;
	MPI_Win_get_group(win, &all);
	MPI_Group_incl(all, n, list, &neighbours);

	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	if (sync == FENCE)
		MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	if (sync == FLUSH) {
		MPI_Win_lock_all(MPI_MODE_NOCHECK, win); /* NOCHECK: no rank acquires an exclusive lock before
		                                          * unlock_all */
		MPI_Win_sync(win);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int step = 0; step < steps; step++) {
		exchange(win, neighbours, copies[step % 2], step % 2);
		compute(copies[step % 2], copies[1 - step % 2], rate, rows);
	}
	if (sync == FENCE)
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	if (sync == FLUSH)
		MPI_Win_unlock_all(win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win); /* makes the stored values visible to MPI_Get */
	MPI_Win_unlock(rank, win);
	MPI_Barrier(MPI_COMM_WORLD);
	double seconds = MPI_Wtime() - begin;

	if (rank == 0) {
		double *plate = malloc((size_t)width * (size_t)height * sizeof *plate), largest = 0;
		long different = collect(win, plate, &largest);
		printf("heat: %d x %d points, %d steps in %.2f s on %d ranks, synchronized by %s\n", width, height,
		       steps, seconds, ranks, sync_name[sync]);
		if (different > 0) {
			printf("WRONG: %ld points differ from the serial solution, by up to %g\n", different, largest);
			bad = 1;
		} else {
			printf("verified: all %ld points equal the serial solution\n", (long)width * height);
		}
		if (draw(plate) != 0) {
			fprintf(stderr, "heat: cannot write %s: %s\n", picture, strerror(errno));
			bad = 1;
		} else {
			printf("picture: %s\n", picture);
		}
		free(plate);
	}
	MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Group_free(&all);
	MPI_Group_free(&neighbours);
	MPI_Win_free(&win);
	free(rate);
	MPI_Finalize();
	return bad;
}
