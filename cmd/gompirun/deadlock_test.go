package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/shm"
)

// all returns a snapshot in which rank i has the wait ws[i].
func all(ws ...shm.Waiting) (p snapshot) {
	for r, w := range ws {
		p = append(p, rankState{rank: r, waits: []shm.Waiting{w}})
	}
	return p
}

// someOf returns the wait of an MPI_Waitany for any one of several events.
func someOf(parts ...shm.Waiting) shm.Waiting {
	return shm.Waiting{Call: "MPI_Waitany", Peer: shm.PeersSeveral, WaitDetails: shm.WaitDetails{Events: parts,
		HasAllEvents: true}}
}

func notAll(w shm.Waiting) shm.Waiting {
	w.HasAllEvents = false
	return w
}

func inCallOf(call string, w shm.Waiting) shm.Waiting {
	w.Call = call
	return w
}

// byMessages stands in a list of missing members for a collective over messages: the waiting rank does not know which
// members have not started the collective.
const byMessages = -1

// nonblocking returns a wait for a collective that the given members have not started.
func nonblocking(call string, missing ...int) shm.Waiting {
	w := wait("MPI_Wait", shm.PeersAll, wcomm, 3, why(shm.ForCollective, 4))
	for _, i := range missing {
		if i == byMessages {
			w.PendingCount = -1
			continue
		}
		w.Missing = append(w.Missing, i)
	}
	w.Operation = call
	return w
}

func mustKey(w *shm.Waiting) objectKey {
	k, _ := objectKeyOf(w)
	return k
}

