package insight

import (
	"strings"

	"gompirma/core/abi"
)

// Use is a kind of call on a window. Calls are counted for each window by kind.
type Use int

// The kinds of operations come first. The kinds of calls that may wait follow, from Fence on.
const (
	Put Use = iota
	Get
	Accumulate
	GetAccumulate
	FetchAndOp
	CompareAndSwap
	Fence
	Lock
	Unlock
	Flush
	Pscw
	Uses // number of uses
)

var useNames = [Uses]string{"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap", "fence",
	"lock", "unlock", "flush", "pscw"}

func (u Use) String() string { return useNames[u] }

// MayWait reports whether u is a kind of call that may wait, not an operation.
func (u Use) MayWait() bool { return u >= Fence }

// Path is the path by which an operation reaches its target's memory: MPIX_GOMPIRMA_DIRECT and so on in
// include/mpix_gompirma.h.
type Path int

// The paths, in the order of the header.
const (
	Direct Path = iota
	Ring
	Cma
	Network
	NoData // operations without data, or with the target MPI_PROC_NULL
	Paths  // number of paths
)

var pathNames = [Paths]string{"direct", "ring", "cma", "network", "nothing"}

func (w Path) String() string { return pathNames[w] }

var uses = map[string]Use{
	"MPI_Put": Put, "MPI_Rput": Put, "MPI_Get": Get, "MPI_Rget": Get,
	"MPI_Accumulate": Accumulate, "MPI_Raccumulate": Accumulate,
	"MPI_Get_accumulate": GetAccumulate, "MPI_Rget_accumulate": GetAccumulate,
	"MPI_Fetch_and_op": FetchAndOp, "MPI_Compare_and_swap": CompareAndSwap,
	"MPI_Win_fence": Fence,
	"MPI_Win_lock":  Lock, "MPI_Win_lock_all": Lock, "MPI_Win_unlock": Unlock, "MPI_Win_unlock_all": Unlock,
	"MPI_Win_flush": Flush, "MPI_Win_flush_all": Flush, "MPI_Win_flush_local": Flush,
	"MPI_Win_flush_local_all": Flush,
	"MPI_Win_start":           Pscw, "MPI_Win_complete": Pscw, "MPI_Win_post": Pscw, "MPI_Win_wait": Pscw,
}

// UseOf returns the Use of function f. The result ok is false if f is not a call on a window.
func UseOf(f *abi.Function) (u Use, ok bool) {
	u, ok = uses[strings.TrimSuffix(f.Name, "_c")]
	return u, ok
}
