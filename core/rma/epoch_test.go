package rma

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each row is a sentence of MPI-5.0 12.5: in this state, these calls are possible, all others are MPI_ERR_RMA_SYNC.
func TestAccessTable(t *testing.T) {
	possible := map[Access]map[Call]Access{
		None: {CallFence: FenceOpen, CallFenceEnd: None, CallStart: Start, CallPost: None, CallWait: None,
			CallLock: Lock, CallLockAll: LockAll, CallFree: None},
		FenceOpen: {CallFence: FenceOpen, CallFenceEnd: None, CallStart: Start, CallPost: FenceOpen,
			CallWait: FenceOpen, CallLock: Lock, CallLockAll: LockAll,
			CallOperation: Fence, CallFree: None},
		Fence: {CallFence: FenceOpen, CallFenceEnd: None, CallWait: Fence, CallOperation: Fence},
		Start: {CallComplete: None, CallPost: Start, CallWait: Start, CallOperation: Start},
		Lock: {CallPost: Lock, CallWait: Lock, CallLock: Lock, CallUnlock: None, CallOperation: Lock,
			CallFlush: Lock},
		LockAll: {CallPost: LockAll, CallWait: LockAll, CallUnlockAll: None, CallOperation: LockAll,
			CallFlush: LockAll},
	}
	for state := None; state < AccessStates; state++ {
		for call := Call(0); call < Calls; call++ {
			want, ok := possible[state][call]
			if !ok {
				want = Refused
			}
			require.Equal(t, want, AccessTable[state][call], "%s, then %s", AccessNames[state],
				CallNames[call])
		}
	}
}

func TestExposureTable(t *testing.T) {
	for call := Call(0); call < Calls; call++ {
		require.Equal(t, call != CallWait, ExposureTable[0][call], "no exposure epoch, then %s",
			CallNames[call])
		collective := call == CallFence || call == CallFenceEnd || call == CallFree || call == CallPost
		require.Equal(t, !collective, ExposureTable[1][call], "exposure epoch, then %s", CallNames[call])
	}
}

func TestHeaderOfCIsNotStale(t *testing.T) {
	got, err := os.ReadFile("../../capi/z_epoch.h")
	require.NoError(t, err)
	require.Equal(t, string(EpochHeader()), string(got), "run go run ./core/rma/gen")
}
