/* Measures the private memory of this process. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include <stdio.h>

/* Returns the private (anonymous) resident memory of this process in bytes. */
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