// Checks that deadlockText reports only facts that are certain when all ranks wait.
func TestDeadlockText(t *testing.T) {
	receive := func(from int32) shm.Waiting { return wait("MPI_Recv", from, wcomm, 3, why(shm.ForMessage, 7)) }
	fence := wait("MPI_Win_fence", -1, win, 3, named("halo"))
	lock := wait("MPI_Win_lock", 0, win, 3, why(shm.ForLock, 0))
	finalizes := wait("MPI_Finalize", -1, 0, 0)
	for _, c := range []struct {
		name, says string
		p          snapshot
		h          lockHolders
	}{
		{"a circle", "rank 0 waits in MPI_Win_start for rank 1 to call MPI_Win_post on window 'halo'; rank " +
			"1 waits in MPI_Recv (tag 7) for rank 2; rank 2 waits in MPI_Win_wait for rank 0 to call " +
			"MPI_Win_complete on window 'halo'",
			all(wait("MPI_Win_start", 1, win, 3, why(shm.ForPost, 0), named("halo")), receive(2),
				wait("MPI_Win_wait", -1, win, 3, lacks(1, 0), named("halo"))), nil},
		{"the shortest", "rank 0 waits in MPI_Recv (tag 7) for rank " +
			"0", all(receive(0), receive(2), receive(1)), nil},
		{"beside it", "rank 1 waits in MPI_Recv (tag 7) for rank 2; rank 2 waits in MPI_Recv (tag 7) for " +
			"rank 1",
			all(receive(1), receive(2), receive(1)), nil},
		{"any rank may end it", "", all(wait("MPI_Recv", shm.PeersAny, wcomm, 3, why(shm.ForMessage, 7)),
			receive(0), wait("MPI_Waitany", shm.PeersSeveral, wcomm, 3)), nil},
		{"any rank might, and none does", "rank 0 waits in MPI_Recv (tag 7) for any rank of MPI_COMM_WORLD; " +
			"ranks 1-2 wait in MPI_Recv (tag 7) for rank 0", all(
			wait("MPI_Recv", shm.PeersAny, wcomm, 3, why(shm.ForMessage, 7)), receive(0), receive(0)), nil},
		{"any of two messages might", "rank 0 waits in MPI_Waitany for a message from ranks 1-2 (tag 7); " +
			"ranks 1-2 wait in MPI_Recv (tag 7) for rank 0",
			all(someOf(receive(1), receive(2)), receive(0), receive(0)), nil},
		{"any of three operations might", "rank 0 waits in MPI_Waitany for a message from rank 1 (tag 7) or " +
			"rank 2 to receive (tag 3) or MPI_Ibarrier of rank 1; rank 1 waits in MPI_Recv (tag 7) for " +
			"rank 0; rank 2 waits in MPI_Recv (tag 7) for rank 1",
			all(someOf(receive(1), wait("MPI_Waitany", 2, wcomm, 3, why(shm.ForReceipt, 3)),
				nonblocking("MPI_Ibarrier", 1)), receive(0), receive(1)), nil},
		{"one of two messages may come", "", all(someOf(receive(1), receive(2)), receive(0),
			wait("MPI_Win_flush", 1, win, 3)), nil},
		{"not all are known that may end it", "", all(notAll(someOf(receive(1), receive(2))), receive(0),
			receive(0)), nil},
		{"both of one rank", "rank 0 waits in MPI_Waitany (tag 7) for rank 1; rank 1 waits in MPI_Recv (tag " +
			"7) for rank 0",
			all(someOf(inCallOf("MPI_Waitany", receive(1)), receive(1)), receive(0)), nil},
		{"who has called MPI_Finalize", "rank 0 waits in MPI_Recv (tag 7) for rank 1; rank 1 is in " +
			"MPI_Finalize and will send nothing more to rank 0", all(receive(1), finalizes), nil},
		{"a message that nobody receives", "rank 0 waits in MPI_Ssend (tag 3) for rank 1 to receive; rank 1 " +
			"is in MPI_Finalize and will receive nothing more from rank 0",
			all(wait("MPI_Ssend", 1, wcomm, 2, why(shm.ForReceipt, 3)), finalizes), nil},
		{"who has not called MPI_Finalize", "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank 1; rank " +
			"1 is in MPI_Finalize and waits there for rank " +
			"0", all(wait("MPI_Barrier", -1, wcomm, 2), finalizes), nil},
		{"a blocking collective meets a nonblocking one", "different collectives on MPI_COMM_WORLD: rank 0 " +
			"is in MPI_Barrier, rank 1 in MPI_Ibarrier", all(wait("MPI_Barrier", -1, wcomm, 3),
			nonblocking("MPI_Ibarrier", 0, 2), receive(0)), nil},
		{"a nonblocking one that all have started", "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank " +
			"2; rank 2 waits in MPI_Recv (tag 7) for rank 0", all(wait("MPI_Barrier", -1, wcomm, 3),
			nonblocking("MPI_Ibarrier"), receive(0)), nil},
		{"different nonblocking ones", "different collectives on MPI_COMM_WORLD: rank 0 is in MPI_Ibarrier, " +
			"ranks 1-2 in MPI_Ibcast", all(nonblocking("MPI_Ibarrier"), nonblocking("MPI_Ibcast"),
			nonblocking("MPI_Ibcast")), nil},
		{"who has not started it", "rank 0 waits in MPI_Wait (MPI_Ibarrier, nonblocking collective 4) on " +
			"MPI_COMM_WORLD for rank 1; rank 1 waits in MPI_Recv (tag 7) for rank 0",
			all(nonblocking("MPI_Ibarrier", 1), receive(0)), nil},
		{"whether it has started it is not known", "", all(nonblocking("MPI_Bcast_init", 1, byMessages),
			receive(0)), nil},
		{"partitions", "rank 0 waits in MPI_Wait (tag 3) for partitions from rank 1; rank 1 waits in " +
			"MPI_Recv (tag 7) for rank 0",
			all(wait("MPI_Wait", 1, wcomm, 2, why(shm.ForPartitions, 3)), receive(0)), nil},
		{"partitions of its own", "rank 0 waits in MPI_Wait for MPI_Pready, which another thread of this " +
			"rank must call",
			all(wait("MPI_Wait", 0, wcomm, 2, why(shm.ForSelf, 3), func(w *shm.Waiting) {
				w.Operation = "MPI_Pready"
			}), receive(0)), nil},
		{"one of two may end it", "", all(wait("MPI_Win_wait", -1, win, 3, lacks(1, 1, 2)), receive(0),
			wait("MPI_Waitany", shm.PeersSeveral, wcomm, 3)), nil},
		{"one of two might", "rank 0 waits in MPI_Win_wait for 1 more of ranks 1-2 to call MPI_Win_complete " +
			"on window 0x20000001; rank 1 waits in MPI_Recv (tag 7) for rank 0; rank 2 waits in " +
			"MPI_Win_start for rank 0 to call MPI_Win_post on window " +
			"0x20000001", all(wait("MPI_Win_wait", -1, win, 3, lacks(1, 1, 2)), receive(0),
			wait("MPI_Win_start", 0, win, 3, why(shm.ForPost, 0))), nil},
		{"both are needed", "rank 0 waits in MPI_Win_wait for rank 1 to call MPI_Win_complete on window " +
			"0x20000001; rank 1 waits in MPI_Recv (tag 7) for rank 0",
			all(wait("MPI_Win_wait", -1, win, 3, lacks(2, 1, 2)), receive(0), receive(0)), nil},
		{"a flush needs the process only", "", all(wait("MPI_Win_flush", 1, win, 2), receive(0)), nil},
		{"who is not in the fence", "rank 0 waits in MPI_Win_fence on window 'halo' for rank 2; rank 2 " +
			"waits in MPI_Recv (tag 7) for rank 0",
			all(fence, receive(2), receive(0)), nil},
		{"all are in it", "", all(fence, fence, fence), nil},
		{"different meetings", "different collectives on MPI_COMM_WORLD: rank 0 is in MPI_Barrier, rank 1 " +
			"in MPI_Allreduce", all(wait("MPI_Barrier", -1, wcomm, 3), wait("MPI_Allreduce", 0, wcomm, 3),
			receive(0)),
			nil},
		{"ranks 0 and 2", "different collectives on window 'halo': ranks 0,2 are in MPI_Barrier, rank 1 in " +
			"MPI_Win_fence",
			all(wait("MPI_Barrier", -1, win, 3, named("halo")), fence, wait("MPI_Barrier", -1, win, 3)),
			nil},
		{"the root of a broadcast may have gone on", "", all(wait("MPI_Barrier", -1, wcomm, 3),
			wait("MPI_Bcast", 2, wcomm, 3), wait("MPI_Recv", -2, wcomm, 3, why(shm.ForMessage, 7))), nil},
		{"nobody is left for that", "different collectives on MPI_COMM_WORLD: ranks 0,2 are in MPI_Barrier, " +
			"rank 1 in MPI_Bcast", all(wait("MPI_Barrier", -1, wcomm, 3), wait("MPI_Bcast", 2, wcomm, 3),
			wait("MPI_Barrier", -1, wcomm, 3)), nil},
		{"the same number on another communicator", "", all(wait("MPI_Barrier", -1, wcomm, 1),
			wait("MPI_Allreduce", -1, wcomm, 1, func(w *shm.Waiting) { w.Members.First[0] = 1 })), nil},
		{"a window and a communicator of one number", "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for " +
			"rank 1; rank 1 waits in MPI_Win_fence on window 'halo' for rank 0", all(
			wait("MPI_Barrier", -1, wcomm, 3, func(w *shm.Waiting) { w.ID = win }), fence,
			wait("MPI_Barrier", -1, wcomm, 3, func(w *shm.Waiting) { w.ID = win })), nil},
		{"nobody is known to hold it", "", all(receive(1), lock), nil},
		{"who holds a lock", "rank 0 waits in MPI_Recv (tag 7) for rank 1; rank 1 waits in MPI_Win_lock for " +
			"the lock of target 0 in window 0x20000001, which rank 0 holds", all(receive(1), lock),
			lockHolders{{mustKey(&lock), 0}: {{rank: 0, exclusive: true}}}},
	} {
		require.Equal(t, c.says, c.p.deadlockText(c.h), c.name)
	}
	p := all(receive(1), receive(0), receive(0))
	p[0].waits = append(p[0].waits, receive(2))
	require.Equal(t, "rank 0 waits in MPI_Recv (tag 7) for rank 1, in MPI_Recv (tag 7) for rank 2; "+
		"ranks 1-2 wait in MPI_Recv (tag 7) for rank 0", p.deadlockText(nil), "either thread might go on")
	p[0].waits = append(p[0].waits, wait("MPI_Win_flush", 1, win, 3))
	require.Empty(t, p.deadlockText(nil), "a thread may go on by itself")
}

