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

// Blocks is the per-process part of a buffer argument: the arrays of the v and w forms. If Types is nil, all blocks
// have the type of the Buffer, and displacements count extents of that type. Otherwise displacements are in bytes.
type Blocks struct {
	Counts, Displs []int64
	Types          []*datatype.Type
}

// Call is one collective call of the application. The package reads only the arguments that are significant at this
// process (MPI-5.0: "significant only at root"). Sends and Receives return whether the send and the receive arguments
// are significant.
//
//	MPI_Bcast                  Recv is the buffer
//	MPI_Reduce, _Allreduce, _Scan, _Exscan, _Reduce_scatter...
//	                           Recv has the type and the count (MPI_Reduce_scatter: RecvBlocks.Counts has the
//	                           counts); of Send, only the address is used
//	all other calls            Send and Recv are as in the call
type Call struct {
	Kind       Kind
	Comm       *comm.Comm
	Root       int32
	Op         *op.Op
	Send, Recv Buffer
	SendBlocks Blocks
	RecvBlocks Blocks
	Agreed     Agreed // values on which the members agreed in C, before C passed the call to this package
	Tag        int32  // tag that C chose for a nonblocking or persistent call; 0 if this package chooses it

	sources, destinations []int32 // neighbors, in a neighborhood collective
	deferredErr           error   // error to return at the end of the call: this process' own data lengths differ
}

const inPlace = abi.MPI_IN_PLACE

// Rooted returns whether the call has a root.
func (k Kind) Rooted() bool {
	switch k {
	case KindBcast, KindReduce, KindGather, KindGatherv, KindScatter, KindScatterv:
		return true
	}
	return false
}

// Reduces returns whether the call has a reduction operation.
func (k Kind) Reduces() bool {
	switch k {
	case KindReduce, KindAllreduce, KindScan, KindExscan, KindReduceScatter, KindReduceScatterBlock:
		return true
	}
	return false
}

// neighborhood returns whether the call is a neighborhood collective (MPI-5.0 8.6).
func (k Kind) neighborhood() bool { return k >= KindNeighborAllgather && k <= KindNeighborAlltoallw }

// rootSide returns where the root of a rooted call is, as seen from this process. On an intracommunicator it returns
// rootIsSelf at the root and rootIsRemote at all other members.
func (k *Call) rootSide() rootSide {
	switch {
	case k.Root == abi.MPI_ROOT || !k.Comm.IsInter() && int(k.Root) == k.Comm.Rank():
		return rootIsSelf
	case k.Root == abi.MPI_PROC_NULL:
		return rootInGroup
	}
	return rootIsRemote
}

// Locate validates the root of a rooted call, and determines the neighbors of a neighborhood collective. The methods
// below require that Locate has succeeded. Errors: MPI_ERR_ROOT if the root is invalid; MPI_ERR_TOPOLOGY if a
// neighborhood collective is called on a communicator without a topology.
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
			"root is %d; it must be MPI_ROOT, MPI_PROC_NULL or a rank of the remote group (0 to %d)",
			k.Root, k.Comm.RemoteSize()-1)
	}
	if k.Root < 0 || int(k.Root) >= k.Comm.Size() {
		return mpierr.New(abi.MPI_ERR_ROOT, "root is %d; valid ranks of the communicator are 0 to %d", k.Root,
			k.Comm.Size()-1)
	}
	return nil
}

// Sends returns whether the send arguments are significant at this process. Precondition: the root has been checked.
func (k *Call) Sends() bool {
	switch k.Kind {
	case KindBarrier, KindBcast:
		return false
	case KindScatter, KindScatterv:
		return k.rootSide() == rootIsSelf
	case KindReduce, KindGather, KindGatherv:
		return !k.Comm.IsInter() || k.rootSide() == rootIsRemote
	}
	return true
}

// Receives returns whether the receive arguments are significant at this process.
func (k *Call) Receives() bool {
	switch k.Kind {
	case KindBarrier:
		return false
	case KindBcast:
		return k.rootSide() != rootInGroup
	case KindReduce, KindGather, KindGatherv:
		return k.rootSide() == rootIsSelf
	case KindScatter, KindScatterv:
		return !k.Comm.IsInter() || k.rootSide() == rootIsRemote
	}
	return true
}

