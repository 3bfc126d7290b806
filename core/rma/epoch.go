package rma

// The epochs of a window at one process (MPI-5.0 12.5): one table for access epochs, one for exposure epochs.
// core/rma/gen writes capi/z_epoch.h from them, so C decides from the same rows; the texts of errors come from the
// state names.

// Access is the access epoch that a process has open on a window.
type Access uint8

// The states. FenceOpen follows MPI_Win_fence until the first operation: only that makes it a fence epoch that another
// fence must end.
const (
	None Access = iota
	FenceOpen
	Fence
	Start
	Lock
	LockAll
	AccessStates
)

// Call is an event that a call means to the epochs.
type Call uint8

// The calls. FenceEnd is MPI_Win_fence with MPI_MODE_NOSUCCEED; Unlock is that of the last lock; Operation is any
// communication call, the R-forms too, though MPI has them for passive target only (12.3.5); Free is MPI_Win_free.
const (
	CallFence Call = iota
	CallFenceEnd
	CallStart
	CallComplete
	CallPost
	CallWait
	CallLock
	CallUnlock
	CallLockAll
	CallUnlockAll
	CallOperation
	CallFlush
	CallFree
	Calls
)

// Refused in a row: the call is MPI_ERR_RMA_SYNC in that state.
const Refused Access = 0xff

// AccessTable tells the state after a call. Per-target conditions (is this target locked, is it in the group) come on
// top.
var AccessTable = [AccessStates][Calls]Access{
	//           fence      fence-end start    complete post       wait       lock     unlock   lock_all unlock_all
	// operation flush    free
	None: {FenceOpen, None, Start, Refused, None, None, Lock, Refused, LockAll, Refused, Refused, Refused,
		None},
	FenceOpen: {FenceOpen, None, Start, Refused, FenceOpen, FenceOpen, Lock, Refused, LockAll, Refused, Fence,
		Refused, None},
	Fence: {FenceOpen, None, Refused, Refused, Refused, Fence, Refused, Refused, Refused, Refused, Fence,
		Refused, Refused},
	Start: {Refused, Refused, Refused, None, Start, Start, Refused, Refused, Refused, Refused, Start, Refused,
		Refused},
	Lock: {Refused, Refused, Refused, Refused, Lock, Lock, Lock, None, Refused, Refused, Lock, Lock, Refused},
	LockAll: {Refused, Refused, Refused, Refused, LockAll, LockAll, Refused, Refused, Refused, None, LockAll,
		LockAll, Refused},
}

// ExposureTable says which calls are possible while an exposure epoch of MPI_Win_post is open (index 1) or not (0).
var ExposureTable = [2][Calls]bool{
	0: {CallFence: true, CallFenceEnd: true, CallStart: true, CallComplete: true, CallPost: true, CallLock: true,
		CallUnlock: true, CallLockAll: true,
		CallUnlockAll: true, CallOperation: true, CallFlush: true, CallFree: true},
	1: {CallStart: true, CallComplete: true, CallWait: true, CallLock: true, CallUnlock: true, CallLockAll: true,
		CallUnlockAll: true,
		CallOperation: true, CallFlush: true},
}

// AccessNames say in an error's text which epoch is open since which call.
var AccessNames = [AccessStates]string{
	None:      "no access epoch is open",
	FenceOpen: "the window is between MPI_Win_fence calls",
	Fence:     "a fence epoch with operations is open since MPI_Win_fence",
	Start:     "an access epoch is open since MPI_Win_start",
	Lock:      "a lock epoch is open since MPI_Win_lock",
	LockAll:   "a lock epoch is open since MPI_Win_lock_all",
}

// CallNames are the C names of the calls.
var CallNames = [Calls]string{"FENCE", "FENCE_END", "START", "COMPLETE", "POST", "WAIT", "LOCK", "UNLOCK", "LOCK_ALL",
	"UNLOCK_ALL", "OPERATION", "FLUSH",
	"FREE"}
