/* Conversion of arrays whose elements differ between Fortran and C. */
#include "gompi_f.h"

int gompi_array_make_kept(struct gompi_array *a, MPI_Count n, size_t size) {
	if (n <= 0)
		n = 1; /* so that `data` is not NULL, which the MPI function might reject even for an empty array */
	if ((uint64_t)n > SIZE_MAX / size || !(a->heap = malloc((size_t)n * size)))
		return MPI_ERR_NO_MEM;
	a->data = a->heap;
	return MPI_SUCCESS;
}

int gompi_array_make(struct gompi_array *a, MPI_Count n, size_t size) {
	if (n > (MPI_Count)(sizeof a->small / size))
		return gompi_array_make_kept(a, n, size);
	a->data = a->small;
	return MPI_SUCCESS;
}

int gompi_ints_in(struct gompi_array *a, MPI_Count n, const integer *from) {
	int rc = gompi_array_make(a, n, sizeof(int));
	for (MPI_Count i = 0; !rc && i < n; i++)
		((int *)a->data)[i] = (int)from[i];
	return rc;
}

void gompi_ints_out(integer *to, MPI_Count n, const struct gompi_array *a) {
	for (MPI_Count i = 0; i < n; i++)
		to[i] = ((const int *)a->data)[i];
}

/* Counts the neighbors of this process in the communicator's topology. Sets *from to the number of neighbors from which
 * this process receives, and *to to the number of neighbors to which it sends. */
static int neighbors(MPI_Comm comm, int *from, int *to) {
	int kind = MPI_UNDEFINED, rank = 0, weighted, rc = PMPI_Topo_test(comm, &kind);
	if (rc)
		return rc;
	switch (kind) {
	case MPI_CART:
		rc = PMPI_Cartdim_get(comm, from);
		*to = *from *= 2;
		return rc;
	case MPI_GRAPH:
		rc = PMPI_Comm_rank(comm, &rank);
		if (!rc)
			rc = PMPI_Graph_neighbors_count(comm, rank, from);
		*to = *from;
		return rc;
	case MPI_DIST_GRAPH:
		return PMPI_Dist_graph_neighbors_count(comm, from, to, &weighted);
	}
	return MPI_SUCCESS; /* no topology: the MPI function reports the error */
}

int gompi_peer_types(struct gompi_array *a, MPI_Comm comm, bool neighbor, int which, bool ignored,
		     const integer *from) {
	int n[2] = {0, 0}, rc, inter = 0;
	if (ignored) {
		n[which] = 0;
	} else if (neighbor) {
		if ((rc = neighbors(comm, &n[1], &n[0])))
			return rc;
	} else {
		if ((rc = PMPI_Comm_test_inter(comm, &inter)) ||
		    (rc = inter ? PMPI_Comm_remote_size(comm, &n[which]) : PMPI_Comm_size(comm, &n[which])))
			return rc;
	}
	if ((rc = gompi_array_make_kept(a, n[which], sizeof(MPI_Datatype))))
		return rc;
	for (int i = 0; i < n[which]; i++)
		((MPI_Datatype *)a->data)[i] = datatype_in(from[i]);
	return MPI_SUCCESS;
}