// isExscanRoot returns whether this process is rank 0 of an MPI_Exscan, which receives nothing.
func (k *Call) isExscanRoot() bool { return k.Kind == KindExscan && k.Comm.Rank() == 0 }

// InPlace returns whether the call passes MPI_IN_PLACE for a significant buffer. If it does, the count and type of that
// buffer are not significant.
func (k *Call) InPlace() bool {
	switch k.Kind {
	case KindBarrier, KindBcast:
		return false
	case KindScatter, KindScatterv:
		return k.Receives() && k.Recv.Addr == inPlace
	}
	return k.Sends() && k.Send.Addr == inPlace
}

// SendPeers returns the number of blocks to send, in a call that sends a block to each process or neighbor.
func (k *Call) SendPeers() int {
	if k.Kind.neighborhood() {
		return len(k.destinations)
	}
	return k.Comm.RemoteSize()
}

// RecvPeers returns the number of blocks to receive, in a call that receives a block from each process or neighbor.
func (k *Call) RecvPeers() int {
	if k.Kind.neighborhood() {
		return len(k.sources)
	}
	return k.Comm.RemoteSize()
}

// sideShape describes how the buffer of the send side or the receive side of a call is divided into blocks.
type sideShape uint8

const (
	shapeNone    sideShape = iota
	shapeOne               // one block of Count elements
	shapePerRank           // a block of Count elements for each process
	shapeVarying           // blocks of different sizes
)

// sendShape returns the shape of the send side at processes where the send arguments are significant.
func (k Kind) sendShape() sideShape {
	switch k {
	case KindBarrier, KindBcast:
		return shapeNone
	case KindScatter, KindAlltoall, KindNeighborAlltoall:
		return shapePerRank
	case KindScatterv, KindAlltoallv, KindAlltoallw, KindNeighborAlltoallv, KindNeighborAlltoallw:
		return shapeVarying
	}
	return shapeOne
}

// recvShape returns the shape of the receive side at processes where the receive arguments are significant.
func (k Kind) recvShape() sideShape {
	switch k {
	case KindBarrier:
		return shapeNone
	case KindGather, KindAllgather, KindAlltoall, KindNeighborAllgather, KindNeighborAlltoall:
		return shapePerRank
	case KindGatherv, KindAllgatherv, KindAlltoallv, KindAlltoallw, KindNeighborAllgatherv, KindNeighborAlltoallv,
		KindNeighborAlltoallw:
		return shapeVarying
	}
	return shapeOne
}

// blockAt returns block i of a side of the given shape.
func blockAt(b *Buffer, v *Blocks, sh sideShape, i int) Buffer {
	switch sh {
	case shapePerRank:
		return Buffer{b.Addr + uintptr(int64(i)*b.Count*b.Type.Extent()), b.Count, b.Type}
	case shapeVarying:
		if v.Types != nil {
			return Buffer{b.Addr + uintptr(v.Displs[i]), v.Counts[i], v.Types[i]}
		}
		return Buffer{b.Addr + uintptr(v.Displs[i]*b.Type.Extent()), v.Counts[i], b.Type}
	}
	return *b
}

// maxBytes is the largest size of the data of one buffer: the size of the address space.
const maxBytes = 1 << 47

// bytes returns the number of data bytes of b. Error: MPI_ERR_COUNT if the data exceeds the address space.
func (b *Buffer) bytes() (int, error) {
	hi, lo := bits.Mul64(uint64(b.Count), uint64(b.Type.Size()))
	if hi != 0 || lo > maxBytes {
		return 0, mpierr.New(abi.MPI_ERR_COUNT, "%d elements of %d bytes exceed the address space",
			b.Count, b.Type.Size())
	}
	return int(lo), nil
}

// retainTypes keeps the types of a call alive until releaseTypes.
func (k *Call) retainTypes() { k.eachType(func(t *datatype.Type) { t.Retain() }) }

func (k *Call) releaseTypes() { k.eachType((*datatype.Type).Release) }

func (k *Call) eachType(f func(*datatype.Type)) {
	for _, ts := range [][]*datatype.Type{{k.Send.Type, k.Recv.Type}, k.SendBlocks.Types, k.RecvBlocks.Types} {
		for _, t := range ts {
			if t != nil {
				f(t)
			}
		}
	}
}
