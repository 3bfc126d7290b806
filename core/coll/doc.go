// Package coll owns the collective operations of communicators (MPI-5.0 6): barrier, data movement, reductions, scans.
//
// There are two ways to do one:
//
//   - slots (slots.go): in a blocking call among members that share a node, each puts its data into shared memory and
//     reads that of the others.
//   - a schedule (schedule.go) of messages and local steps, built by one of the algorithms of algorithms.go or
//     inter.go, which becomes a plan that C runs (core/p2p.Plan). A blocking call waits for that, a nonblocking one
//     leaves it to whatever thread makes progress, a persistent one has it run again each time it is started.
//
// Which way, and which algorithm, follows from numbers only that all members have alike: the communicator, the number
// of bytes. Data that is not contiguous in the application's memory is packed before and unpacked after, so that slots
// and algorithms see bytes only.
//
// The package must not know windows or the C side. MPI_Barrier among members that share a block is capi's
// (capi/base/barrier.c).
package coll
