// Package p2p owns the messages that Go code sends between processes: messages for the creation of communicators
// (comm.Host), and plans of several messages, which C runs (plan.go). C implements matching, protocols, requests and
// MPI's message calls (capi/message). Carrier is the interface to that code.
//
// The package must not depend on windows, collectives or handles of datatypes.
package p2p
