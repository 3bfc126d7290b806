package coll

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

func TestMismatch(t *testing.T) {
	what := func(k Kind, root, bytes uint64) uint64 { return uint64(k)<<56 | root<<32 | bytes }
	plan := func(bytes, elem uint64) uint64 { return bytes<<16 | elem }
	ours, ourPlan := what(KindGather, 1, 8), plan(8, 1)
	for _, c := range []struct {
		name         string
		theirs, plan uint64
		class        int32
		text         string
	}{
		{"kind", what(KindReduce, 1, 8), ourPlan, abi.MPI_ERR_OTHER,
			"rank 3 called MPI_Reduce instead"},
		{"kind of the library's own calls", what(KindAllgather, 0, 8), ourPlan, abi.MPI_ERR_OTHER, "rank 3 " +
			"called " +
			"MPI_Allgather, or a function that uses it such as MPI_Win_create or MPI_Comm_dup, instead"},
		{"root", what(KindGather, 2, 8), ourPlan, abi.MPI_ERR_ROOT,
			"the root is 1 on this process, but 2 on rank 3"},
		{"longer", what(KindGather, 1, 9), plan(9, 1), abi.MPI_ERR_TRUNCATE,
			"this process passes 8 bytes, but rank 3 passes 9"},
		{"shorter", what(KindGather, 1, 7), plan(7, 1), abi.MPI_ERR_COUNT,
			"this process passes 8 bytes, but rank 3 passes 7"},
		{"one length", what(KindGather, 1, 7), ourPlan, abi.MPI_ERR_COUNT,
			"this process passes 8 bytes, but rank 3 passes 7"},
		{"elements", ours, plan(8, 2), abi.MPI_ERR_COUNT,
			"the datatype of rank 3 has elements of a different size than the datatype of this process"},
	} {
		err := Mismatch(3, c.theirs, c.plan, ours, ourPlan)
		require.EqualError(t, err, c.text, c.name)
		require.Equal(t, c.class, mpierr.ClassOf(err), c.name)
	}
}
