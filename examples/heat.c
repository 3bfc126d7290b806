/* heat: a two-dimensional heat equation with halo exchange by MPI_Put.
 *
 * The plate is cut into bands of rows, one band for each rank. A rank keeps one more row above and below its band, the
 * halo: copies of its neighbours' edge rows. In each step every rank puts its first and its last row into its
 * neighbours' halos, and then computes the new temperatures of its band from the old ones. There are two copies of the
 * band, old and new, that change roles in each step: so a neighbour that is one step ahead writes into the halo of the
 * other copy, and one synchronization a step is enough. (While I store into my band others put into its halo: different
 * places of one window, as windows of the unified memory model allow.)
 *
 *     gompirun -n 4 heat [fence|pscw|flush] [PICTURE] [--size WIDTHxHEIGHT] [--steps N]
 *
 * The synchronization is chosen by the first argument:
 *   fence   MPI_Win_fence: all ranks together. The simplest.
 *   pscw    MPI_Win_post, start, complete, wait: each rank with its neighbours only.
 *   flush   MPI_Win_lock_all once; MPI_Win_flush when the puts must be done; a barrier to tell the others.
 *
 * In the end rank 0 gets all bands with MPI_Get, computes the whole plate alone, and compares: not one bit may differ.
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

/* Bands: the first height % ranks bands have one row more; with more ranks than rows the last ones have none. */
static int band_rows(int r) { return height / ranks + (r < height % ranks); }

static int band_begin(int r) { return r * (height / ranks) + (r < height % ranks ? r : height % ranks); }

/* Returns the initial temperature of a point: hot and cold bodies of several shapes, and a cold edge. Sets *fixed to 1
 * where the temperature never changes, else to 0. */
static double at_first(int x, int y, int *fixed) {
	double u = (x + 0.5) / width, v = (y + 0.5) / height, aspect = (double)width / height;
	double hot_x = (u - 0.3) * aspect, hot_y = v - 0.42, ring = sqrt(hot_x * hot_x + hot_y * hot_y);
	*fixed = 1;
	if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
		return 0;
	if (ring > 0.2 && ring < 0.225 && !(hot_x > 0.05 && fabs(hot_y) < 0.07))
		return 1; /* a hot ring with a gap */
	if (ring < 0.04)
		return 0; /* and something cold inside */
	if (u > 0.62 && u < 0.64 && v > 0.15 && v < 0.8)
		return 1; /* a hot rod */
	if (fabs(v - 0.3) < 0.012 && u > 0.72 && u < 0.93)
		return 0; /* cold bars */
	if (fabs(v - 0.6) < 0.012 && u > 0.72 && u < 0.93)
		return 0.9; /* and a warm one */
	if ((u - 0.8) * (u - 0.8) * aspect * aspect + (v - 0.83) * (v - 0.83) < 0.0025)
		return 1;
	*fixed = 0;
	return 0.15;
}

/* Computes one step for `rows` rows. The copies old and new each have a halo row above and below. The rate of a point
 * says how fast it approaches its neighbours' temperature. It is 0 where the temperature is fixed. All points of the
 * plate's edge are fixed, so it does no harm that here[x - 1] or here[x + 1] may lie in another row. */
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

/* Puts my edge rows into the halos of my neighbours, and comes back when theirs are in mine. copy is 0 or 1: which of
 * the two copies. A window is [copy][row][x] with rows + 2 rows, row 0 being the upper halo. */
static void exchange(MPI_Win win, MPI_Group neighbours, const double *mine, int copy) {
	int rows = band_rows(rank), up = rank - 1,
	    down = rank + 1 < ranks && band_rows(rank + 1) > 0 ? rank + 1 : MPI_PROC_NULL;
	if (up < 0 || rows == 0)
		up = MPI_PROC_NULL; /* an operation on MPI_PROC_NULL does nothing */
	if (rows == 0)
		down = MPI_PROC_NULL;
	if (sync == PSCW) {
		MPI_Win_post(neighbours, 0, win);  /* my halo may be written */
		MPI_Win_start(neighbours, 0, win); /* and may I write theirs? */
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
		MPI_Win_complete(win); /* my puts are on their way */
		MPI_Win_wait(win);     /* theirs have arrived */
		break;
	case FLUSH:
		MPI_Win_flush_all(win);      /* my puts are done in their memory */
		MPI_Barrier(MPI_COMM_WORLD); /* and everybody knows */
		MPI_Win_sync(win);
		break;
	}
}

/* Writes the picture: dark blue is 0, then violet, red, orange, yellow, white for 1, with thin lines of equal
 * temperature. */
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
	     r++) { /* one shared lock after the other; the barrier before has made the bands final */
		int rows = band_rows(r);
		MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win);
		for (int y = 0; y < rows; y++)
			MPI_Get(plate + (size_t)(band_begin(r) + y) * width, width, MPI_DOUBLE, r,
				((MPI_Aint)copy * (rows + 2) + y + 1) * width, width, MPI_DOUBLE, win);
		MPI_Win_unlock(r, win); /* the gets are done */
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
			named = 1; /* the same as without --sync */
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
	MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD); /* all ranks end, and with the same status */
	if (bad) {
		MPI_Finalize();
		return 1;
	}

	/* My window: two copies of my band with its halos. Displacements count in doubles. */
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

	/* The ranks above and below me, for post and start. */
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
		MPI_Win_lock_all(MPI_MODE_NOCHECK, win); /* for all steps: nobody asks for an exclusive lock */
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
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win); /* what I stored may be got from now on */
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