// Checks that a deadlock is not certain while one rank does not wait, or while another job may end a wait.
func TestAllRanksWait(t *testing.T) {
	receive := wait("MPI_Recv", 1, wcomm, 2, why(shm.ForMessage, 7))
	two := func(change func(d *rankState)) snapshot {
		p := all(receive, receive)
		for r := range p {
			p[r].blocked = 1
		}
		change(&p[1])
		return p
	}
	require.Len(t, two(func(*rankState) {}).waits(), 2)
	require.Len(t, two(func(d *rankState) { *d = rankState{text: "has ended", ended: true} }).waits(), 1)
	for name, change := range map[string]func(d *rankState){
		"it is outside":            func(d *rankState) { d.waits = nil },
		"it has not called init":   func(d *rankState) { *d = rankState{text: "has not called MPI_Init"} },
		"a thread has no record":   func(d *rankState) { d.unrecorded = 1 },
		"a thread polls":           func(d *rankState) { d.blocked = 2 },
		"other jobs are known":     func(d *rankState) { d.waits[0].Foreign = true },
		"others will come to know": func(d *rankState) { d.waits[0].Call = "MPI_Comm_accept" },
	} {
		require.Nil(t, two(change).waits(), name)
	}
	woken := two(func(d *rankState) { d.waits[0].Wakes++ })
	require.NotEqual(t, two(func(*rankState) {}).waits(), woken.waits())
}
