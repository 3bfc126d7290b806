/* Counts the instructions that the main thread of a program executes between signals SIGUSR2, by stepping it:
 *
 *     icount LOOPS PROGRAM [ARGUMENT...]
 *
 * The program marks two stretches, one of LOOPS and one of 2 * LOOPS of the same operation, with a signal before and
 * behind each; what is printed behind the fourth signal is the difference divided by LOOPS, so what the marks
 * themselves cost drops out. Where a call takes more than LIMIT instructions it is not stepped to its end, and "more"
 * is printed: one that should take a hundred may have gone to wait. Any number of operations may follow each other. A
 * process that raises no mark (another rank) runs at full speed and prints nothing. Needs nothing but ptrace of one's
 * own child: no counters of the processor, which virtual machines hide, and no emulation.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 6000 };

int main(int argc, char **argv) {
	long loops = argc > 2 ? atol(argv[1]) : 0;
	long counts[2] = {0, 0};
	int marks = 0, status;
	pid_t child;

	if (loops <= 0) {
		fprintf(stderr, "usage: icount LOOPS PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[2], argv + 2);
		fprintf(stderr, "icount: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child) {
		fprintf(stderr, "icount: cannot start %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	if (WIFSTOPPED(status) && ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL) != 0) {
		fprintf(stderr, "icount: ptrace: %s\n", strerror(errno));
		kill(child, SIGKILL);
		return 1;
	}
	while (WIFSTOPPED(status)) {
		int inside = marks == 1 ? counts[0] < LIMIT * loops : marks == 3 && counts[1] < 2 * LIMIT * loops;
		long deliver = WSTOPSIG(status);
		if (deliver == SIGTRAP) {
			deliver = 0;
			if (inside)
				counts[marks / 2]++;
		} else if (deliver == SIGUSR2) {
			deliver = 0;
			marks++;
			inside = marks == 1 || (marks == 3 && counts[0] < LIMIT * loops);
			if (marks == 4) {
				if (counts[0] < LIMIT * loops && counts[1] < 2 * LIMIT * loops)
					printf("%.1f\n", (double)(counts[1] - counts[0]) / loops);
				else
					puts("more");
				fflush(stdout);
				marks = counts[0] = counts[1] = 0;
			}
		}
		if (ptrace(inside ? PTRACE_SINGLESTEP : PTRACE_CONT, child, 0, deliver) != 0 ||
		    waitpid(child, &status, 0) != child)
			break;
	}
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
