// The cache of freed MPI_Alloc_mem memory.
#ifndef GOMPI_ALLOC_MEM_H
#define GOMPI_ALLOC_MEM_H

// Empties the cache without freeing the memory, which belonged to the node's previous shared memory segment.
__attribute__((visibility("hidden"))) void gompi_alloc_mem_reset_cache(void);

#endif
