/* Proves: a child of fork() sees the window's memory as it was at the fork, even if parent and origins store
 *   afterwards. No other process sees the child's stores, and its exit changes nothing. Ordinary memory behaves like
 *   this. So must memory that the library shares in place (gompirma_share_in_place), also on the stack. MPI-5.0 12.2.1
 * np: 2 3
 * ref: none (some networks of other libraries forbid fork)
 * timeout: 60
 */
#include "../in_place.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 6 * PAGE };

static int write_all(int fd) { return write(fd, "x", 1) == 1; }
static int wait_for(int fd) {
	char c;
	return read(fd, &c, 1) == 1;
}

/* Tests a child of fork with the window memory `mem` and the memory `other` of another window. Both must be private to
 * the child. */
static void one(unsigned char *mem, unsigned char *other, MPI_Win win) {
	int right = (check_rank + 1) % check_size, to_child[2], to_parent[2], status;
	unsigned char *buffer = malloc(SIZE);
	in_place_fill(mem, SIZE, check_rank, 1);
	in_place_fill(other, SIZE, check_rank, 2);
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0, "no pipe");
	fflush(NULL);
	pid_t child = fork();
	if (child != 0) {
		memset(mem, 0xee, SIZE); /* the parent stores immediately after the fork */
	} else {
		int wrong = 0;
		for (int time = 0; time < 2; time++) { /* now, and after the parent and the origins have stored */
			for (size_t i = 0; i < SIZE; i++)
				wrong += (mem[i] != in_place_byte(check_rank, i, 1)) +
					 (other[i] != in_place_byte(check_rank, i, 2));
			if (time == 0 && (!write_all(to_parent[1]) || !wait_for(to_child[0])))
				_exit(3);
		}
		memset(mem, 0xff, SIZE);
		memset(other, 0xff, SIZE);
		if (!write_all(to_parent[1]) || !wait_for(to_child[0]))
			_exit(4);
		for (size_t i = 0; i < SIZE; i++)
			wrong += mem[i] != 0xff;
		_exit(wrong != 0);
	}
	CHECK(child > 0, "no child");
	CHECK(wait_for(to_parent[0]), "the child is gone");
	MPI_Barrier(MPI_COMM_WORLD);
	in_place_fill(buffer, SIZE, right, 3);
	MPI_Win_fence(0, win);
	MPI_Put(buffer, SIZE, MPI_BYTE, right, 0, SIZE, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	CHECK(write_all(to_child[1]), "no pipe");
	CHECK(wait_for(to_parent[0]), "the child is gone");
	CHECK_FILLED(mem, SIZE, check_rank, 3, "the parent's memory after the child's stores");
	CHECK_FILLED(other, SIZE, check_rank, 2, "other memory of the parent after the child's stores");
	CHECK(write_all(to_child[1]), "no pipe");
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the child found wrong bytes: status %#x",
	      (unsigned)status);
	CHECK_FILLED(mem, SIZE, check_rank, 3, "the parent's memory after the child's end");
	in_place_fill(buffer, SIZE, right, 4);
	MPI_Win_fence(0, win);
	MPI_Put(buffer, SIZE, MPI_BYTE, right, 0, SIZE, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	CHECK_FILLED(mem, SIZE, check_rank, 4, "put after the child's end");
	for (int i = 0; i < 2; i++) {
		close(to_child[i]);
		close(to_parent[i]);
	}
	free(buffer);
}

/* Runs a child that ends by exit(), which calls all exit handlers of the library. */
static void end_of_child(unsigned char *mem, MPI_Win win) {
	int status;
	in_place_fill(mem, SIZE, check_rank, 5);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		memset(mem, 1, SIZE);
		exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0, "status %#x", (unsigned)status);
	CHECK_FILLED(mem, SIZE, check_rank, 5, "after exit() of a child");
	CHECK(system("exit 0") == 0, "system() failed");
	CHECK_FILLED(mem, SIZE, check_rank, 5, "after system()");
	MPI_Win_fence(0, win);
	MPI_Win_fence(0, win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	unsigned char *heap = malloc(SIZE), stack[SIZE];
	MPI_Win a = in_place_window(heap, SIZE, 1), b = in_place_window(stack, SIZE, 1);
	CHECK_SHARED(a, "true");
	CHECK_SHARED(b, "true");
	one(heap, stack, a);
	one(stack, heap, b);
	end_of_child(heap, a);
	MPI_Win_free(&a);
	one(stack, heap, b); /* the stack memory is still shared, the heap memory is not */
	MPI_Win_free(&b);
	CHECK_FILLED(heap, SIZE, check_rank, 2, "at the end");
	CHECK_FILLED(stack, SIZE, check_rank, 4, "at the end");
	free(heap);
	return check_end();
}
