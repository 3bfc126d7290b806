package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/handle"
	"gompirma/core/shm"
)

func TestWaitingOfThreads(t *testing.T) {
	world := uint64(abi.MPI_COMM_WORLD)
	win := uint64(handle.Make(handle.Win, 1))
	receive := shm.Waiting{Call: "MPI_Recv", Peer: 3, Object: world}
	for _, c := range []struct {
		says string
		more int
		ws   []shm.Waiting
	}{
		{"ran outside MPI or did not wait", 0, nil},
		{"waited and 2 more", 2, nil},
		{"waited in MPI_Recv for rank 3", 0, []shm.Waiting{receive}},
		{"waited in MPI_Probe for any rank of MPI_COMM_WORLD, in MPI_Recv for rank 3 (2 threads)", 0,
			[]shm.Waiting{receive, {Call: "MPI_Probe", Peer: shm.PeersAny, Object: world}, receive}},
		{"waited in MPI_Win_fence for the ranks of window 0x20000001, and 1 more", 1,
			[]shm.Waiting{{Call: "MPI_Win_fence", Peer: shm.PeersAll, Object: win}}},
		{"waited in MPI_Waitany", 0, []shm.Waiting{{Call: "MPI_Waitany", Peer: shm.PeersSeveral}}},
		{"waited in MPI_Wait", 0, []shm.Waiting{{Call: "MPI_Wait", Peer: shm.PeersAll}}},
		// from memory that ranks write
		{"waited in ??m", 0, []shm.Waiting{{Call: "\x1b[m", Peer: shm.PeersAll}}},
	} {
		require.Equal(t, c.says, waiting(c.ws, c.more))
	}
}
