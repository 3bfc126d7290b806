// Package p2p owns the Go view of messages between processes: it starts and waits for messages of calls that Go
// executes, and implements rare calls and operations of several messages. Matching, the protocols and the requests are
// in C (capi/message), behind Carrier, as are the frequent calls of programs. Nothing of that exists here a second
// time.
//
// The package contains matched probes, plans for C to run (plan.go), and the messages that create communicators
// (comm.Host).
//
// The package must not know windows, collectives or handles of datatypes.
package p2p
