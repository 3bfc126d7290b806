// Package coll owns the collective operations of communicators (MPI-5.0 6): barrier, data movement, reductions, scans.
//
// There are two paths:
//
//   - Shared memory (shm.go): in a blocking call among members of one node, each member copies its data into shared
//     memory and reads that of the others.
//   - A schedule (schedule.go) of messages and local steps, built by one of the algorithms of algorithms.go or
//     inter.go. It becomes a plan that C runs (core/p2p.Plan). A blocking call waits for it; any thread that makes
//     progress runs that of a nonblocking call; each start of a persistent request runs it again.
//
// The choice of path and algorithm depends only on values that all members have in common: the communicator, the number
// of bytes. Data that is not contiguous in the application's memory is packed before and unpacked after, so that both
// paths work on bytes only.
//
// The package must not know windows or the C side. MPI_Barrier among members that share a block is implemented in capi
// (capi/base/barrier.c).
package coll
