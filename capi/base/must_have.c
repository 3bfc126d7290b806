#include "base/must_have.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void gompi_no_memory(size_t bytes) {
	char line[100];
	int n = snprintf(line, sizeof line, "gompirma: no memory for a message (%zu bytes)\n", bytes);
	if (write(2, line, (size_t)n) < 0) {
		// nobody to tell
	}
	abort();
}

void *gompi_must_have(size_t bytes) {
	void *p = calloc(1, bytes);
	if (p == NULL)
		gompi_no_memory(bytes);
	return p;
}
