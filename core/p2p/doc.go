// Package p2p owns messages between processes: matching, the eager and the rendezvous protocol, buffered sends, probes,
// and the requests they make.
//
// Small messages travel inside records (record.go), which a link (link.go) takes to the receiver: between processes of
// a node through the receiver's ring (ring_link.go, ring.go). The data of large ones stays where it is until the
// message is matched; then the receiver copies it straight from the sender's memory, on a node with process_vm_readv
// (cma.go), or, where that is not possible or the data is in too many places, asks for it in pieces that go by the
// link. Who copies is any thread of the receiver inside a call, or its agent.
//
// One lock guards the engine's state. It is never held while memory of the application is copied in bulk or while
// waiting.
//
// The package must not know windows, collectives or handles of datatypes. What it knows of a datatype is where its data
// lies, of a communicator its members and contexts.
package p2p
