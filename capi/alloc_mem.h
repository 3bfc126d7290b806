// Memory of MPI_Alloc_mem that has been freed and is kept.
#ifndef GOMPI_ALLOC_MEM_H
#define GOMPI_ALLOC_MEM_H

// The node's memory has gone, and with it what is kept of it.
__attribute__((visibility("hidden"))) void gompi_alloc_mem_forget(void);

#endif
