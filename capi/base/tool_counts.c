#include "base/tool_counts.h"

#include <stdlib.h>

struct gompi_tool_counts *gompi_tool_counts_acquire(struct gompi_tool_counts *_Atomic *owner, size_t bytes) {
	struct gompi_tool_counts *c = gompi_load(owner);
	if (c == NULL) {
		if ((c = calloc(1, bytes)) == NULL)
			return NULL;
		gompi_store(&c->references, 1); // the object's
		gompi_store_release(owner, c);  // pairs with the acquire loads of the functions that count
	}
	gompi_add(&c->references, 1);
	return c;
}

void gompi_tool_counts_release(struct gompi_tool_counts *counts) {
	if (counts != NULL && gompi_sub_seq_cst(&counts->references, 1) == 1)
		free(counts);
}
