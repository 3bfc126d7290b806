#define _GNU_SOURCE
#include "net/library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int saved_signals[GOMPI_LIBRARY_SIGNALS] = {SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGTERM};

void gompi_library_start_begin(struct gompi_library_start *s, const struct gompi_library_setting *settings, int count) {
	s->settings = settings;
	s->count = count;
	for (int i = 0; i < GOMPI_LIBRARY_SIGNALS; i++)
		sigaction(saved_signals[i], NULL, &s->saved[i]);
	for (int i = 0; i < count; i++) {
		s->is_set_here[i] = getenv(settings[i].name) == NULL;
		if (s->is_set_here[i])
			setenv(settings[i].name, settings[i].value, 0);
	}
}

void gompi_library_start_end(const struct gompi_library_start *s) {
	for (int i = 0; i < s->count; i++)
		if (s->is_set_here[i])
			unsetenv(s->settings[i].name);
	for (int i = 0; i < GOMPI_LIBRARY_SIGNALS; i++)
		sigaction(saved_signals[i], &s->saved[i], NULL);
}

void *gompi_library_load(const char *name, const struct gompi_library_setting *settings, int count,
			 const char **error) {
	struct gompi_library_start start;
	gompi_library_start_begin(&start, settings, count);
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	*error = library == NULL ? dlerror() : NULL;
	gompi_library_start_end(&start);
	return library;
}

bool gompi_has_network_device(const char *const *classes, size_t count) {
	for (size_t i = 0; i < count; i++) {
		char path[64];
		snprintf(path, sizeof path, "/sys/class/%s", classes[i]);
		DIR *d = opendir(path);
		const struct dirent *e = NULL;
		while (d != NULL && (e = readdir(d)) != NULL &&
		       (e->d_name[0] == '.' || strcmp(e->d_name, "abi_version") == 0)) {
		}
		if (d != NULL)
			closedir(d);
		if (e != NULL)
			return true;
	}
	return false;
}
