package rma

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAccessTable compares the epoch table with MPI-5.0 12.5. The map `possible` has, for each access epoch, the calls
// that MPI allows and the access epoch after each call. All other calls must return MPI_ERR_RMA_SYNC.
func TestAccessTable(t *testing.T) {
	possible := map[Access]map[Call]Access{
		None: {CallFence: FenceOpen, CallFenceEnd: None, CallStart: Start, CallPost: None, CallWait: None,
			CallTest: None, CallLock: Lock, CallLockAll: LockAll, CallSync: None, CallFree: None},
		FenceOpen: {CallFence: FenceOpen, CallFenceEnd: None, CallStart: Start, CallPost: FenceOpen,
			CallWait: FenceOpen, CallTest: FenceOpen, CallLock: Lock, CallLockAll: LockAll,
			CallOperation: Fence, CallSync: FenceOpen, CallFree: None},
		Fence: {CallFence: FenceOpen, CallFenceEnd: None, CallWait: Fence, CallTest: Fence,
			CallOperation: Fence,
			CallSync:      Fence},
		Start: {CallComplete: None, CallPost: Start, CallWait: Start, CallTest: Start, CallOperation: Start,
			CallSync: Start},
		Lock: {CallPost: Lock, CallWait: Lock, CallTest: Lock, CallLock: Lock, CallUnlock: None,
			CallOperation: Lock, CallFlush: Lock, CallFlushLocal: Lock, CallFlushAll: Lock,
			CallFlushLocalAll: Lock, CallSync: Lock},
		LockAll: {CallPost: LockAll, CallWait: LockAll, CallTest: LockAll, CallUnlockAll: None,
			CallOperation: LockAll, CallFlush: LockAll, CallFlushLocal: LockAll,
			CallFlushAll: LockAll, CallFlushLocalAll: LockAll, CallSync: LockAll},
	}
	for state := None; state < AccessStates; state++ {
		for call, row := range Table {
			want, ok := possible[state][Call(call)]
			if !ok {
				want = Refused
			}
			require.Equal(t, want, row.After[state], "%s, then %s", AccessNames[state].Text, row.Name)
		}
	}
}

func TestExposureTable(t *testing.T) {
	for call, row := range Table {
		call := Call(call)
		ends := call == CallWait || call == CallTest
		require.Equal(t, !ends, row.IfNotExposed, "no exposure epoch, then %s", row.Name)
		collective := call == CallFence || call == CallFenceEnd || call == CallFree || call == CallPost
		require.Equal(t, !collective, row.IfExposed, "exposure epoch, then %s", row.Name)
	}
}
