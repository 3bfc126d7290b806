// Package p2p owns the Go view of messages between processes: messages for the creation of communicators (comm.Host),
// and plans of several messages, which C runs (plan.go). Matching, the protocols, requests and the calls of programs
// are in C (capi/message), behind Carrier.
//
// The package must not know windows, collectives or handles of datatypes.
package p2p
