// Package proc is what a process knows of others: a table of those of its own job, and of all that it comes to know
// later. A process is called by its number in it everywhere in core; ranks are of groups, and the rank in
// MPI_COMM_WORLD is one of them. The table itself is C's (capi/base/process.h).
package proc

// Process is what is known of one.
type Process struct {
	Job   uint32 // number of its job, 0: this process' own
	Rank  int32  // in MPI_COMM_WORLD of its job
	Node  int32  // number of its node, among all that are known
	Index int32  // on this process' node; -1: it is on another
}

// Table is the processes by their numbers: those of a job have numbers in a row, in the order of their ranks, and this
// process' own job comes first. Read by any thread while one adds.
type Table interface {
	// Add adds the processes of a job, with their nodes and indices by rank; index nil: all are on this process'
	// node, in order. It returns the number of the first. One thread at a time. MPI_ERR_NO_MEM.
	Add(job uint32, nodeOf, index []int32) (first int32, err error)
	// SetSelf says which is this process; before anybody asks.
	SetSelf(number int32)
	Self() int32
	Count() int
	Nodes() int // that the processes are on
	At(number int32) Process
}
