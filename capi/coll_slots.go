package main

/*
#include "base/call.h"
#include "base/up.h"
#include "coll/board.h"
#include "coll/persistent.h"
#include "coll/slots.h"
#include "coll/hierarchy.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"sync"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// The kinds of collectives have the same numbers in C and Go.
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
	_ = same[C.GOMPI_ALLGATHERV-C.int(coll.KindAllgatherv)]
	_ = same[C.GOMPI_REDUCE_SCATTER_BLOCK-C.int(coll.KindReduceScatterBlock)]
	_ = same[C.GOMPI_GATHERV-C.int(coll.KindGatherv)]
	_ = same[C.GOMPI_SCATTERV-C.int(coll.KindScatterv)]
	_ = same[C.GOMPI_ALLTOALLV-C.int(coll.KindAlltoallv)]
	_ = same[C.GOMPI_ALLTOALLW-C.int(coll.KindAlltoallw)]
	_ = same[C.GOMPI_NEIGHBOR_ALLGATHER-C.int(coll.KindNeighborAllgather)]
	_ = same[C.GOMPI_NEIGHBOR_ALLGATHERV-C.int(coll.KindNeighborAllgatherv)]
	_ = same[C.GOMPI_NEIGHBOR_ALLTOALL-C.int(coll.KindNeighborAlltoall)]
	_ = same[C.GOMPI_NEIGHBOR_ALLTOALLV-C.int(coll.KindNeighborAlltoallv)]
	_ = same[C.GOMPI_NEIGHBOR_ALLTOALLW-C.int(coll.KindNeighborAlltoallw)]
	_ = same[C.GOMPI_IDUP-C.int(coll.KindIdup)]
)

func init() {
	comm.CollSize = func(n int) int64 { return int64(n)*(slotsBytes+boardBytes) + persistentBytes }
	coll.OpenSlots = openSlots
}

// The sizes of the parts of a communicator's control block: first the slots of all members, then the boards of all
// members. The first two sizes are for one member. The last one is the size of the common table of the boards of
// persistent collectives.
const (
	slotsBytes      = int64(unsafe.Sizeof(C.struct_gompi_slots_member{}))
	boardBytes      = int64(unsafe.Sizeof(C.struct_gompi_board_member{}))
	persistentBytes = int64(unsafe.Sizeof(C.struct_gompi_persistent_table{}))
)

// slots implements coll.Slots for members that share memory.
type slots struct {
	c      *C.struct_gompi_slots
	board  *C.struct_gompi_board // for nonblocking and persistent collectives
	comm   *comm.Comm
	owner  uintptr
	differ C.struct_gompi_slots_differ // set by C when calls of the members do not match
}

// owners maps the owner numbers that C passes to gompi_up functions to slots. A cgo.Handle for each communicator would
// cost more than the rest of opening its slots.
var owners struct {
	mu   sync.Mutex
	all  []*slots
	free []uintptr
}

func (t *slots) enter() {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	if n := len(owners.free); n > 0 {
		t.owner, owners.free = owners.free[n-1], owners.free[:n-1]
	} else {
		t.owner = uintptr(len(owners.all))
		owners.all = append(owners.all, nil)
	}
	owners.all[t.owner] = t
}

func (t *slots) leave() {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	owners.all[t.owner] = nil
	owners.free = append(owners.free, t.owner)
}

func slotsOf(number uintptr) *slots {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	return owners.all[number]
}

// errNoSlots reports that there is no memory for slots.
var errNoSlots = mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for the shared buffers of a communicator")

func openSlots(h coll.SlotsHost) (coll.Slots, error) {
	if h.Comm.Hierarchy != nil {
		if t := openHierarchy(h); t != nil {
			return t, nil
		}
	} else if t := openOnNode(h); t != nil {
		return t, nil
	}
	return nil, errNoSlots
}

// openOnNode creates the slots of the members on this node. It returns nil if out of memory.
func openOnNode(h coll.SlotsHost) *slots {
	t := &slots{comm: h.Comm}
	t.enter()
	n, place := h.Comm.Sharers()
	t.c = C.gompi_slots_open(unsafe.Pointer(unsafe.SliceData(h.Block)), C.int(n), C.int(place),
		(*C.int32_t)(unsafe.SliceData(h.Peers)), C.uintptr_t(t.owner))
	t.board = C.gompi_board_open(unsafe.Pointer(&h.Block[int64(n)*slotsBytes]), C.int(n), C.int(place),
		(*C.int32_t)(unsafe.SliceData(h.Peers)), C.uintptr_t(t.owner))
	if t.c == nil || t.board == nil {
		t.Close()
		return nil
	}
	C.gompi_boards_serve()
	return t
}

// Leave implements coll.Slots.
func (t *slots) Leave() bool { return t.board.held != 0 && bool(C.gompi_board_leave(t.board)) }

// Used implements coll.Slots.
func (t *slots) Used() bool { return t.c.seq != 0 || t.board.last != 0 || t.board.initialized != 0 }

// Clean implements coll.Slots.
func (t *slots) Clean() {
	C.gompi_slots_clean(t.c)
	C.gompi_board_clean(t.board)
	C.gompi_persistent_clean(t.board)
}

func (t *slots) Close() {
	if t.c != nil {
		C.gompi_slots_close(t.c)
	}
	if t.board != nil {
		C.gompi_board_close(t.board)
	}
	t.leave()
}

func (t *slots) Fits(k coll.Kind) bool {
	n, _ := t.comm.Sharers()
	return bool(C.gompi_slots_fit(C.int(k), C.int(n)))
}

// Bcast implements coll.Slots.
func (t *slots) Bcast(root int, b []byte) error {
	rc := C.gompi_slots_tell(t.c, C.int(root), unsafe.Pointer(&b[0]), C.uint64_t(len(b)), &t.differ)
	return t.result(rc)
}

// Allgather implements coll.Slots.
func (t *slots) Allgather(mine, all []byte) error {
	rc := C.gompi_slots_tell_all(t.c, unsafe.Pointer(&mine[0]), unsafe.Pointer(&all[0]), C.uint64_t(len(mine)),
		&t.differ)
	return t.result(rc)
}

func (t *slots) result(rc C.int) error {
	switch rc {
	case C.GOMPI_SLOTS_DONE:
		return nil
	case C.GOMPI_SLOTS_DIFFER:
		return differs(&t.differ)
	}
	return mpierr.New(int32(rc), "%s", C.GoString(C.gompi_slots_text(rc)))
}

// hierarchy implements coll.Slots for members on several nodes (two-level collectives).
type hierarchy struct {
	c      *C.struct_gompi_hierarchy
	onNode *slots // nil if this is the only member on this node
}

// openHierarchy creates the two-level collectives of a communicator. It returns nil if out of memory.
func openHierarchy(h coll.SlotsHost) *hierarchy {
	c := h.Comm
	n, place := c.Sharers()
	t := &hierarchy{}
	var pin runtime.Pinner
	defer pin.Unpin()
	list := func(l []int32) *C.int32_t {
		pin.Pin(&l[0])
		return (*C.int32_t)(&l[0])
	}
	view := C.struct_gompi_hierarchy{
		n: C.int(c.Size()), me: C.int(c.Rank()), nodes: C.int(len(c.Hierarchy.Leaders)),
		node: C.int(c.Hierarchy.Node), here: C.int(n), place: C.int(place), node_of: list(c.Hierarchy.NodeOf),
		local: list(c.Hierarchy.Local), most_here: C.int(c.Hierarchy.Most)}
	if h.Block != nil {
		if t.onNode = openOnNode(h); t.onNode == nil {
			return nil
		}
		view.slots = t.onNode.c
		view.barrier = (*C.struct_gompi_barrier)(unsafe.Pointer(unsafe.SliceData(c.Block)))
	}
	leaders := make([]int32, len(c.Hierarchy.Leaders))
	for i, r := range c.Hierarchy.Leaders {
		leaders[i] = c.Group().World(int(r))
	}
	if t.c = C.gompi_hierarchy_open(&view, C.uint64_t(c.Context(0)), list(leaders)); t.c == nil {
		if t.onNode != nil {
			t.onNode.Close()
		}
		return nil
	}
	return t
}

// Leave implements coll.Slots.
func (t *hierarchy) Leave() bool { return false }

// Used implements coll.Slots.
func (t *hierarchy) Used() bool { return t.onNode != nil && t.onNode.Used() }

// Clean implements coll.Slots.
func (t *hierarchy) Clean() {
	if t.onNode != nil {
		t.onNode.Clean()
	}
}

func (t *hierarchy) Close() {
	C.gompi_hierarchy_close(t.c)
	if t.onNode != nil {
		t.onNode.Close()
	}
}

// Bcast implements coll.Slots.
func (t *hierarchy) Bcast(root int, b []byte) error {
	_, err := t.Run(&coll.Exchange{Kind: coll.KindBcast, Root: root, Bytes: len(b), Out: b})
	return err
}

// Allgather implements coll.Slots, for the members on this node.
func (t *hierarchy) Allgather(mine, all []byte) error { return t.onNode.Allgather(mine, all) }

func (t *hierarchy) Fits(k coll.Kind) bool { return bool(C.gompi_hierarchy_fits(C.int(k))) }

func (t *hierarchy) Run(x *coll.Exchange) (bool, error) {
	return run(x, func(c *C.struct_gompi_slots_call) C.int { return C.gompi_hierarchy_run(t.c, c) })
}

func (t *hierarchy) RunOnNode(x *coll.Exchange) (bool, error) { return t.onNode.Run(x) }

// reduction is the object behind the handle that C passes to gompi_combine_in_go.
type reduction struct {
	combine func(in, inout []byte) error
	err     error
}

// Run implements coll.Slots.
func (t *slots) Run(x *coll.Exchange) (bool, error) {
	return run(x, func(c *C.struct_gompi_slots_call) C.int { return C.gompi_slots_run(t.c, c) })
}

// RunOnNode implements coll.Slots.
func (t *slots) RunOnNode(x *coll.Exchange) (bool, error) { return t.Run(x) }

// run converts an exchange for C and executes it by f. It pins the memory that x refers to, because C holds the
// addresses as integers.
func run(x *coll.Exchange, f func(*C.struct_gompi_slots_call) C.int) (done bool, err error) {
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
	pairs := func(members []int32, data [][]byte) (*C.struct_gompi_pair_block, C.int) {
		if len(members) == 0 {
			return nil, 0
		}
		list := make([]C.struct_gompi_pair_block, len(members))
		for i, m := range members {
			list[i].member, list[i].buf.size = C.int32_t(m), C.int64_t(len(data[i]))
			*(**C.char)(unsafe.Pointer(&list[i].buf)) = bytes(data[i]) // sets the union member at
		}
		pin.Pin(&list[0])
		return &list[0], C.int(len(list))
	}
	c.to, c.sends = pairs(x.To, x.Ins)
	c.from, c.receives = pairs(x.From, x.Outs)
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
	rc := f(&c)
	switch {
	case rc == C.GOMPI_SLOTS_DONE:
		return true, nil
	case rc == C.GOMPI_SLOTS_MESSAGES:
		x.Agreed = coll.Agreed{Known: true, Bytes: int(c.bytes)}
		if c.differ.rank >= 0 {
			x.Agreed.Late = differs(&c.differ)
		}
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

// gompi_more_slots implements gompi_up.more_slots.
//
//export gompi_more_slots
func gompi_more_slots(owner uintptr, bytes uint64) uintptr {
	b, err := slotsOf(owner).comm.Extend(int64(bytes))
	if err != nil {
		return 0
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

// gompi_take_block implements gompi_up.take_block. It returns 0 if out of memory.
//
//export gompi_take_block
func gompi_take_block(owner uintptr, bytes uint64) uint64 {
	name, err := slotsOf(owner).comm.TakeBlock(int64(bytes))
	if err != nil {
		return 0
	}
	return name
}

// gompi_open_block implements gompi_up.open_block.
//
//export gompi_open_block
func gompi_open_block(owner uintptr, name, bytes uint64) uintptr {
	b, err := slotsOf(owner).comm.OpenBlock(name, int64(bytes))
	if err != nil {
		return 0
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

// gompi_give_block implements gompi_up.give_block.
//
//export gompi_give_block
func gompi_give_block(owner uintptr, name, bytes uint64) {
	slotsOf(owner).comm.GiveBlock(name, int64(bytes))
}

// gompi_combine_in_go implements gompi_up.combine.
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

// gompi_refuse_slots implements gompi_up.slots_differ.
//
//export gompi_refuse_slots
func gompi_refuse_slots(comm, function, differ uintptr) int32 {
	return finish(C.GoString((*C.char)(pointer(function))), handle.Comm, comm,
		differs(out[C.struct_gompi_slots_differ](differ)))
}

// collectiveOf converts the arguments of a collective call from C.
func collectiveOf(call uintptr) collective {
	c := out[C.struct_gompi_collective](call)
	from := func(s *C.struct_gompi_side) side {
		return side{buf: uintptr(s.buf), count: int64(s.count), typ: uintptr(s._type),
			counts: uintptr(s.counts), displs: uintptr(s.displs), types: uintptr(s.types)}
	}
	return collective{function: C.GoString(c.name), kind: coll.Kind(c.kind), comm: uintptr(c.comm),
		root: int32(c.root), op: uintptr(c.op), send: from(&c.send), recv: from(&c.recv), wide: bool(c.wide),
		tag: int32(c.tag), here: bool(c.here)}
}

// gompi_start_collective implements gompi_up.start_collective.
//
//export gompi_start_collective
func gompi_start_collective(call uintptr, persistent bool, info, request uintptr) int32 {
	a := collectiveOf(call)
	return a.start(persistent, info, request)
}

// gompi_tell_differ implements gompi_up.explain_differ.
//
//export gompi_tell_differ
func gompi_tell_differ(differ, text uintptr) int32 {
	err := differs(out[C.struct_gompi_slots_differ](differ))
	storeText(text, err)
	return mpierr.ClassOf(err)
}

// gompi_let_comm_go implements gompi_up.board_left.
//
//export gompi_let_comm_go
func gompi_let_comm_go(owner uintptr) { slotsOf(owner).comm.Unref() }

// gompi_run_collective implements gompi_up.collective.
//
//export gompi_run_collective
func gompi_run_collective(call uintptr) int32 {
	c := out[C.struct_gompi_collective](call)
	a := collectiveOf(call)
	if c.agreed != nil {
		a.agreed = coll.Agreed{Known: true, Bytes: int(c.agreed.bytes)}
		if c.agreed.differ != nil {
			a.agreed.Late = differs(c.agreed.differ)
		}
	}
	return a.run()
}
