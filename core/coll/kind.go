package coll

// Kind is the collective operation of a call.
type Kind uint8

// The collectives.
const (
	KindBarrier Kind = iota
	KindBcast
	KindReduce
	KindAllreduce
	KindGather
	KindGatherv
	KindScatter
	KindScatterv
	KindAllgather
	KindAllgatherv
	KindAlltoall
	KindAlltoallv
	KindAlltoallw
	KindScan
	KindExscan
	KindReduceScatter
	KindReduceScatterBlock
	KindNeighborAllgather
	KindNeighborAllgatherv
	KindNeighborAlltoall
	KindNeighborAlltoallv
	KindNeighborAlltoallw
	KindIdup // in the nonblocking shared-memory collectives only
	numKinds
)

var kindNames = [numKinds]string{
	"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter",
	"MPI_Scatterv", "MPI_Allgather",
	"MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Scan", "MPI_Exscan",
	"MPI_Reduce_scatter", "MPI_Reduce_scatter_block",
	"MPI_Neighbor_allgather", "MPI_Neighbor_allgatherv", "MPI_Neighbor_alltoall", "MPI_Neighbor_alltoallv",
	"MPI_Neighbor_alltoallw", "MPI_Comm_idup",
}

// String returns the name of the blocking function.
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "no collective"
}
