// Values of MPI_INFO_ENV and MPI_Info_create_env for this process (MPI-5.0 11.2.1).
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "info/env.h"

size_t gompi_env_join(char *to, int argc, char *const argv[]) {
	enum { MAX_LENGTH = MPI_MAX_INFO_VAL - 1 };
	size_t n = 0;
	for (int i = 0; i < argc && n < MAX_LENGTH; i++) {
		if (i > 0)
			to[n++] = ' ';
		size_t length = strlen(argv[i]), space = MAX_LENGTH - n;
		length = length < space ? length : space;
		memcpy(to + n, argv[i], length);
		n += length;
	}
	to[n] = 0;
	return n;
}

void gompi_env_read(struct gompi_env_values *p) {
	const char *size = getenv("PMI_SIZE");
	struct utsname host;
	*p = (struct gompi_env_values){.wdir = get_current_dir_name()};
	if (size != NULL && atoi(size) > 0)
		snprintf(p->maxprocs, sizeof p->maxprocs, "%d", atoi(size));
	if (uname(&host) != 0)
		return;
	snprintf(p->host, sizeof p->host, "%s", host.nodename);
#if defined(__x86_64__)
	strcpy(p->arch, "amd64"); // the names that Go uses
#elif defined(__aarch64__)
	strcpy(p->arch, "arm64");
#else
	snprintf(p->arch, sizeof p->arch, "%s", host.machine);
#endif
}

// Returns the arguments of this process from /proc, each terminated by a 0, and stores their total length. The caller
// frees the text. Returns NULL if they are not available.
static char *read_command_line(size_t *bytes) {
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char *all = NULL;
	size_t n = 0, capacity = 4096;
	ssize_t received = fd < 0 ? 0 : 1;
	while (received > 0) {
		char *larger = realloc(all, capacity + 1);
		if (larger == NULL)
			break;
		all = larger;
		received = read(fd, all + n, capacity - n);
		n += received > 0 ? (size_t)received : 0;
		capacity = n == capacity ? 2 * capacity : capacity;
	}
	if (fd >= 0)
		close(fd);
	if (all != NULL)
		all[n] = 0;
	*bytes = n;
	return all;
}

char **gompi_env_arguments(int *argc) {
	size_t length;
	char *line = read_command_line(&length), **argv;
	*argc = 0;
	for (size_t i = 0; line != NULL && i < length; i += strlen(line + i) + 1)
		++*argc;
	if (*argc == 0 || (argv = malloc((size_t)*argc * sizeof *argv)) == NULL) {
		*argc = 0;
		free(line);
		return NULL;
	}
	size_t at = 0;
	for (int i = 0; i < *argc; i++, at += strlen(line + at) + 1)
		argv[i] = line + at;
	return argv;
}
