package main

import (
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/datatype"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// collective holds the arguments of a collective call from C.
type collective struct {
	function   string
	kind       coll.Kind
	comm       uintptr
	root       int32
	op         uintptr
	send, recv side
	wide       bool  // arrays have MPI_Count and MPI_Aint elements, not int
	tag        int32 // message tag of a nonblocking or persistent collective
	inShm      bool  // C found an error while it tried to use shared memory; Go only determines this error
	agreed     coll.Agreed
}

// side is one of the two buffers of a collective call. It has a count, or arrays of counts, displacements and, for
// MPI_Alltoallw, types.
type side struct {
	buf                   uintptr
	count                 int64
	typ                   uintptr
	counts, displs, types uintptr
}

// run executes a blocking call.
func (a *collective) run() (rc int32) {
	defer guard(a.function, handle.Comm, a.comm, &rc)
	var k coll.Call
	err := a.checked(&k)
	if err == nil {
		k.Agreed = a.agreed
		err = core.Self().Coll.Run(&k)
	}
	return finish(a.function, handle.Comm, a.comm, err)
}

// start creates and stores the request of a nonblocking or persistent call. Collectives define no info keys; the
// standard requires that unknown keys are ignored.
func (a *collective) start(persistent bool, info, request uintptr) (rc int32) {
	defer guard(a.function, handle.Comm, a.comm, &rc)
	return finish(a.function, handle.Comm, a.comm, a.makeRequest(persistent, info, request))
}

func (a *collective) makeRequest(persistent bool, info, to uintptr) error {
	if err := checkInfo(info); persistent && err != nil {
		return err
	}
	if to == 0 {
		return mpierr.New(abi.MPI_ERR_ARG, "request is NULL")
	}
	var k coll.Call
	if err := a.checked(&k); err != nil {
		return err
	}
	start := (*coll.Engine).Start
	if persistent {
		start = (*coll.Engine).Init
	}
	k.Tag = a.tag
	r, err := start(core.Self().Coll, &k)
	if err != nil {
		return err
	}
	h := r.Handle()
	if h == 0 {
		r.Free()
		return noRequest()
	}
	*out[uintptr](to) = h
	return nil
}

// checked stores the arguments in k. If inShm is true, it returns the error that C has found.
func (a *collective) checked(k *coll.Call) error {
	err := a.call(k)
	if err == nil && a.inShm {
		if err = k.Check(); err == nil {
			err = mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a collective operation")
		}
	}
	return err
}

// call resolves the handles and addresses among the arguments, and stores the result in k. It ignores arguments that
// are not significant at this process.
func (a *collective) call(k *coll.Call) error {
	c, err := commOf(a.comm)
	if err != nil {
		return err
	}
	k.Kind, k.Comm, k.Root = a.kind, c, a.root
	k.Send.Addr, k.Recv.Addr = a.send.buf, a.recv.buf
	if err := k.Locate(); err != nil {
		return err
	}
	sends, receives := k.Sends(), k.Receives()
	if k.Kind.Reduces() {
		if !sends && !receives {
			return nil
		}
		if k.Op, err = op.Get(a.op); err != nil {
			return err
		}
		if a.kind == coll.KindReduceScatter {
			k.RecvBlocks.Counts = integers(a.recv.counts, c.Size(), a.wide)
		}
		k.Recv.Count = a.recv.count
		k.Recv.Type, err = datatype.GetCommitted(a.recv.typ)
		return err
	}
	inPlace := k.InPlace()
	sendInPlace := inPlace && a.send.buf == abi.MPI_IN_PLACE
	if sends && !sendInPlace {
		if err := a.fillSide(&k.Send, &k.SendBlocks, &a.send, k.SendPeers()); err != nil {
			return err
		}
	}
	if receives && (!inPlace || sendInPlace) {
		return a.fillSide(&k.Recv, &k.RecvBlocks, &a.recv, k.RecvPeers())
	}
	return nil
}

func (a *collective) fillSide(b *coll.Buffer, v *coll.Blocks, from *side, n int) (err error) {
	b.Count = from.count
	v.Counts, v.Displs = integers(from.counts, n, a.wide),
		integers(from.displs, n, a.wide || a.kind == coll.KindNeighborAlltoallw)
	if a.kind != coll.KindAlltoallw && a.kind != coll.KindNeighborAlltoallw {
		count := from.count
		for _, c := range v.Counts {
			count |= c
		}
		b.Type, err = datatype.GetFor(from.typ, count)
		return err
	}
	if from.types == 0 && n > 0 {
		name := "sendtypes"
		if from == &a.recv {
			name = "recvtypes"
		}
		return mpierr.New(abi.MPI_ERR_ARG, "%s is NULL, but must have %d datatypes", name, n)
	}
	v.Types = make([]*datatype.Type, n)
	for i, h := range slice[uintptr](from.types, n) {
		if v.Counts != nil && v.Counts[i] == 0 {
			// the type of a block without data is not significant; some programs pass MPI_DATATYPE_NULL
			h = abi.MPI_BYTE
		}
		if v.Types[i], err = datatype.GetCommitted(h); err != nil {
			return mpierr.Wrap(err, "invalid datatype for rank %d", i)
		}
	}
	return nil
}

// integers copies an array of n ints or, if `wide` is true, of n 64-bit integers. It returns nil for a null pointer.
func integers(address uintptr, n int, wide bool) []int64 {
	if address == 0 {
		return nil
	}
	out := make([]int64, n)
	if wide {
		copy(out, slice[int64](address, n))
		return out
	}
	for i, x := range slice[int32](address, n) {
		out[i] = int64(x)
	}
	return out
}
