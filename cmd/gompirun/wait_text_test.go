package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/handle"
	"gompirma/core/shm"
)

// Objects of the waits in these tests.
var (
	wcomm = uint64(abi.MPI_COMM_WORLD)
	win   = uint64(handle.Make(handle.Win, 1))
)

// wait returns a wait on an object whose members are the ranks 0 to n - 1.
func wait(call string, peer int32, object uint64, n int, change ...func(w *shm.Waiting)) shm.Waiting {
	w := shm.Waiting{Call: call, Peer: peer, Object: object, WaitDetails: shm.WaitDetails{ID: object,
		Members: shm.Members{N: n, Stride: 1, First: [shm.WaitRecordMembers]int32{0, 1, 2, 3}}}}
	for _, f := range change {
		f(&w)
	}
	return w
}

func why(r shm.Reason, tag int32) func(w *shm.Waiting) {
	return func(w *shm.Waiting) { w.Reason, w.Tag = r, tag }
}

func named(name string) func(w *shm.Waiting) { return func(w *shm.Waiting) { w.Name = name } }

func lacks(n int, who ...int32) func(w *shm.Waiting) {
	return func(w *shm.Waiting) {
		w.Reason, w.PendingCount = shm.ForComplete, n
		w.Members = shm.Members{N: len(who)}
		copy(w.Members.First[:], who)
	}
}

func TestWaitingOfThreads(t *testing.T) {
	receive := wait("MPI_Recv", 3, wcomm, 4, why(shm.ForMessage, 7))
	for _, c := range []struct {
		says string
		more int
		ws   []shm.Waiting
	}{
		{"is not blocked in MPI (computing, or polling with MPI_Test)", 0, nil},
		{"waits in MPI (2 threads)", 2, nil},
		{"waits in MPI_Recv (tag 7) for rank 3", 0, []shm.Waiting{receive}},
		{"waits in MPI_Probe (any tag) for any rank of MPI_COMM_WORLD, in MPI_Recv (tag 7) for rank 3 (2 " +
			"threads)", 0,
			[]shm.Waiting{receive, wait("MPI_Probe", shm.PeersAny, wcomm, 4, why(shm.ForMessage,
				abi.MPI_ANY_TAG)),
				receive}},
		{"waits in MPI_Send (tag 0) on communicator 'mine' for rank 1 to receive", 0,
			[]shm.Waiting{wait("MPI_Send", 1,
				uint64(handle.Make(handle.Comm, 1)), 4, why(shm.ForReceipt, 0), named("mine"))}},
		{"waits in MPI_Win_flush on window 0x20000001 for rank 2, and 1 more thread", 1,
			[]shm.Waiting{wait("MPI_Win_flush", 2, win, 4)}},
		{"waits in MPI_Win_set_info for the ranks of window 'halo'", 0,
			[]shm.Waiting{wait("MPI_Win_set_info", shm.PeersAll, win, 4, named("halo"))}},
		{"waits in MPI_Win_fence on window 'halo' for ranks 1-3", 0, // ranks 1-3 are not in the call
			[]shm.Waiting{wait("MPI_Win_fence", shm.PeersAll, win, 4, named("halo"))}},
		{"waits in MPI_Win_start for rank 1 to call MPI_Win_post on window 'h?[m'", 0,
			[]shm.Waiting{wait("MPI_Win_start", 1, win, 4, why(shm.ForPost, 0), named("h\x1b[m"))}},
		{"waits in MPI_Win_wait for ranks 0,2 to call MPI_Win_complete on window " +
			"'abcdefghijklmnopqrstuvwx...'", 0,
			[]shm.Waiting{wait("MPI_Win_wait", -1, win, 4, named("abcdefghijklmnopqrstuvwx"), lacks(2, 2,
				0))}},
		{"waits in MPI_Win_wait for 1 more of ranks 0,2 to call MPI_Win_complete on window 0x20000001", 0,
			[]shm.Waiting{wait("MPI_Win_wait", -1, win, 4, lacks(1, 2, 0))}},
		{"waits in MPI_Win_lock for the lock of target 2 in window 0x20000001", 0,
			[]shm.Waiting{wait("MPI_Win_lock", 2, win, 4, why(shm.ForLock, 2))}},
		{"waits in MPI_Waitany", 0, []shm.Waiting{{Call: "MPI_Waitany", Peer: shm.PeersSeveral}}},
		{"waits in MPI_Wait", 0, []shm.Waiting{{Call: "MPI_Wait", Peer: shm.PeersAll}}},
		// a call's name comes from memory that ranks write, so it may hold control characters
		{"waits in ??m", 0, []shm.Waiting{{Call: "\x1b[m", Peer: shm.PeersAll}}},
	} {
		p := snapshot{{waits: c.ws, unrecorded: c.more}, {rank: 1}, {rank: 2}, {rank: 3}}
		require.Equal(t, c.says, p.stateText(&p[0]))
	}
}

func TestLinesOfRanks(t *testing.T) {
	barrier := []shm.Waiting{wait("MPI_Barrier", -1, wcomm, 5)}
	p := snapshot{{waits: barrier}, {rank: 1, text: "has ended", ended: true}, {rank: 2, waits: barrier}, {rank: 3},
		{rank: 4}}
	require.Equal(t, []string{"ranks 0,2 wait in MPI_Barrier on MPI_COMM_WORLD for ranks 1,3-4", "rank 1 has ended",
		"ranks 3-4 are not blocked in MPI (computing, or polling with MPI_Test)"}, p.lines(nil))
	places := map[int][]string{0: {"MPI_Barrier was called at a.c:1 in main"},
		2: {"MPI_Barrier was called at a.c:2 in f"}}
	require.Equal(t, []string{"ranks 0,2 wait in MPI_Barrier on MPI_COMM_WORLD for ranks 1,3-4",
		"  rank 0: MPI_Barrier was called at a.c:1 in main", "  rank 2: MPI_Barrier was called at a.c:2 in f"},
		p.lines(places)[:3])
}

// TestWaitingOfJobs checks the names of ranks of jobs that a rank has started.
func TestWaitingOfJobs(t *testing.T) {
	jobs := []*world{{size: 2}, {number: 1, first: 2, size: 2}}
	p := snapshot{}
	for r := range 4 {
		p = append(p, rankState{rank: r, world: jobs[r/2]})
	}
	require.Equal(t, "job 1 rank 1", p.name(3))
	require.Equal(t, "ranks 0-1 and job 1 ranks 0-1", p.names([]int{0, 1, 2, 3}))
	require.Equal(t, "rank 1 and job 1 rank 0", p.names([]int{1, 2}))
	require.Equal(t, "rank 4", p.name(4))
	for r := range 4 {
		p[r].waits = []shm.Waiting{wait("MPI_Recv", int32(r+2)%4, win, 4, why(shm.ForMessage, 0))}
	}
	foreign := wait("MPI_Recv", shm.PeersAny, win, 0, why(shm.ForMessage, 7))
	foreign.Foreign = true
	require.Equal(t, "in MPI_Recv (tag 7) on window 0x20000001 for a process of another job", p.waitText(&foreign))
	require.Equal(t, "rank 0 waits in MPI_Recv (tag 0) on window 0x20000001 for job 1 rank 0; job 1 rank 0 waits "+
		"in MPI_Recv (tag 0) on window 0x20000001 for rank 0", p.deadlockText(nil))
}
