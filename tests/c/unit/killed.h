/* Checks what other processes see if a process is killed after an instruction of a function: unit_each_instruction. */
#ifndef KILLED_H
#define KILLED_H

#include "unit.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Runs f in a child process, which becomes process `process` of the node. After each instruction of f, marks the child
 * as failed, calls check(n), where n counts the instructions, and undoes all changes of the `bytes` bytes of shared
 * memory at `shared`. So check finds the memory in the state in which a kill after this instruction leaves it. */
static void unit_each_instruction(void (*f)(void), int process, void (*check)(long n), void *shared, size_t bytes) {
	int status = 0;
	pid_t pid = fork();
	char *saved = malloc(bytes);
	if (pid < 0 || saved == NULL)
		abort();
	if (pid == 0) {
		gompi_node.self = gompi_node.local_index = process;
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0)
			abort();
		f();
		_exit(0);
	}
	for (long n = 0; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status); n++) {
		memcpy(saved, shared, bytes);
		gompi_store(&gompi_cell(process)->state, GOMPI_STATE_FAILED);
		gompi_store(&gompi_node_header()->failed_count, 1);
		check(n);
		gompi_store(&gompi_node_header()->failed_count, 0);
		gompi_store(&gompi_cell(process)->state, 0);
		memcpy(shared, saved, bytes);
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0)
			abort();
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x of the child", (unsigned)status);
	free(saved);
}

#endif
