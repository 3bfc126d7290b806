package main

/*
#include "base/call.h"
#include "base/up.h"
#include "coll/slots.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"

	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// The kinds that C and Go count alike.
var (
	_ = same[C.GOMPI_BARRIER-C.int(coll.KindBarrier)]
	_ = same[C.GOMPI_BCAST-C.int(coll.KindBcast)]
	_ = same[C.GOMPI_REDUCE-C.int(coll.KindReduce)]
	_ = same[C.GOMPI_ALLREDUCE-C.int(coll.KindAllreduce)]
	_ = same[C.GOMPI_GATHER-C.int(coll.KindGather)]
	_ = same[C.GOMPI_SCATTER-C.int(coll.KindScatter)]
	_ = same[C.GOMPI_ALLGATHER-C.int(coll.KindAllgather)]
	_ = same[C.GOMPI_ALLTOALL-C.int(coll.KindAlltoall)]
	_ = same[C.GOMPI_SCAN-C.int(coll.KindScan)]
	_ = same[C.GOMPI_EXSCAN-C.int(coll.KindExscan)]
	_ = same[C.GOMPI_REDUCE_SCATTER-C.int(coll.KindReduceScatter)]
)

func init() {
	comm.CollSize = func(n int) int64 { return int64(n) * int64(unsafe.Sizeof(C.struct_gompi_slots_member{})) }
	coll.SlotsFit = func(k coll.Kind, n int) bool { return bool(C.gompi_slots_fit(C.int(k), C.int(n))) }
	coll.OpenSlots = openSlots
}

// slots is coll.Slots.
type slots struct {
	c     *C.struct_gompi_slots
	comm  *comm.Comm
	owner cgo.Handle
}

func openSlots(h coll.SlotsHost) coll.Slots {
	t := &slots{comm: h.Comm}
	t.owner = cgo.NewHandle(t)
	t.c = C.gompi_slots_open(unsafe.Pointer(unsafe.SliceData(h.Block)), C.int(len(h.Peers)), C.int(h.Comm.Rank()),
		(*C.int32_t)(unsafe.SliceData(h.Peers)), C.uintptr_t(t.owner))
	if t.c == nil {
		panic("no memory for a communicator's slots") // the other members count on this one
	}
	return t
}

func (t *slots) Close() {
	C.gompi_slots_close(t.c)
	t.owner.Delete()
}

// reduction is what C gives back to gompi_combine_in_go.
type reduction struct {
	combine func(in, inout []byte) error
	err     error
}

// Run implements coll.Slots. What x refers to stays where it is and alive: C finds it through integers.
func (t *slots) Run(x *coll.Exchange) (done bool, err error) {
	c := C.struct_gompi_slots_call{kind: C.int(x.Kind), root: C.int(x.Root), bytes: C.uint64_t(x.Bytes)}
	c.name = C.gompi_current_call()
	var pin runtime.Pinner
	defer pin.Unpin()
	bytes := func(b []byte) *C.char {
		if len(b) == 0 {
			return nil
		}
		pin.Pin(&b[0])
		return (*C.char)(unsafe.Pointer(&b[0]))
	}
	numbers := func(n int) []C.uint64_t {
		list := make([]C.uint64_t, n)
		pin.Pin(&list[0])
		return list
	}
	blocks := func(from [][]byte) (to C.struct_gompi_blocks) {
		if len(from) == 0 {
			return to
		}
		list := make([]C.uintptr_t, len(from))
		for i, b := range from {
			list[i] = C.uintptr_t(uintptr(unsafe.Pointer(bytes(b))))
		}
		pin.Pin(&list[0])
		to.list = &list[0]
		return to
	}
	c.in, c.out, c.ins, c.outs = bytes(x.In), bytes(x.Out), blocks(x.Ins), blocks(x.Outs)
	if len(x.Sizes) > 0 {
		sizes := numbers(len(x.Sizes))
		for i, n := range x.Sizes {
			sizes[i] = C.uint64_t(n)
		}
		c.sizes = &sizes[0]
	}
	r := &reduction{combine: x.Combine}
	switch {
	case x.Op == nil:
	case x.Combine != nil:
		h := cgo.NewHandle(r)
		defer h.Delete()
		c.reduction._go = C.uintptr_t(h)
	case x.Op.User():
		c.reduction.function, c.reduction.large = C.uintptr_t(x.Op.Function()), C.bool(x.Op.Large())
		c.reduction._type = C.uintptr_t(x.Type.Handle())
	default:
		c.reduction.kernel = C.gompi_op_kernel(C.MPI_Op(pointer(x.Op.Handle())),
			C.MPI_Datatype(pointer(x.Type.Basic().Handle)))
	}
	c.reduction.size = C.uint64_t(x.Elem)
	rc := C.gompi_slots_run(t.c, &c)
	switch {
	case rc == C.GOMPI_SLOTS_DONE:
		return true, nil
	case rc == C.GOMPI_SLOTS_MESSAGES:
		return false, nil
	case rc == C.GOMPI_SLOTS_DIFFER:
		return true, differs(&c.differ)
	case r.err != nil:
		return true, r.err
	}
	return true, mpierr.New(int32(rc), "%s", C.GoString(C.gompi_slots_text(rc)))
}

func differs(d *C.struct_gompi_slots_differ) error {
	return coll.Mismatch(int(d.rank), uint64(d.theirs), uint64(d.their_plan), uint64(d.ours), uint64(d.our_plan))
}

// gompi_more_slots is gompi_up.more_slots.
//
//export gompi_more_slots
func gompi_more_slots(owner uintptr, bytes uint64) uintptr {
	b, err := cgo.Handle(owner).Value().(*slots).comm.Extend(int64(bytes))
	if err != nil {
		return 0
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

// gompi_combine_in_go is gompi_up.combine.
//
//export gompi_combine_in_go
func gompi_combine_in_go(which, in, inout uintptr, bytes uint64) int32 {
	r := cgo.Handle(which).Value().(*reduction)
	if err := r.combine(slice[byte](in, int(bytes)), slice[byte](inout, int(bytes))); err != nil {
		r.err = err
		return mpierr.ClassOf(err)
	}
	return 0
}

// gompi_refuse_slots is gompi_up.slots_differ.
//
//export gompi_refuse_slots
func gompi_refuse_slots(comm, function, differ uintptr) int32 {
	return finish(C.GoString((*C.char)(pointer(function))), handle.Comm, comm,
		differs(out[C.struct_gompi_slots_differ](differ)))
}

// gompi_run_collective is gompi_up.collective.
//
//export gompi_run_collective
func gompi_run_collective(call uintptr) int32 {
	c := out[C.struct_gompi_collective](call)
	from := func(s *C.struct_gompi_side) side {
		return side{buf: uintptr(s.buf), count: int64(s.count), typ: uintptr(s._type)}
	}
	a := collective{function: C.GoString(c.name), kind: coll.Kind(c.kind), comm: uintptr(c.comm),
		root: int32(c.root), op: uintptr(c.op), send: from(&c.send), recv: from(&c.recv)}
	return a.run()
}
