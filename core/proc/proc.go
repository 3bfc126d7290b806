// Package proc owns the interface to the process table. The table holds the processes of this process' own job, and
// those of other jobs to which it connects later. All packages of core identify a process by its number in the table.
// In contrast, a rank is relative to a group, for example the group of MPI_COMM_WORLD. The table itself is implemented
// in C (capi/base/process.h). The package must not depend on groups or messages.
package proc

// Process is an entry of the table.
type Process struct {
	Job   uint32 // number of its job; 0 for this process' own job
	Rank  int32  // rank in MPI_COMM_WORLD of its job
	Node  int32  // number of its node, among all known nodes
	Index int32  // index on this process' node; -1 if it is on another node
}

// Table maps numbers to processes. The processes of a job have consecutive numbers in the order of their ranks, and
// this process' own job comes first. Any thread may read the table while one thread adds processes.
type Table interface {
	// Add adds the processes of a job, with their nodes and indices by rank, and returns the number of the first
	// process. If the argument `index` is nil, all processes are on this process' node, in the order of their
	// ranks. At most one thread may call Add at a time. Errors: MPI_ERR_NO_MEM.
	Add(job uint32, nodeOf, index []int32) (first int32, err error)
	// AddForeign adds a process of another job, on another node, and returns its number. At most one thread may
	// call AddForeign at a time. Errors: MPI_ERR_NO_MEM.
	AddForeign(job uint32, rank, node int32) (number int32, err error)
	// SetSelf sets the number of this process, which Self returns, and the numbers of the processes of its job:
	// `size` numbers from `first` on.
	SetSelf(number, first int32, size int)
	Self() int32
	Count() int
	Nodes() int // number of nodes of the processes
	At(number int32) Process
}
