// The topology of a communicator (MPI-5.0 8). It does not change after creation.
#ifndef GOMPI_TOPOLOGY_H
#define GOMPI_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

struct gompi_topology {
	int kind;                  // MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH; 0 if there is no topology
	bool weighted;             // a distributed graph with weights
	int sources, destinations; // numbers of neighbors of this process; in a grid, both are 2 * n
	int n;                     // in a grid: number of dimensions; in a graph: number of nodes
	int edges;                 // total number of edges of a graph
	// The ranks of the sources, then of the destinations, with MPI_PROC_NULL for missing neighbors. For a grid, the
	// dimensions, a periodic flag for each, and the coordinates of this process follow. For a graph, the indices
	// and the edges follow. For a weighted distributed graph, the weights of the sources and of the destinations
	// follow.
	int32_t *ranks;
};

// Returns the number of elements of t->ranks.
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
