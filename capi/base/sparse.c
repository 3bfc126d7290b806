#include "base/sparse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/node.h"

void *gompi_sparse_alloc(size_t bytes) {
	if (bytes < GOMPI_CACHE_LINE)
		return calloc(1, bytes);
	if (bytes < GOMPI_SPARSE_MMAP_MIN_BYTES) {
		size_t lines = (bytes + GOMPI_CACHE_LINE - 1) / GOMPI_CACHE_LINE * GOMPI_CACHE_LINE;
		void *p = aligned_alloc(GOMPI_CACHE_LINE, lines);
		return p == NULL ? NULL : memset(p, 0, lines);
	}
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_NOHUGEPAGE); // otherwise the first access would allocate 2 MiB
	return p;
}

void gompi_sparse_free(void *at, size_t bytes) {
	if (bytes < GOMPI_SPARSE_MMAP_MIN_BYTES)
		free(at);
	else if (at != NULL)
		munmap(at, bytes);
}
