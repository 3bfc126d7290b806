// The topology of a communicator (MPI-5.0 8), as it was made: it does not change.
#ifndef GOMPI_TOPOLOGY_H
#define GOMPI_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

struct gompi_topology {
	int kind;                  // MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH; 0: none
	bool weighted;             // a distributed graph
	int sources, destinations; // neighbors of this process; in a grid the same, two for each dimension
	int n;                     // dimensions of a grid, nodes of a graph
	int edges;                 // of a graph, all of them
	// The ranks of the sources and of the destinations, MPI_PROC_NULL among them. Then of a grid the dimensions,
	// which of them are periodic, and where this process is; of a graph the indices and edges; of a distributed
	// graph with weights those of the sources and of the destinations.
	int32_t *ranks;
};

// Returns how many numbers there are at ranks.
static inline size_t gompi_topology_length(const struct gompi_topology *t) {
	size_t neighbors = (size_t)t->sources + (size_t)t->destinations, n = (size_t)t->n;
	switch (t->kind) {
	case MPI_CART:
		return neighbors + 3 * n;
	case MPI_GRAPH:
		return neighbors + n + (size_t)t->edges;
	default:
		return t->weighted ? 2 * neighbors : neighbors;
	}
}

#endif
