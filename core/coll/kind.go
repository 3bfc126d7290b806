package coll

// Kind is the collective operation of a call. KindIdup stands for MPI_Comm_idup, which C runs as a nonblocking
// shared-memory collective.
type Kind uint8

const numKinds = KindIdup + 1

var kindNames = [numKinds]string{
	"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter",
	"MPI_Scatterv", "MPI_Allgather",
	"MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Scan", "MPI_Exscan",
	"MPI_Reduce_scatter", "MPI_Reduce_scatter_block",
	"MPI_Neighbor_allgather", "MPI_Neighbor_allgatherv", "MPI_Neighbor_alltoall", "MPI_Neighbor_alltoallv",
	"MPI_Neighbor_alltoallw", "MPI_Comm_idup",
}

// String returns the name of the MPI function: of the blocking one, or MPI_Comm_idup for KindIdup.
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "no collective"
}
