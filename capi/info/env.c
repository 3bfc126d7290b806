// What MPI_INFO_ENV and MPI_Info_create_env say of a process (MPI-5.0 11.2.1).
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "info/info.h"

enum { PAIRS = 6, MOST = MPI_MAX_INFO_VAL - 1 };

// Pairs as gompi_info_make takes them. A value that is too long for an info object is cut; one that is empty is left
// out.
struct env_text {
	char *text, *end;
	int n;
};

static void put_pair(struct env_text *t, const char *key, const char *value, size_t length) {
	if (length == 0)
		return;
	t->end = stpcpy(t->end, key) + 1;
	length = length < MOST ? length : MOST;
	t->end = (char *)mempcpy(t->end, value, length) + 1;
	t->end[-1] = 0;
	t->n++;
}

static void put_text(struct env_text *t, const char *key, const char *value) {
	if (value != NULL)
		put_pair(t, key, value, strlen(value));
}

// Writes the arguments with blanks in between to at most MOST bytes, and returns how many those are.
static size_t join(char *to, int argc, char *const argv[]) {
	size_t n = 0;
	for (int i = 0; i < argc && n < MOST; i++) {
		if (i > 0)
			to[n++] = ' ';
		size_t length = strlen(argv[i]), room = MOST - n;
		length = length < room ? length : room;
		memcpy(to + n, argv[i], length);
		n += length;
	}
	return n;
}

char *gompi_info_of_process(int argc, char *const argv[], int *n, size_t *bytes) {
	struct env_text t = {.text = malloc(PAIRS * (MPI_MAX_INFO_KEY + MPI_MAX_INFO_VAL))};
	char joined[MOST];
	struct utsname host;
	if (t.text == NULL)
		return NULL;
	t.end = t.text;
	if (argc > 0) {
		put_text(&t, "command", argv[0]);
		put_pair(&t, "argv", joined, join(joined, argc - 1, argv + 1));
	}
	const char *size = getenv("PMI_SIZE");
	if (size != NULL && atoi(size) > 0) {
		char number[16];
		snprintf(number, sizeof number, "%d", atoi(size));
		put_text(&t, "maxprocs", number);
	}
	if (uname(&host) == 0) {
		put_text(&t, "host", host.nodename);
#if defined(__x86_64__)
		put_text(&t, "arch", "amd64"); // Go's names
#elif defined(__aarch64__)
		put_text(&t, "arch", "arm64");
#else
		put_text(&t, "arch", host.machine);
#endif
	}
	char *wdir = get_current_dir_name();
	put_text(&t, "wdir", wdir);
	free(wdir);
	*n = t.n;
	*bytes = (size_t)(t.end - t.text);
	return t.text;
}

// Returns what /proc says of the arguments of this process, to be freed, each with a 0 behind it, and their length;
// NULL: nothing.
static char *command_line(size_t *bytes) {
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char *all = NULL;
	size_t n = 0, room = 4096;
	ssize_t got = fd < 0 ? 0 : 1;
	while (got > 0) {
		char *more = realloc(all, room + 1);
		if (more == NULL)
			break;
		all = more;
		got = read(fd, all + n, room - n);
		n += got > 0 ? (size_t)got : 0;
		room = n == room ? 2 * room : room;
	}
	if (fd >= 0)
		close(fd);
	if (all != NULL)
		all[n] = 0;
	*bytes = n;
	return all;
}

char *gompi_info_of_this_process(int *n, size_t *bytes) {
	size_t length;
	char *line = command_line(&length), **argv = NULL;
	int argc = 0;
	for (size_t i = 0; line != NULL && i < length; i += strlen(line + i) + 1)
		argc++;
	if (argc > 0 && (argv = malloc((size_t)argc * sizeof *argv)) == NULL)
		argc = 0;
	size_t at = 0;
	for (int i = 0; i < argc; i++, at += strlen(line + at) + 1)
		argv[i] = line + at;
	char *pairs = gompi_info_of_process(argc, argv, n, bytes);
	free(argv);
	free(line);
	return pairs;
}
