package coll

import (
	"fmt"
	"math"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// Check validates all arguments that can be checked at this process. The caller calls it before any data is sent. The
// caller has looked up the handles, and passes nil for each handle that is not significant.
//
// Errors: those of Locate, and
//
// MPI_ERR_COMM for an intercommunicator where the standard allows none.
//
// MPI_ERR_COUNT for a negative count, or more data than the address space can hold.
//
// MPI_ERR_OP for an operation that does not support the type.
//
// MPI_ERR_BUFFER for a null pointer, MPI_IN_PLACE where it is not allowed, or the same buffer twice.
//
// MPI_ERR_ARG for a missing array.
//
// The block of this process to itself may have different lengths on the send and the receive side. Then Check stores
// MPI_ERR_TRUNCATE or MPI_ERR_COUNT in k.deferredErr. The call returns this error only at its end, because the other
// members need this process to take part.
func (k *Call) Check() error {
	if k.Comm.IsInter() && (k.Kind == KindScan || k.Kind == KindExscan || k.Kind.neighborhood()) {
		return mpierr.New(abi.MPI_ERR_COMM, "%v does not support intercommunicators", k.Kind)
	}
	if err := k.Locate(); err != nil {
		return err
	}
	if k.Kind.Reduces() {
		return k.checkReduction()
	}
	sends, receives, inPlace := k.Sends(), k.Receives(), k.InPlace()
	if err := k.checkInPlace(sends, receives); err != nil {
		return err
	}
	sendSide, recvSide := k.Kind.sendShape(), k.Kind.recvShape()
	// In a scatter only the receive buffer may be MPI_IN_PLACE, in other calls only the send buffer.
	backwards := k.Kind == KindScatter || k.Kind == KindScatterv
	if sends && (!inPlace || backwards) {
		if err := k.checkSide("send", &k.Send, &k.SendBlocks, sendSide, k.SendPeers(),
			k.destinations); err != nil {
			return err
		}
	}
	if receives && (!inPlace || !backwards) {
		if err := k.checkSide("receive", &k.Recv, &k.RecvBlocks, recvSide, k.RecvPeers(),
			k.sources); err != nil {
			return err
		}
	}
	if !sends || !receives || inPlace || k.Comm.IsInter() || k.Kind.neighborhood() {
		return nil
	}
	return k.checkOwn(sendSide, recvSide)
}

// checkInPlace returns an error if the call passes MPI_IN_PLACE where the standard does not allow it.
func (k *Call) checkInPlace(sends, receives bool) error {
	sendMay, recvMay := !k.Comm.IsInter() && !k.Kind.neighborhood(), false
	switch k.Kind {
	case KindGather, KindGatherv, KindReduce:
		sendMay = sendMay && k.rootSide() == rootIsSelf
	case KindScatter, KindScatterv:
		sendMay, recvMay = false, sendMay && k.rootSide() == rootIsSelf
	}
	if sends && k.Send.Addr == inPlace && !sendMay {
		return k.notInPlace("send")
	}
	if receives && k.Recv.Addr == inPlace && !recvMay {
		return k.notInPlace("receive")
	}
	return nil
}

func (k *Call) notInPlace(side string) error {
	where := "of this function"
	switch {
	case k.Kind.neighborhood():
		where = "in a neighborhood collective"
	case k.Comm.IsInter():
		where = "on an intercommunicator"
	case k.Kind.Rooted() && k.rootSide() != rootIsSelf:
		where = fmt.Sprintf("at rank %d, which is not the root %d", k.Comm.Rank(), k.Root)
	}
	return mpierr.New(abi.MPI_ERR_BUFFER, "MPI_IN_PLACE must not be the %s buffer %s", side, where)
}

// checkSide validates the buffer and the counts of one side. It does not validate the types of blocks without data,
// because the look-up of their handles was the only check that they need. In a neighborhood collective it sets the
// counts of blocks for MPI_PROC_NULL to 0.
func (k *Call) checkSide(side string, b *Buffer, v *Blocks, sh sideShape, n int, neighbors []int32) error {
	switch sh {
	case shapeVarying:
		if len(v.Counts) < n || len(v.Displs) < n {
			return mpierr.New(abi.MPI_ERR_ARG, "the array of %s counts or displacements is NULL", side)
		}
	default:
		if sh == shapeOne {
			n = 1
		}
		if b.Count < 0 {
			return mpierr.New(abi.MPI_ERR_COUNT, "the %s count is %d; it must not be "+
				"negative", side, b.Count)
		}
		size, err := b.bytes()
		if err != nil {
			return err
		}
		if n > 0 && size > maxBytes/n {
			return mpierr.New(abi.MPI_ERR_COUNT, "%d blocks of %d bytes exceed the address space", n,
				size)
		}
		return checkMemory(side, &Buffer{b.Addr, b.Count * int64(n), b.Type}, size*n)
	}
	total := 0
	for i := 0; i < n; i++ {
		p := blockAt(b, v, sh, i)
		if p.Count < 0 {
			return mpierr.New(abi.MPI_ERR_COUNT, "the %s count for rank %d is %d; it must not be "+
				"negative", side, i, p.Count)
		}
		if neighbors != nil && neighbors[i] == abi.MPI_PROC_NULL {
			v.Counts[i] = 0
			continue
		}
		size, err := p.bytes()
		if err != nil {
			return err
		}
		if total += size; total > maxBytes {
			return mpierr.New(abi.MPI_ERR_COUNT, "the sum of the %s counts exceeds the address space", side)
		}
		if size == 0 {
			continue
		}
		if v.Types == nil && !fits(v.Displs[i], b.Type.Extent()) {
			return mpierr.New(abi.MPI_ERR_ARG,
				"the %s displacement for rank %d is %d elements with an extent of %d bytes, which "+
					"exceeds the address space", side, i,
				v.Displs[i], b.Type.Extent())
		}
		if err := checkMemory(side, &p, size); err != nil {
			return err
		}
	}
	return nil
}

// fits returns whether a*b fits into 64 bits.
func fits(a, b int64) bool {
	p := a * b
	return b == 0 || p/b == a && (b != -1 || a != math.MinInt64)
}

// checkMemory returns an error if the data of b lies in the first page, where null pointers point, or exceeds the
// address space. It checks the data and not b.Addr, because b.Addr may be MPI_BOTTOM, which is 0: the type then holds
// absolute addresses.
func checkMemory(side string, b *Buffer, size int) error {
	if size == 0 || b.Type.Basic() != nil && datatype.FitsAddressSpace(b.Addr, int64(size)) {
		return nil
	}
	return b.Type.InMemory(side, b.Addr, b.Count)
}

// checkOwn validates the block that a process sends to itself: its send and receive data must not be at the same
// address. If the lengths differ, checkOwn sets k.deferredErr.
func (k *Call) checkOwn(sendSide, recvSide sideShape) error {
	me := k.Comm.Rank()
	s, r := blockAt(&k.Send, &k.SendBlocks, sendSide, me), blockAt(&k.Recv, &k.RecvBlocks, recvSide, me)
	out, err := s.bytes()
	if err != nil {
		return err
	}
	in, err := r.bytes()
	if err != nil {
		return err
	}
	switch {
	case out > 0 && s.Addr == r.Addr && s.Type == r.Type:
		return mpierr.New(abi.MPI_ERR_BUFFER,
			"the send and the receive buffer are the same (%#x): pass MPI_IN_PLACE instead", s.Addr)
	case out > in:
		k.deferredErr = mpierr.New(abi.MPI_ERR_TRUNCATE,
			"rank %d sends %d bytes to itself, but expects to receive only %d", me,
			out, in)
	case out < in:
		k.deferredErr = mpierr.New(abi.MPI_ERR_COUNT, "rank %d sends %d bytes to itself, but expects to "+
			"receive %d", me,
			out, in)
	}
	return nil
}

// checkReduction validates a call with a reduction operation. In such a call, one count and one type describe both
// buffers.
func (k *Call) checkReduction() error {
	sends, receives := k.Sends(), k.Receives()
	if !sends && !receives {
		return nil
	}
	if err := k.checkInPlace(sends, receives); err != nil {
		return err
	}
	total := k.Recv // one count and one type, Recv's, describe both sides
	if k.Kind == KindReduceScatter {
		if len(k.RecvBlocks.Counts) < k.Comm.Size() {
			return mpierr.New(abi.MPI_ERR_ARG, "the array of receive counts is NULL")
		}
		total.Count = 0
		for i, n := range k.RecvBlocks.Counts[:k.Comm.Size()] {
			if n < 0 {
				return mpierr.New(abi.MPI_ERR_COUNT, "the receive count for rank %d is %d; it must "+
					"not be negative", i, n)
			}
			if total.Count += n; total.Count < 0 {
				return mpierr.New(abi.MPI_ERR_COUNT, "the sum of the receive counts exceeds 2^63 - 1")
			}
		}
	}
	if total.Count < 0 {
		return mpierr.New(abi.MPI_ERR_COUNT, "the count is %d; it must not be negative", total.Count)
	}
	size, err := total.bytes()
	if err != nil {
		return err
	}
	if n := k.Comm.Size(); k.Kind == KindReduceScatterBlock {
		if size > maxBytes/n {
			return mpierr.New(abi.MPI_ERR_COUNT, "%d blocks of %d bytes exceed the address space", n,
				size)
		}
		total.Count, size = total.Count*int64(n), size*n
	}
	if k.Op == nil {
		return mpierr.New(abi.MPI_ERR_OP, "the operation is MPI_OP_NULL")
	}
	if err := k.Op.ForReduce(k.Recv.Type); err != nil {
		return err
	}
	if size == 0 {
		return nil
	}
	if sends && k.Send.Addr != inPlace {
		b := Buffer{k.Send.Addr, total.Count, total.Type}
		if err := checkMemory("send", &b, size); err != nil {
			return err
		}
	}
	if receives && (!k.isExscanRoot() || k.Send.Addr == inPlace) {
		mine := total
		switch {
		case k.Send.Addr == inPlace:
		case k.Kind == KindReduceScatter:
			mine.Count = k.RecvBlocks.Counts[k.Comm.Rank()]
		case k.Kind == KindReduceScatterBlock:
			mine.Count = k.Recv.Count
		}
		if err := checkMemory("receive", &mine, int(mine.Count*mine.Type.Size())); err != nil {
			return err
		}
		if mine.Count > 0 && sends && !k.Comm.IsInter() && k.Send.Addr == k.Recv.Addr {
			return mpierr.New(abi.MPI_ERR_BUFFER,
				"the send and the receive buffer are the same (%#x): pass MPI_IN_PLACE "+
					"instead", k.Send.Addr)
		}
	}
	return nil
}
