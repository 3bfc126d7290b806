package main

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// Checks that a message without a receive is reported as a leak, but not if the receiver has lost records.
func TestCheckAfterLoss(t *testing.T) {
	record := func(name string, at uint64, inputs ...uint64) []uint64 {
		number := slices.IndexFunc(abi.Functions(), func(f *abi.Function) bool { return f.Name == name })
		words := append([]uint64{0, 0, at, at + 1, 0, 0}, inputs...)
		words[0] = uint64(number) | uint64(len(words))<<32
		return words
	}
	for _, lost := range []bool{false, true} {
		memory, err := insight.Create(2, insight.Records|insight.WaitForSpace, 0)
		require.NoError(t, err)
		defer memory.Close()
		l := &checkListener{}
		require.NoError(t, l.begin(&job{observation: &observation{memory: memory}}))
		require.NoError(t, l.record(0, record("MPI_Send", 1, 1<<20, 1, abi.MPI_INT, 1, 0, abi.MPI_COMM_WORLD)))
		if lost {
			part := make([]byte, 4096)
			binary.NativeEndian.PutUint64(part[insight.PartEssentialLost:], 1)
			require.NoError(t, memory.Rank(1).ApplyPage(0, part))
		}
		require.NoError(t, l.record(0, record("MPI_Finalize", 3)))
		require.NoError(t, l.record(1, record("MPI_Finalize", 3)))
		l.advanced(math.MaxInt64)
		require.Equal(t, lost, len(l.checker.Findings()) == 0, "%v", l.checker.Findings())
	}
}
