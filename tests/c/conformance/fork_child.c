/* Proves: a child process of fork that calls MPI ends with a message that names the call, before and after MPI_Init.
 *   The parent continues. A child may end by _exit, or start another program.
 * np: 2
 * ref: none (MPICH does not check the process)
 * timeout: 30
 */
#include "../check.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void initialize(void) { MPI_Init(NULL, NULL); }
static void duplicate(void) {
	MPI_Comm comm;
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
}
static void leave(void) { _exit(0); }
static void start_program(void) { execl("/bin/true", "true", (char *)NULL); }

/* Runs a function in a child process. Returns the status of the child, and what it wrote to standard error. */
static int in_child(void (*run)(void), char *text, size_t size) {
	const struct rlimit no_core = {0, 0};
	int ends[2], status = -1;
	if (pipe(ends) != 0)
		return -1;
	pid_t child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(ends[1], 2);
		run();
		_exit(7);
	}
	close(ends[1]);
	size_t n = 0;
	for (ssize_t k; n < size - 1 && (k = read(ends[0], text + n, size - 1 - n)) > 0;)
		n += (size_t)k;
	text[n] = 0;
	close(ends[0]);
	waitpid(child, &status, 0);
	return status;
}

static void check_refused(void (*run)(void), const char *call) {
	char text[1000], expected[100];
	int status = in_child(run, text, sizeof text);
	snprintf(expected, sizeof expected, "gompirma: %s was called in a child process of fork", call);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "the child ended with status %#x", status);
	CHECK(strstr(text, expected) == text, "the child wrote: %s", text);
}

static void check_permitted(void (*run)(void)) {
	char text[1000];
	int status = in_child(run, text, sizeof text);
	CHECK(status == 0 && text[0] == 0, "the child ended with status %#x and wrote: %s", status, text);
}

int main(int argc, char **argv) {
	check_refused(initialize, "MPI_Init"); /* the library may not have started yet */
	check_permitted(leave);
	check_begin(&argc, &argv);
	check_refused(duplicate, "MPI_Comm_dup");
	check_permitted(leave);
	check_permitted(start_program);
	MPI_Comm comm;
	CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	CHECK_OK(MPI_Comm_free(&comm));
	return check_end();
}
