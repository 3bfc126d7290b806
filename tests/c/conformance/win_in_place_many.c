/* Proves: windows whose memory is shared in place (gompirma_share_in_place) do not leak. Neither memory nor mappings
 *   grow when a thousand windows are created and freed. Hundreds of windows may exist at once, and be freed in any
 *   order. MPI-5.0 12.2.1
 * np: 1 4
 * ref: none (hundreds of windows at once are too many for MPICH)
 * timeout: 90
 */
#include "../in_place.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the number of blocks of 512 bytes in the memfds of this process. */
static long blocks(void) {
	long n = 0;
	DIR *d = opendir("/proc/self/fd");
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		char path[300], to[300];
		struct stat s;
		snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
		ssize_t k = readlink(path, to, sizeof to - 1);
		if (k > 0 && (to[k] = 0, strstr(to, "memfd") != NULL) && stat(path, &s) == 0)
			n += (long)s.st_blocks;
	}
	if (d != NULL)
		closedir(d);
	return n;
}

static long counted[2]; /* [0]: blocks of memfds, [1]: mappings, after the first windows */

static void count(long *to) {
	int mappings;
	MPI_Barrier(MPI_COMM_WORLD);
	to[0] = blocks();
	in_place_mode(NULL, &mappings);
	to[1] = mappings;
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	enum { CYCLES = 500, SIZE = 8 * PAGE + 100, MANY = 200 };
	unsigned char *mem = malloc(SIZE), *many = malloc(MANY * SIZE);
	long after[2];
	int mates; /* number of ranks on this node, including this rank */
	MPI_Comm node;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &mates);
	MPI_Comm_free(&node);
	for (int cycle = 0; cycle < 2 * CYCLES + 20; cycle++) {
		MPI_Win win = in_place_window(mem, SIZE, 1);
		if (cycle % 100 == 0) {
			CHECK_SHARED(win, "true");
			MPI_Win_fence(0, win);
			MPI_Put(&cycle, 1, MPI_INT, (check_rank + 1) % check_size, 5000, 1, MPI_INT, win);
			MPI_Win_fence(0, win);
		}
		MPI_Win_free(&win);
		if (cycle == 19)
			count(counted);
	}
	count(after);
	/* Allows 64 KiB and a few mappings for other activities of the process. */
	CHECK(after[0] <= counted[0] + 128, "the library's memory has grown from %ld to %ld blocks", counted[0],
	      after[0]);
	CHECK(after[1] <= counted[1] + 50, "%ld mappings have become %ld", counted[1], after[1]);

	MPI_Win win[MANY];
	memset(many, 0, MANY * SIZE);
	for (int time = 0; time < 2; time++) {
		for (int i = 0; i < MANY; i++)
			win[i] = in_place_window(many + i * SIZE, SIZE, 1);
		for (int i = 0; i < MANY; i++) {
			int value = i * 10 + check_rank;
			MPI_Win_fence(0, win[i]);
			for (int at = 0; at + 4 <= SIZE; at += 1000)
				MPI_Put(&value, 1, MPI_INT, (check_rank + 1) % check_size, at, 1, MPI_INT, win[i]);
			MPI_Win_fence(0, win[i]);
		}
		long during[2];
		int shared = in_place_told(win[0]) != NULL;
		count(during);
		for (int i = 0; i < MANY; i++)
			MPI_Win_free(&win[i * 77 % MANY]);
		count(after);
		if (shared) /* each window has 7 or 8 whole pages */
			CHECK(during[0] - after[0] >= (long)mates * MANY * 7 * (PAGE / 512),
			      "%ld blocks with the windows, %ld without", during[0], after[0]);
		for (int i = 0; i < MANY; i++)
			for (int at = 0; at + 4 <= SIZE; at += 1000) {
				int got;
				memcpy(&got, many + i * SIZE + at, 4);
				CHECK(got == i * 10 + (check_rank + check_size - 1) % check_size,
				      "window %d, byte %d: %d", i, at, got);
			}
		if (time == 0) /* the first round has allocated rings and tables; later rounds must not */
			count(counted);
	}
	count(after);
	CHECK(after[0] <= counted[0] + 128, "the library's memory has grown from %ld to %ld blocks", counted[0],
	      after[0]);
	CHECK(after[1] <= counted[1] + 50, "%ld mappings have become %ld", counted[1], after[1]);
	free(many);
	free(mem);
	return check_end();
}
