package rma

// The epoch table of a window at one process (MPI-5.0 12.5): one row for each kind of call. core/abi/gen generates
// capi/win/z_epoch.h from the table, so that C uses the same rows. AccessNames has the texts of errors.

// Access is the access epoch that a process has open on a window.
type Access uint8

// The access epochs. FenceOpen is a fence epoch without operations: the state between MPI_Win_fence and the first
// operation. That operation changes the epoch to Fence, which another MPI_Win_fence must end.
const (
	None Access = iota
	FenceOpen
	Fence
	Start
	Lock
	LockAll
	AccessStates
)

// Call is a kind of MPI call that has its own row in the epoch table.
type Call uint8

// The calls. CallFenceEnd is MPI_Win_fence with MPI_MODE_NOSUCCEED. CallUnlock is the unlock of the last lock.
// CallOperation is any communication call. It includes the request-based ones, which MPI allows in passive target
// epochs only (12.3.5). CallFree is MPI_Win_free.
const (
	CallFence Call = iota
	CallFenceEnd
	CallStart
	CallComplete
	CallPost
	CallWait
	CallTest
	CallLock
	CallUnlock
	CallLockAll
	CallUnlockAll
	CallOperation
	CallFlush
	CallFlushLocal
	CallFlushAll
	CallFlushLocalAll
	CallSync
	CallFree
	Calls
)

// Refused in EpochRow.After means that the call returns MPI_ERR_RMA_SYNC in that state.
const Refused Access = 0xff

// EpochRow is the effect of one call on the epochs.
type EpochRow struct {
	// Name is the name of the call in C.
	Name string
	// After is the access epoch after the call, indexed by the epoch before it. It does not show whether the target
	// permits the call, for example because it is locked or in the group; other code checks that.
	After [AccessStates]Access
	// IfNotExposed is true if the call is permitted while no exposure epoch is open. IfExposed is true if the call
	// is permitted while one is open.
	IfNotExposed, IfExposed bool
	// Target is true if the call has a target rank, for which other code checks further conditions.
	Target bool
	// AtBegin is true if the epoch changes at the beginning of the call, so that other threads cannot open an
	// incompatible epoch while the call waits. Otherwise the epoch changes at the end of the call.
	AtBegin bool
}

// Table has the rows of all calls.
var Table = [Calls]EpochRow{
	CallFence: {Name: "FENCE", IfNotExposed: true, After: [...]Access{
		None: FenceOpen, FenceOpen: FenceOpen, Fence: FenceOpen, Start: Refused, Lock: Refused,
		LockAll: Refused}},
	CallFenceEnd: {Name: "FENCE_END", IfNotExposed: true, After: [...]Access{
		None: None, FenceOpen: None, Fence: None, Start: Refused, Lock: Refused, LockAll: Refused}},
	CallStart: {Name: "START", IfNotExposed: true, IfExposed: true, AtBegin: true, After: [...]Access{
		None: Start, FenceOpen: Start, Fence: Refused, Start: Refused, Lock: Refused, LockAll: Refused}},
	CallComplete: {Name: "COMPLETE", IfNotExposed: true, IfExposed: true, After: [...]Access{
		None: Refused, FenceOpen: Refused, Fence: Refused, Start: None, Lock: Refused, LockAll: Refused}},
	CallPost: {Name: "POST", IfNotExposed: true, After: [...]Access{
		None: None, FenceOpen: FenceOpen, Fence: Refused, Start: Start, Lock: Lock, LockAll: LockAll}},
	CallWait: {Name: "WAIT", IfExposed: true, After: [...]Access{
		None: None, FenceOpen: FenceOpen, Fence: Fence, Start: Start, Lock: Lock, LockAll: LockAll}},
	CallTest: {Name: "TEST", IfExposed: true, After: [...]Access{
		None: None, FenceOpen: FenceOpen, Fence: Fence, Start: Start, Lock: Lock, LockAll: LockAll}},
	CallLock: {Name: "LOCK", IfNotExposed: true, IfExposed: true, Target: true, AtBegin: true, After: [...]Access{
		None: Lock, FenceOpen: Lock, Fence: Refused, Start: Refused, Lock: Lock, LockAll: Refused}},
	CallUnlock: {Name: "UNLOCK", IfNotExposed: true, IfExposed: true, Target: true, After: [...]Access{
		None: Refused, FenceOpen: Refused, Fence: Refused, Start: Refused, Lock: None, LockAll: Refused}},
	CallLockAll: {Name: "LOCK_ALL", IfNotExposed: true, IfExposed: true, AtBegin: true, After: [...]Access{
		None: LockAll, FenceOpen: LockAll, Fence: Refused, Start: Refused, Lock: Refused, LockAll: Refused}},
	CallUnlockAll: {Name: "UNLOCK_ALL", IfNotExposed: true, IfExposed: true, After: [...]Access{
		None: Refused, FenceOpen: Refused, Fence: Refused, Start: Refused, Lock: Refused, LockAll: None}},
	CallOperation: {Name: "OPERATION", IfNotExposed: true, IfExposed: true, Target: true, AtBegin: true,
		After: [...]Access{
			None: Refused, FenceOpen: Fence, Fence: Fence, Start: Start, Lock: Lock, LockAll: LockAll}},
	CallFlush: {Name: "FLUSH", IfNotExposed: true, IfExposed: true, Target: true, After: [...]Access{
		None: Refused, FenceOpen: Refused, Fence: Refused, Start: Refused, Lock: Lock, LockAll: LockAll}},
	CallFlushLocal: {Name: "FLUSH_LOCAL", IfNotExposed: true, IfExposed: true, Target: true, After: [...]Access{
		None: Refused, FenceOpen: Refused, Fence: Refused, Start: Refused, Lock: Lock, LockAll: LockAll}},
	CallFlushAll: {Name: "FLUSH_ALL", IfNotExposed: true, IfExposed: true, After: [...]Access{
		None: Refused, FenceOpen: Refused, Fence: Refused, Start: Refused, Lock: Lock, LockAll: LockAll}},
	CallFlushLocalAll: {Name: "FLUSH_LOCAL_ALL", IfNotExposed: true, IfExposed: true, After: [...]Access{
		None: Refused, FenceOpen: Refused, Fence: Refused, Start: Refused, Lock: Lock, LockAll: LockAll}},
	CallSync: {Name: "SYNC", IfNotExposed: true, IfExposed: true, After: [...]Access{
		None: None, FenceOpen: FenceOpen, Fence: Fence, Start: Start, Lock: Lock, LockAll: LockAll}},
	CallFree: {Name: "FREE", IfNotExposed: true, After: [...]Access{
		None: None, FenceOpen: None, Fence: Refused, Start: Refused, Lock: Refused, LockAll: Refused}},
}

// AccessNames has the name of each state in C, and its text in errors. The text names the open epoch and the call that
// opened it.
var AccessNames = [AccessStates]struct{ C, Text string }{
	None:      {"NONE", "no access epoch is open"},
	FenceOpen: {"FENCE_OPEN", "a fence epoch without operations has been open since MPI_Win_fence"},
	Fence:     {"FENCE", "a fence epoch with operations has been open since MPI_Win_fence"},
	Start:     {"START", "an access epoch has been open since MPI_Win_start"},
	Lock:      {"LOCK", "a lock epoch has been open since MPI_Win_lock"},
	LockAll:   {"LOCK_ALL", "a lock epoch has been open since MPI_Win_lock_all"},
}
