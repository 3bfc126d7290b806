package datatype

import "gompirma/core/abi"

// function names the constructor, for messages.
func (a *args) function() string {
	name := map[int32]string{
		abi.MPI_COMBINER_DUP: "MPI_Type_dup", abi.MPI_COMBINER_CONTIGUOUS: "MPI_Type_contiguous", abi.MPI_COMBINER_VECTOR: "MPI_Type_vector",
		abi.MPI_COMBINER_HVECTOR: "MPI_Type_create_hvector", abi.MPI_COMBINER_INDEXED: "MPI_Type_indexed",
		abi.MPI_COMBINER_HINDEXED: "MPI_Type_create_hindexed", abi.MPI_COMBINER_INDEXED_BLOCK: "MPI_Type_create_indexed_block",
		abi.MPI_COMBINER_HINDEXED_BLOCK: "MPI_Type_create_hindexed_block", abi.MPI_COMBINER_STRUCT: "MPI_Type_create_struct",
		abi.MPI_COMBINER_SUBARRAY: "MPI_Type_create_subarray", abi.MPI_COMBINER_DARRAY: "MPI_Type_create_darray",
		abi.MPI_COMBINER_RESIZED: "MPI_Type_create_resized",
	}[a.combiner]
	if a.large {
		name += "_c"
	}
	return name
}
