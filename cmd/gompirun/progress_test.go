package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/shm"
)

// TestProgressText checks the line of --progress.
func TestProgressText(t *testing.T) {
	wait := func(call string) rankState { return rankState{blocked: 1, waits: []shm.Waiting{{Call: call}}} }
	p := snapshot{{}, {blocked: 1}, wait("MPI_Recv"), wait("MPI_Barrier"), wait("MPI_Barrier"),
		{text: "has not called MPI_Init"}, {text: "has called MPI_Finalize", finalized: true},
		{text: "has ended", ended: true}, {unrecorded: 1}}
	require.Equal(t, "progress: 7 s, 9 ranks: 1 computing, 5 waiting in MPI (2 MPI_Barrier, 1 MPI_Recv), "+
		"1 before MPI_Init, 1 after MPI_Finalize, 1 ended", progressText(p, 7900*time.Millisecond))
	require.Equal(t, "progress: 12:07, 1 rank: 1 computing", progressText(snapshot{{}}, 727*time.Second))
	require.Equal(t, "progress: 1:02:07, 1 rank: 1 waiting in MPI",
		progressText(snapshot{{blocked: 1}}, 3727*time.Second))
	require.Equal(t, " (1 A, 1 B, 1 C, ...)", callsText(map[string]int{"D": 1, "C": 1, "B": 1, "A": 1}))
}
