// Package p2p is messages between processes as Go sees them: what starts and waits for them where a call is Go's, and
// what is made of several of them or is rare. Matching, the protocols and the requests are in C (capi/message), behind
// Carrier, as are the calls that programs make all the time; nothing of that is here a second time.
//
// What is here: matched probes, plans for C to run (plan.go), and the messages by which communicators are made
// (comm.Host).
//
// The package must not know windows, collectives or handles of datatypes.
package p2p
