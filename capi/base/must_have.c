#include "base/must_have.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/order.h"

enum { RESERVE = 256 << 10 }; // bytes; never written to

static void *_Atomic reserve;

bool gompi_memory_is_low(void) {
	void *none = NULL, *mine;
	if (gompi_load(&reserve) != NULL)
		return false;
	if ((mine = malloc(RESERVE)) == NULL)
		return true;
	if (!gompi_change_once(&reserve, &none, mine))
		free(mine); // another thread was first
	return false;
}

void gompi_no_memory(size_t bytes) {
	char line[100];
	int n = snprintf(line, sizeof line, "gompirma: out of memory for a message (%zu bytes)\n", bytes);
	if (write(2, line, (size_t)n) < 0) {
		// there is no other way to report it
	}
	abort();
}

void *gompi_must_have(size_t bytes) {
	void *p = calloc(1, bytes);
	if (p == NULL) {
		free(gompi_swap_total(&reserve, NULL));
		p = calloc(1, bytes);
	}
	if (p == NULL)
		gompi_no_memory(bytes);
	return p;
}
