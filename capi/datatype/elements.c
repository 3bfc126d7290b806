// Constructs types for updates of elements: from n elements of a predefined type, and from a type whose bytes become
// the elements.
#include <stdlib.h>
#include <string.h>

#include "datatype/datatype.h"
#include "datatype/program.h"

int64_t *gompi_type_of_elements(int64_t *words, const struct gompi_type *element, int64_t n, int64_t flags) {
	const int64_t block = GOMPI_TYPE_HEAD, list = block + 2, size = element->elem_size;
	*(struct gompi_type *)words = (struct gompi_type){.magic = element->magic,
							  .words = GOMPI_ELEMENTS_WORDS(n),
							  .flags = flags,
							  .elem = element->elem,
							  .elem_size = size,
							  .elements = n,
							  .size = n * element->size,
							  .depth = 1,
							  .segments = n,
							  .elem_root = list};
	words[block] = NODE_BLOCK;
	words[block + NODE_SIZE] = size;
	words[list] = NODE_LIST;
	words[list + NODE_SIZE] = n * size;
	words[list + NODE_N] = n;
	words[list + LIST_CHILD] = block;
	return words + list + LIST_DISP;
}

struct gompi_type *gompi_type_as_bytes(const struct gompi_type *t) {
	struct gompi_type *b = malloc((size_t)t->words * sizeof(int64_t));
	if (b == NULL)
		return NULL;
	memcpy(b, t, (size_t)t->words * sizeof(int64_t));
	b->elem = (int64_t)(uintptr_t)MPI_BYTE;
	b->elem_size = 1;
	b->elements = t->size;
	b->elem_origin = t->origin;
	b->elem_root = t->root;
	b->flags &= ~(int64_t)GOMPI_TYPE_ELEM_CONTIGUOUS;
	if (t->flags & GOMPI_TYPE_CONTIGUOUS)
		b->flags |= GOMPI_TYPE_ELEM_CONTIGUOUS;
	return b;
}
