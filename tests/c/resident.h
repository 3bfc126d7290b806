/* How much memory a process has of its own. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include <stdio.h>

/* Resident memory of this process that is its own, in bytes. */
static inline long resident(void) {
	char line[200];
	long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

#endif
