/* Reported (open-mpi/ompi issue 7394): an interrupted job left its shared memory in /dev/shm.
 * Must hold: a job leaves no file in these directories, whenever and however it ends. So while windows of all kinds and
 * messages are in use, no file in /dev/shm, /tmp or TMPDIR may be mapped as shared memory or open.
 * np: 1 2 4
 * ref: mpich (Open MPI 4.1.4 maps files in /dev/shm)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <sys/stat.h>
#include <unistd.h>

/* Returns true if path is a file that would remain in /dev/shm, /tmp or TMPDIR if all processes were killed now. */
static int stays(const char *path) {
	struct stat s;
	const char *tmp = getenv("TMPDIR");
	if (strncmp(path, "/dev/shm/", 9) != 0 && strncmp(path, "/tmp/", 5) != 0 &&
	    !(tmp && *tmp && strncmp(path, tmp, strlen(tmp)) == 0))
		return 0;
	return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static void look(const char *when) {
	char line[1000], self[400] = "", link[100], path[600];
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		self[0] = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps)) {
		char *at = strchr(line, '/'), *shared = strchr(line, ' ');
		if (!at || !shared || shared[4] != 's') /* skips private mappings, such as those of libraries */
			continue;
		at[strcspn(at, "\n")] = 0;
		CHECK(strcmp(at, self) == 0 || !stays(at), "%s: %s is mapped", when, at);
	}
	if (maps)
		fclose(maps);
	for (int fd = 3; fd < 1000; fd++) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		ssize_t n = readlink(link, path, sizeof path - 1);
		if (n <= 0)
			continue;
		path[n] = 0;
		int inherited = strstr(path, "ctest") || strstr(path, "LastTest"); /* a file of ctest */
		CHECK(inherited || !stays(path), "%s: %s is open", when, path);
	}
}

static void body(struct window *w) {
	int value = w->rank, got = -1, right = (w->rank + 1) % w->n;
	MPI_Win_fence(0, w->win);
	MPI_Accumulate(&value, 1, MPI_INT, right, window_at(w, right, 0), 1, MPI_INT, MPI_REPLACE, w->win);
	MPI_Win_fence(0, w->win);
	look(w->name);
	MPI_Get(&got, 1, MPI_INT, w->rank, window_at(w, w->rank, 0), 1, MPI_INT, w->win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
	CHECK(got == (w->rank + w->n - 1) % w->n, "%s: got %d", w->name, got);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	look("after MPI_Init");
	windows_each(4096, 4, MPI_COMM_WORLD, body);
	int n = 1 << 20, right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
	char *out = calloc(n, 1), *in = malloc(n);
	MPI_Sendrecv(out, n, MPI_BYTE, right, 0, in, n, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	look("after messages");
	free(out);
	free(in);
	return check_end();
}
