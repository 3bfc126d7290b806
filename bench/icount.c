/* Counts the instructions that the main thread of a program executes between SIGUSR2 signals, by single-stepping the
 * thread:
 *
 *     icount LOOPS PROGRAM [ARGUMENT...]
 *
 * The program runs two loops of the same operation, of LOOPS and of 2 * LOOPS iterations, and raises the signal before
 * and after each loop. After the fourth signal icount prints the difference of the two counts divided by LOOPS, so that
 * the cost of the signals cancels out. If a loop takes more than LIMIT instructions per iteration, icount stops
 * stepping and prints "more": an operation that should take a hundred instructions may have blocked. The program may
 * repeat these loops for any number of operations. A process that raises no signal, such as another rank, runs at full
 * speed, and icount prints nothing for it. icount needs only ptrace on its own child. It uses neither hardware
 * counters, which virtual machines hide, nor emulation. */
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
