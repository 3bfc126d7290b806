/* Proves: before MPI_Win_free, the program may free, unmap, move or replace memory that is shared in place
 *   (gompirma_share_in_place), as long as no operation uses it. The library does not touch new memory at that address.
 *   A program that calls MPI_Finalize without MPI_Win_free keeps its memory. Even then the memory is private to
 *   children of fork(). MPI-5.0 12.2.1, 12.2.5
 * np: 1 2 3
 * args: free munmap replaced moved part finalize
 * ref: none (MPI allows a window's memory to go away only after MPI_Win_free)
 * timeout: 30
 */
#define _GNU_SOURCE
#include "../in_place.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 20 * PAGE };

static unsigned char *map(void *at) {
	unsigned char *p = mmap(at, SIZE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | (at != NULL ? MAP_FIXED : 0), -1, 0);
	CHECK(p != MAP_FAILED, "no memory");
	return p;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (int time = 0; time < 3; time++) {
		unsigned char *mem = strcmp(check_arg, "free") == 0 ? malloc(SIZE) : map(NULL), *other = mem;
		in_place_fill(mem, SIZE, check_rank, time);
		MPI_Win win = in_place_window(mem, SIZE, 1);
		CHECK_SHARED(win, "true");
		MPI_Win_fence(0, win);
		unsigned char x = 3;
		MPI_Put(&x, 1, MPI_BYTE, (check_rank + 1) % check_size, 5000, 1, MPI_BYTE, win);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
		CHECK(mem[5000] == 3, "put %d", mem[5000]);
		mem[5000] = in_place_byte(check_rank, 5000, time);
		if (strcmp(check_arg, "free") == 0) {
			free(mem);
			other = malloc(SIZE); /* perhaps at the same address */
			in_place_fill(other, SIZE, check_rank, time + 10);
		} else if (strcmp(check_arg, "munmap") == 0) {
			munmap(mem, SIZE);
		} else if (strcmp(check_arg, "replaced") == 0) {
			map(mem);
			in_place_fill(mem, SIZE, check_rank, time + 10);
		} else if (strcmp(check_arg, "moved") == 0) {
			other = mremap(mem, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, map(NULL));
			CHECK(other != MAP_FAILED && other != mem, "not moved");
			CHECK_FILLED(other, SIZE, check_rank, time, "moved");
		} else if (strcmp(check_arg, "part") == 0) {
			munmap(mem + 3 * PAGE, 4 * PAGE);
			mprotect(mem + 10 * PAGE, PAGE, PROT_READ);
		} else {
			int status;
			MPI_Finalize();
			CHECK_FILLED(mem, SIZE, check_rank, time, "after MPI_Finalize");
			pid_t child = fork();
			if (child == 0) {
				memset(mem, 0, SIZE);
				_exit(0);
			}
			CHECK(waitpid(child, &status, 0) == child && status == 0, "status %#x", (unsigned)status);
			CHECK_FILLED(mem, SIZE, check_rank, time, "after a child's end");
			if (check_rank == 0 && check_errors == 0)
				printf("PASS\n");
			return check_errors != 0;
		}
		MPI_Win_free(&win);
		if (strcmp(check_arg, "munmap") == 0) {
			CHECK(strcmp(in_place_mode(mem, NULL), "rw-s") != 0, "what was unmapped is shared");
		} else if (strcmp(check_arg, "part") == 0) {
			CHECK(strcmp(in_place_mode(mem + 10 * PAGE, NULL), "r--p") == 0, "protection %s",
			      in_place_mode(mem + 10 * PAGE, NULL));
			CHECK(strcmp(in_place_mode(mem + 9 * PAGE, NULL), "rw-p") == 0, "protection %s",
			      in_place_mode(mem + 9 * PAGE, NULL));
			for (int page = 0; page < SIZE / PAGE; page++)
				if (page < 3 || page >= 7)
					CHECK(mem[page * PAGE + 9] ==
						      in_place_byte(check_rank, (size_t)page * PAGE + 9, time),
					      "page %d", page);
			munmap(mem, SIZE);
		} else if (strcmp(check_arg, "moved") == 0) {
			CHECK_FILLED(other, SIZE, check_rank, time, "moved, and freed");
			CHECK(strcmp(in_place_mode(other, NULL), "rw-p") == 0, "mode %s", in_place_mode(other, NULL));
			in_place_fill(other, SIZE, check_rank, 9);
			munmap(other, SIZE);
		} else {
			CHECK_FILLED(other, SIZE, check_rank, time + 10, "what came to its place");
			if (strcmp(check_arg, "free") == 0)
				free(other);
			else
				munmap(other, SIZE);
		}
	}
	return check_end();
}
