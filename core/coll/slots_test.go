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
			"rank 3 is in MPI_Reduce while this one is in MPI_Gather"},
		{"root", what(KindGather, 2, 8), ourPlan, abi.MPI_ERR_ROOT,
			"MPI_Gather: the root is 1 here and 2 at rank 3"},
		{"longer", what(KindGather, 1, 9), plan(9, 1), abi.MPI_ERR_TRUNCATE,
			"MPI_Gather: 8 bytes here and 9 at rank 3"},
		{"shorter", what(KindGather, 1, 7), plan(7, 1), abi.MPI_ERR_COUNT,
			"MPI_Gather: 8 bytes here and 7 at rank 3"},
		{"one length", what(KindGather, 1, 7), ourPlan, abi.MPI_ERR_COUNT,
			"MPI_Gather: 8 bytes here and 7 at rank 3"},
		{"elements", ours, plan(8, 2), abi.MPI_ERR_COUNT,
			"MPI_Gather: the elements at rank 3 have another size than here"},
	} {
		err := Mismatch(3, c.theirs, c.plan, ours, ourPlan)
		require.EqualError(t, err, c.text, c.name)
		require.Equal(t, c.class, mpierr.ClassOf(err), c.name)
	}
}
