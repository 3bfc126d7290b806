package coll

import (
	"math/bits"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// Buffer is a buffer argument of a call: count elements of a type at an address of the application.
type Buffer struct {
	Addr  uintptr
	Count int64
	Type  *datatype.Type
}

// Blocks is the per-process part of a buffer argument: what the v and w forms have in arrays. Types is nil if Buffer's
// type counts for all; then the displacements are in extents of it, else in bytes.
type Blocks struct {
	Counts, Displs []int64
	Types          []*datatype.Type
}

// Call is one collective call of the application. Arguments that do not count at this process (MPI-5.0: "significant
// only at root") are not looked at; Sends and Receives tell which do.
//
//	MPI_Bcast                  the buffer is Recv
//	MPI_Reduce, _Allreduce, _Scan, _Exscan, _Reduce_scatter...
//	                           Recv has the count (the counts are RecvBlocks.Counts) and the type, Send the
//	                           address only
//	all others                 Send and Recv as in the call
type Call struct {
	Kind       Kind
	Comm       *comm.Comm
	Root       int32
	Op         *op.Op
	Send, Recv Buffer
	SendBlocks Blocks
	RecvBlocks Blocks
	Agreed     Agreed // what C has found out before it left the call to this package
	Tag        int32  // of the messages of what is started, if C counts calls, and keeps plans; else 0

	sources, destinations []int32 // of a neighborhood collective
	late                  error   // to be returned when the call has been made: lengths that do not go together
}

// inPlace is MPI_IN_PLACE.
const inPlace = abi.MPI_IN_PLACE

// Rooted returns whether the call has a root.
func (k Kind) Rooted() bool {
	switch k {
	case KindBcast, KindReduce, KindGather, KindGatherv, KindScatter, KindScatterv:
		return true
	}
	return false
}

// Reduces returns whether the call has an operation.
func (k Kind) Reduces() bool {
	switch k {
	case KindReduce, KindAllreduce, KindScan, KindExscan, KindReduceScatter, KindReduceScatterBlock:
		return true
	}
	return false
}

// neighborhood returns whether the call is one along the edges of a topology (MPI-5.0 8.6).
func (k Kind) neighborhood() bool { return k >= KindNeighborAllgather && k <= KindNeighborAlltoallw }

// place returns where the root of a rooted call is: for an intracommunicator, rootIsHere at the root and else
// rootIsRemote.
func (k *Call) place() place {
	switch {
	case k.Root == abi.MPI_ROOT || !k.Comm.IsInter() && int(k.Root) == k.Comm.Rank():
		return rootIsHere
	case k.Root == abi.MPI_PROC_NULL:
		return rootIsBeside
	}
	return rootIsRemote
}

// Locate finds where the root is, or who the neighbors are; the methods below need that. MPI_ERR_ROOT: the root is
// none; MPI_ERR_TOPOLOGY: there are no neighbors without a topology.
func (k *Call) Locate() (err error) {
	if k.Kind.neighborhood() {
		k.sources, k.destinations, err = k.Comm.Neighbors()
		return err
	}
	if !k.Kind.Rooted() {
		return nil
	}
	if k.Comm.IsInter() {
		if k.Root == abi.MPI_ROOT || k.Root == abi.MPI_PROC_NULL ||
			k.Root >= 0 && int(k.Root) < k.Comm.RemoteSize() {
			return nil
		}
		return mpierr.New(abi.MPI_ERR_ROOT,
			"root is %d: neither MPI_ROOT, MPI_PROC_NULL nor a rank of the remote group of %d processes",
			k.Root, k.Comm.RemoteSize())
	}
	if k.Root < 0 || int(k.Root) >= k.Comm.Size() {
		return mpierr.New(abi.MPI_ERR_ROOT, "root is %d in a communicator of %d processes", k.Root,
			k.Comm.Size())
	}
	return nil
}

// Sends returns whether the send arguments count at this process. The root has been checked.
func (k *Call) Sends() bool {
	switch k.Kind {
	case KindBarrier, KindBcast:
		return false
	case KindScatter, KindScatterv:
		return k.place() == rootIsHere
	case KindReduce, KindGather, KindGatherv:
		return !k.Comm.IsInter() || k.place() == rootIsRemote
	}
	return true
}

// Receives returns whether the receive arguments count at this process.
func (k *Call) Receives() bool {
	switch k.Kind {
	case KindBarrier:
		return false
	case KindBcast:
		return k.place() != rootIsBeside
	case KindReduce, KindGather, KindGatherv:
		return k.place() == rootIsHere
	case KindScatter, KindScatterv:
		return !k.Comm.IsInter() || k.place() == rootIsRemote
	}
	return true
}

// lowest returns whether this is rank 0 of an MPI_Exscan, which receives nothing.
func (k *Call) lowest() bool { return k.Kind == KindExscan && k.Comm.Rank() == 0 }

// InPlace returns whether the call gives MPI_IN_PLACE for a buffer that counts, so that the arguments beside it do not.
func (k *Call) InPlace() bool {
	switch k.Kind {
	case KindBarrier, KindBcast:
		return false
	case KindScatter, KindScatterv:
		return k.Receives() && k.Recv.Addr == inPlace
	}
	return k.Sends() && k.Send.Addr == inPlace
}

// SendPeers and RecvPeers return the number of blocks of a side that has one for each process.
func (k *Call) SendPeers() int {
	if k.Kind.neighborhood() {
		return len(k.destinations)
	}
	return k.Comm.RemoteSize()
}

// RecvPeers is the number of blocks that are received.
func (k *Call) RecvPeers() int {
	if k.Kind.neighborhood() {
		return len(k.sources)
	}
	return k.Comm.RemoteSize()
}

// shape says what a side of a call consists of.
type shape uint8

const (
	none shape = iota
	one        // Count elements
	each       // a block of Count elements for each process
	many       // blocks of different sizes
)

// sendShape returns what the send side consists of where it counts.
func (k Kind) sendShape() shape {
	switch k {
	case KindBarrier, KindBcast:
		return none
	case KindScatter, KindAlltoall, KindNeighborAlltoall:
		return each
	case KindScatterv, KindAlltoallv, KindAlltoallw, KindNeighborAlltoallv, KindNeighborAlltoallw:
		return many
	}
	return one
}

// recvShape returns what the receive side consists of where it counts.
func (k Kind) recvShape() shape {
	switch k {
	case KindBarrier:
		return none
	case KindGather, KindAllgather, KindAlltoall, KindNeighborAllgather, KindNeighborAlltoall:
		return each
	case KindGatherv, KindAllgatherv, KindAlltoallv, KindAlltoallw, KindNeighborAllgatherv, KindNeighborAlltoallv,
		KindNeighborAlltoallw:
		return many
	}
	return one
}

// part returns block i of a side of the given shape.
func part(b *Buffer, v *Blocks, sh shape, i int) Buffer {
	switch sh {
	case each:
		return Buffer{b.Addr + uintptr(int64(i)*b.Count*b.Type.Extent()), b.Count, b.Type}
	case many:
		if v.Types != nil {
			return Buffer{b.Addr + uintptr(v.Displs[i]), v.Counts[i], v.Types[i]}
		}
		return Buffer{b.Addr + uintptr(v.Displs[i]*b.Type.Extent()), v.Counts[i], b.Type}
	}
	return *b
}

// maxBytes bounds the data of one buffer: the size of the address space.
const maxBytes = 1 << 47

// bytes returns the bytes of data of b. MPI_ERR_COUNT: that is more than memory can hold.
func (b *Buffer) bytes() (int, error) {
	hi, lo := bits.Mul64(uint64(b.Count), uint64(b.Type.Size()))
	if hi != 0 || lo > maxBytes {
		return 0, mpierr.New(abi.MPI_ERR_COUNT, "%d elements of %d bytes are more than memory can hold",
			b.Count, b.Type.Size())
	}
	return int(lo), nil
}

// hold keeps the types of a call alive until letGo.
func (k *Call) hold() { k.eachType(func(t *datatype.Type) { t.Retain() }) }

func (k *Call) letGo() { k.eachType((*datatype.Type).Release) }

func (k *Call) eachType(f func(*datatype.Type)) {
	for _, ts := range [][]*datatype.Type{{k.Send.Type, k.Recv.Type}, k.SendBlocks.Types, k.RecvBlocks.Types} {
		for _, t := range ts {
			if t != nil {
				f(t)
			}
		}
	}
}
