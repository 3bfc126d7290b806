// Package coll owns the collective operations of communicators (MPI-5.0 6): barrier, data movement, reductions, scans.
//
// There are two paths:
//
//   - Shared memory (shm.go): in a blocking call among members of one node, each member copies its data into shared
//     memory and reads the data of the other members.
//   - A schedule (schedule.go) of messages and local steps, built by one of the algorithms of algorithms.go or
//     inter.go. The schedule becomes a plan that C runs (core/p2p.Plan). A blocking call waits for its plan to
//     complete. Any thread that makes progress advances the plan of a nonblocking call. Each start of a persistent
//     request runs the plan of the request again.
//
// The choice of path and algorithm depends only on values that all members have in common: the communicator and the
// number of bytes. Data that is not contiguous in the application's memory is packed before the communication and
// unpacked afterwards, so both paths work only on bytes.
//
// The package does not depend on windows or on C code. MPI_Barrier among members that share a block is implemented in
// capi (capi/base/barrier.c).
package coll
