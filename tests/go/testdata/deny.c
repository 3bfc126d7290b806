/* deny ERRNO CALL... -- COMMAND: starts a command for which the system calls with these numbers fail with ERRNO, as
 * under a container's seccomp profile. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 16 };

static const struct {
	const char *name;
	int number;
} calls[] = {{"memfd_create", SYS_memfd_create},
	     {"fallocate", SYS_fallocate},
	     {"shmget", SYS_shmget},
	     {"membarrier", SYS_membarrier},
	     {"getrandom", SYS_getrandom},
	     {"process_vm_readv", SYS_process_vm_readv},
	     {"process_vm_writev", SYS_process_vm_writev}};

static int number(const char *name) {
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	fprintf(stderr, "deny: which call is %s?\n", name);
	exit(2);
}

int main(int argc, char **argv) {
	struct sock_filter code[2 + 2 * MOST] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {1, code};
	int i = 2;
	for (; i < argc && i < 2 + MOST && strcmp(argv[i], "--") != 0; i++) {
		code[program.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number(argv[i]), 0, 1);
		code[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)atoi(argv[1]));
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (i + 1 >= argc) {
		fprintf(stderr, "usage: deny ERRNO CALL... -- COMMAND\n");
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("deny: seccomp");
		return 77;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 2;
}
