#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"

int gompi_ranks_find(const struct gompi_ranks *r, int process) {
	if (r->list != NULL) {
		for (int i = 0; i < r->n; i++)
			if (r->list[i] == process)
				return i;
		return -1;
	}
	if (r->n == 0)
		return -1;
	int distance = process - r->first;
	if (r->stride == 1)
		return (uint32_t)distance < (uint32_t)r->n ? distance : -1;
	if (distance % r->stride != 0)
		return -1;
	int i = distance / r->stride;
	return (uint32_t)i < (uint32_t)r->n ? i : -1;
}

int gompi_ranks_compare(const struct gompi_ranks *a, const struct gompi_ranks *b) {
	if (a->n != b->n)
		return MPI_UNEQUAL;
	if (a->list == NULL && b->list == NULL && a->first == b->first && (a->stride == b->stride || a->n <= 1))
		return MPI_IDENT;
	int result = MPI_IDENT;
	for (int i = 0; i < a->n; i++) {
		int process = gompi_ranks_at(a, i);
		if (gompi_ranks_at(b, i) == process)
			continue;
		result = MPI_SIMILAR;
		if (gompi_ranks_find(b, process) < 0)
			return MPI_UNEQUAL;
	}
	return result;
}

bool gompi_ranks_copy(struct gompi_ranks *to, const struct gompi_ranks *from) {
	int32_t *list = NULL;
	if (from->list != NULL) {
		size_t bytes = (size_t)from->n * sizeof *list;
		list = malloc(bytes);
		if (list == NULL)
			return false;
		memcpy(list, from->list, bytes);
	}
	free(to->list);
	*to = *from;
	to->list = list;
	return true;
}
