/* Proves: a window over memory that cannot be shared in place works like a window without gompirma_share_in_place, and
 *   the library reports the reason. With the value "require" the creation fails on all members and changes nothing. An
 *   invalid value is MPI_ERR_INFO_VALUE. MPI-5.0 12.2.1
 * np: 1 2 3
 * ref: mpich
 * timeout: 30
 */
#define _GNU_SOURCE
#include "../in_place.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 4 * PAGE };

static int writable;

static void window(unsigned char *mem, MPI_Aint size, const char *wanted) {
	int right = (check_rank + 1) % check_size;
	unsigned char *buffer = malloc(SIZE), *got = malloc(SIZE);
	MPI_Win win;
	const char *mode = strdup(in_place_mode(mem, NULL));
	if (writable)
		in_place_fill(mem, (size_t)size, check_rank, 1);
	win = in_place_window(mem, size, 1);
	const char *told = in_place_told(win);
	CHECK(told == NULL || (strncmp(told, "false: ", 7) == 0 && strstr(told, wanted) != NULL), "told '%s', not '%s'",
	      told, wanted);
	MPI_Win_fence(0, win);
	MPI_Get(got, (int)size, MPI_BYTE, right, 0, (int)size, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	CHECK_FILLED(got, (size_t)size, right, 1, wanted);
	if (writable) {
		in_place_fill(buffer, (size_t)size, right, 2);
		MPI_Put(buffer, (int)size, MPI_BYTE, right, 0, (int)size, MPI_BYTE, win);
		MPI_Win_fence(0, win);
		CHECK_FILLED(mem, (size_t)size, check_rank, 2, wanted);
		in_place_fill(mem, (size_t)size, check_rank, 1);
	}
	MPI_Win_free(&win);
	if (told != NULL) {
		CHECK_CLASS(in_place_try(mem, size, 1, "require", MPI_COMM_WORLD, &win), MPI_ERR_RMA_SHARED);
		/* only one member has memory that cannot be shared */
		void *good = aligned_alloc(PAGE, PAGE);
		int rc = in_place_try(check_rank == check_size - 1 ? mem : good,
				      check_rank == check_size - 1 ? size : PAGE, 1, "require", MPI_COMM_WORLD, &win);
		CHECK(check_class(rc) == MPI_ERR_RMA_SHARED, "class %d", check_class(rc));
		CHECK(strcmp(in_place_mode(good, NULL), "rw-p") == 0, "mode %s after a failure",
		      in_place_mode(good, NULL));
		free(good);
	}
	CHECK_FILLED(mem, (size_t)size, check_rank, 1, wanted);
	CHECK(strcmp(in_place_mode(mem, NULL), mode) == 0, "%s: mode %s has become %s", wanted, mode,
	      in_place_mode(mem, NULL));
	free((void *)mode);
	free(buffer);
	free(got);
}

static unsigned char *map(int flags, int fd) {
	unsigned char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
	CHECK(p != MAP_FAILED, "no memory");
	return p;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Win win;
	unsigned char *mem = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);

	writable = 1;
	window(mem, PAGE - 1, "do not contain a whole page");
	window(mem + 16, PAGE, "do not contain a whole page");
	munmap(mem, SIZE);

	mem = map(MAP_SHARED | MAP_ANONYMOUS, -1);
	window(mem, SIZE, "shared");
	munmap(mem, SIZE);

	FILE *file = tmpfile();
	CHECK(ftruncate(fileno(file), SIZE) == 0, "no file");
	mem = map(MAP_SHARED, fileno(file));
	window(mem, SIZE, "shared");
	munmap(mem, SIZE);
	fclose(file);

	mem = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (madvise(mem + PAGE, PAGE, MADV_DONTFORK) == 0)
		window(mem, SIZE, "MADV_DONTFORK");
	madvise(mem + PAGE, PAGE, MADV_DOFORK);
	if (mlock(mem + 2 * PAGE, PAGE) == 0) {
		window(mem, SIZE, "mlock");
		munlock(mem + 2 * PAGE, PAGE);
	}
	in_place_fill(mem, SIZE, check_rank, 1);
	mprotect(mem, SIZE, PROT_READ);
	writable = 0;
	window(mem, SIZE, "must be readable, writable and not executable");
	munmap(mem, SIZE);

	/* refused: another window that is not shared covers the same memory, and may be in use */
	writable = 1;
	mem = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	MPI_Win first;
	CHECK_OK(in_place_try(mem, SIZE, 1, "false", MPI_COMM_WORLD, &first));
	CHECK(in_place_told(first) == NULL, "told %s though not asked", in_place_told(first));
	window(mem, SIZE, "a window or attached region");
	MPI_Win_free(&first);

	/* the window is freed: nothing prevents sharing now */
	CHECK_OK(in_place_try(mem, SIZE, 1, "require", MPI_COMM_WORLD, &win));
	const char *told = in_place_told(win);
	CHECK(told == NULL || strcmp(told, "true") == 0, "told %s", told);
	MPI_Win_free(&win);
	if (told != NULL) {
		CHECK_CLASS(in_place_try(mem, SIZE, 1, "perhaps", MPI_COMM_WORLD, &win), MPI_ERR_INFO_VALUE);
		/* members may request different values */
		CHECK_OK(in_place_try(mem, SIZE, 1, check_rank == 0 ? "true" : "false", MPI_COMM_WORLD, &win));
		told = in_place_told(win);
		CHECK(check_rank == 0 ? strcmp(told, "true") == 0 : told == NULL, "told %s", told);
		MPI_Win_free(&win);
	}
	/* the advice to the system (madvise) is restored after the window */
	madvise(mem, SIZE, MADV_HUGEPAGE);
	CHECK_OK(in_place_try(mem, SIZE, 1, "require", MPI_COMM_WORLD, &win));
	MPI_Win_free(&win);
	char line[512];
	int inside = 0, advised = 0;
	FILE *smaps = fopen("/proc/self/smaps", "r");
	while (smaps != NULL && fgets(line, sizeof line, smaps) != NULL) {
		unsigned long lo, hi;
		if (sscanf(line, "%lx-%lx ", &lo, &hi) == 2)
			inside = lo <= (unsigned long)mem && (unsigned long)mem < hi;
		else if (inside && strncmp(line, "VmFlags:", 8) == 0)
			advised = strstr(line, " hg") != NULL;
	}
	if (smaps != NULL)
		fclose(smaps);
	CHECK(advised, "MADV_HUGEPAGE is forgotten");
	munmap(mem, SIZE);
	return check_end();
}
