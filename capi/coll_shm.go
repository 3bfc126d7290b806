package main

/*
#include "base/call_name.h"
#include "base/go_callbacks.h"
#include "coll/nbc.h"
#include "coll/nbc_persistent.h"
#include "coll/shm_coll.h"
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

func init() {
	comm.CollSize = func(n int) int64 { return int64(n)*(shmMemberBytes+nbcMemberBytes) + persistentBytes }
	coll.OpenShm = openShm
}

// Sizes in bytes of the areas of a communicator's control block, in order: the buffers of shared-memory collectives,
// the buffers of nonblocking shared-memory collectives, and the table of persistent collectives. The first two sizes
// are per member.
const (
	shmMemberBytes  = int64(unsafe.Sizeof(C.struct_gompi_shm_member{}))
	nbcMemberBytes  = int64(unsafe.Sizeof(C.struct_gompi_nbc_member{}))
	persistentBytes = int64(unsafe.Sizeof(C.struct_gompi_nbc_table{}))
)

// shmColl implements coll.Shm for members that share memory.
type shmColl struct {
	c        *C.struct_gompi_shm_coll
	nbc      *C.struct_gompi_nbc // for nonblocking and persistent collectives
	comm     *comm.Comm
	owner    uintptr
	mismatch C.struct_gompi_coll_mismatch // set by C when calls of the members do not match
}

// owners maps the owner numbers that C passes to functions of gompi_go_callbacks to shmColl objects. A cgo.Handle for
// each communicator would cost more than all other work of openLocalShm.
var owners struct {
	mu   sync.Mutex
	all  []*shmColl
	free []uintptr
}

func (t *shmColl) register() {
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

func (t *shmColl) unregister() {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	owners.all[t.owner] = nil
	owners.free = append(owners.free, t.owner)
}

func shmByOwner(number uintptr) *shmColl {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	return owners.all[number]
}

// errNoShm reports that there is no memory for the buffers of shared-memory collectives.
var errNoShm = mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for the shared buffers of a communicator")

func openShm(h coll.ShmHost) (coll.Shm, error) {
	if h.Comm.Hierarchy != nil {
		if t := openHierarchy(h); t != nil {
			setShmObject(t, h.Comm.Outer)
			return t, nil
		}
	} else if t := openLocalShm(h); t != nil {
		setShmObject(t, h.Comm.Outer)
		return t, nil
	}
	return nil, errNoShm
}

// openLocalShm creates the shared-memory collectives of the members on this node. It returns nil if out of memory.
func openLocalShm(h coll.ShmHost) *shmColl {
	t := &shmColl{comm: h.Comm}
	t.register()
	n, place := h.Comm.LocalMembers()
	t.c = C.gompi_shm_coll_open(unsafe.Pointer(unsafe.SliceData(h.Block)), C.int(n), C.int(place),
		(*C.int32_t)(unsafe.SliceData(h.Peers)), C.uintptr_t(t.owner))
	t.nbc = C.gompi_nbc_open(unsafe.Pointer(&h.Block[int64(n)*shmMemberBytes]), C.int(n), C.int(place),
		(*C.int32_t)(unsafe.SliceData(h.Peers)), C.uintptr_t(t.owner))
	if t.c == nil || t.nbc == nil {
		t.Close()
		return nil
	}
	C.gompi_nbc_register_service()
	return t
}

// Leave implements coll.Shm.
func (t *shmColl) Leave() bool { return t.nbc.references != 0 && bool(C.gompi_nbc_comm_freed(t.nbc)) }

// Used implements coll.Shm.
func (t *shmColl) Used() bool {
	return t.c.seq != 0 || t.nbc.last_started != 0 || t.nbc.init_count != 0
}

// Clean implements coll.Shm.
func (t *shmColl) Clean() {
	C.gompi_shm_coll_reset(t.c)
	C.gompi_nbc_reset(t.nbc)
	C.gompi_nbc_persistent_reset(t.nbc)
}

func (t *shmColl) Close() {
	if t.c != nil {
		C.gompi_shm_coll_close(t.c)
	}
	if t.nbc != nil {
		C.gompi_nbc_close(t.nbc)
	}
	t.unregister()
}

func (t *shmColl) Supports(k coll.Kind) bool {
	n, _ := t.comm.LocalMembers()
	return bool(C.gompi_shm_supports(C.int(k), C.int(n)))
}

// Bcast implements coll.Shm.
func (t *shmColl) Bcast(root int, b []byte) error {
	rc := C.gompi_shm_bcast_internal(t.c, C.int(root), unsafe.Pointer(&b[0]), C.uint64_t(len(b)), &t.mismatch)
	return t.result(rc)
}

// Allgather implements coll.Shm.
func (t *shmColl) Allgather(mine, all []byte) error {
	rc := C.gompi_shm_allgather_internal(t.c, unsafe.Pointer(&mine[0]), unsafe.Pointer(&all[0]),
		C.uint64_t(len(mine)),
		&t.mismatch)
	return t.result(rc)
}

func (t *shmColl) result(rc C.int) error {
	switch rc {
	case C.GOMPI_COLL_DONE:
		return nil
	case C.GOMPI_COLL_MISMATCH:
		return mismatchError(&t.mismatch)
	}
	return mpierr.New(int32(rc), "%s", C.GoString(C.gompi_shm_error_text(rc)))
}

// hierarchy implements coll.Shm for members on several nodes (two-level collectives).
type hierarchy struct {
	c      *C.struct_gompi_hierarchy
	onNode *shmColl // nil if this is the only member on this node
}

// openHierarchy creates the two-level collectives of a communicator. It returns nil if out of memory.
func openHierarchy(h coll.ShmHost) *hierarchy {
	c := h.Comm
	n, place := c.LocalMembers()
	t := &hierarchy{}
	var pin runtime.Pinner
	defer pin.Unpin()
	list := func(l []int32) *C.int32_t {
		pin.Pin(&l[0])
		return (*C.int32_t)(&l[0])
	}
	view := C.struct_gompi_hierarchy{
		n: C.int(c.Size()), me: C.int(c.Rank()), nodes: C.int(len(c.Hierarchy.Leaders)),
		node: C.int(c.Hierarchy.Node), local_size: C.int(n), local_rank: C.int(place),
		node_of:     list(c.Hierarchy.NodeOf),
		local_ranks: list(c.Hierarchy.Local), max_ranks_per_node: C.int(c.Hierarchy.MaxRanksPerNode)}
	if h.Block != nil {
		if t.onNode = openLocalShm(h); t.onNode == nil {
			return nil
		}
		view.shm_coll = t.onNode.c
		view.barrier = (*C.struct_gompi_barrier)(unsafe.Pointer(unsafe.SliceData(c.Block)))
	}
	leaders := make([]int32, len(c.Hierarchy.Leaders))
	for i, r := range c.Hierarchy.Leaders {
		leaders[i] = c.Group().World(int(r))
	}
	t.c = C.gompi_hierarchy_open(&view, nil, C.uint64_t(c.Context(comm.NodeLeaders)), list(leaders))
	if t.c == nil {
		if t.onNode != nil {
			t.onNode.Close()
		}
		return nil
	}
	return t
}

// Leave implements coll.Shm.
func (t *hierarchy) Leave() bool { return false }

// Used implements coll.Shm.
func (t *hierarchy) Used() bool { return t.onNode != nil && t.onNode.Used() }

// Clean implements coll.Shm.
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

// Bcast implements coll.Shm.
func (t *hierarchy) Bcast(root int, b []byte) error {
	_, err := t.Run(&coll.ShmCall{Kind: coll.KindBcast, Root: root, Bytes: len(b), Out: b})
	return err
}

// Allgather implements coll.Shm, for the members on this node.
func (t *hierarchy) Allgather(mine, all []byte) error { return t.onNode.Allgather(mine, all) }

func (t *hierarchy) Supports(k coll.Kind) bool { return bool(C.gompi_hierarchy_supports(C.int(k))) }

func (t *hierarchy) Run(x *coll.ShmCall) (bool, error) {
	return run(x, func(c *C.struct_gompi_coll_call) C.int { return C.gompi_hierarchy_run(t.c, c) })
}

func (t *hierarchy) RunOnNode(x *coll.ShmCall) (bool, error) { return t.onNode.Run(x) }

// reduction is a reduction that Go computes for C. C receives a cgo.Handle of the reduction, and passes this handle to
// gompi_reduce_in_go.
type reduction struct {
	combine func(in, inout []byte) error
	err     error
}

// Run implements coll.Shm.
func (t *shmColl) Run(x *coll.ShmCall) (bool, error) {
	return run(x, func(c *C.struct_gompi_coll_call) C.int { return C.gompi_shm_run(t.c, c) })
}

// RunOnNode implements coll.Shm.
func (t *shmColl) RunOnNode(x *coll.ShmCall) (bool, error) { return t.Run(x) }

// run converts the collective x to its C form and executes it with the function f. It pins the memory that x refers to,
// because C holds the addresses as integers.
func run(x *coll.ShmCall, f func(*C.struct_gompi_coll_call) C.int) (done bool, err error) {
	c := C.struct_gompi_coll_call{kind: C.int(x.Kind), root: C.int(x.Root), bytes: C.uint64_t(x.Bytes)}
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
			*(**C.char)(unsafe.Pointer(&list[i].buf)) = bytes(data[i]) // sets the union member `at`
		}
		pin.Pin(&list[0])
		return &list[0], C.int(len(list))
	}
	c.to, c.send_count = pairs(x.To, x.Ins)
	c.from, c.recv_count = pairs(x.From, x.Outs)
	r := &reduction{combine: x.Combine}
	switch {
	case x.Op == nil:
	case x.Combine != nil:
		h := cgo.NewHandle(r)
		defer h.Delete()
		c.reduction.go_handle = C.uintptr_t(h)
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
	case rc == C.GOMPI_COLL_DONE:
		return true, nil
	case rc == C.GOMPI_COLL_USE_MESSAGES:
		x.Agreed = coll.Agreed{Known: true, Bytes: int(c.bytes)}
		if c.mismatch.rank >= 0 {
			x.Agreed.DeferredErr = mismatchError(&c.mismatch)
		}
		return false, nil
	case rc == C.GOMPI_COLL_MISMATCH:
		return true, mismatchError(&c.mismatch)
	case r.err != nil:
		return true, r.err
	}
	return true, mpierr.New(int32(rc), "%s", C.GoString(C.gompi_shm_error_text(rc)))
}

func mismatchError(d *C.struct_gompi_coll_mismatch) error {
	return coll.Mismatch(int(d.rank), uint64(d.peer_signature), uint64(d.peer_format),
		uint64(d.local_signature), uint64(d.local_format))
}

// gompi_grow_shm allocates more zeroed memory for the shared-memory collectives of a communicator. It is collective,
// and returns NULL at all members if out of memory. The argument `owner` is the value that was passed to
// gompi_shm_coll_open.
//
//gompi:callback void *(uintptr_t owner, uint64_t bytes)
//export gompi_grow_shm
func gompi_grow_shm(owner uintptr, bytes uint64) uintptr {
	b, err := shmByOwner(owner).comm.Extend(int64(bytes))
	if err != nil {
		return 0
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

// gompi_alloc_block allocates zeroed memory that the members of a communicator on this node share. It returns the name
// by which other members map the memory (gompi_map_block), or 0 if out of memory.
//
//gompi:callback uint64_t (uintptr_t owner, uint64_t bytes)
//export gompi_alloc_block
func gompi_alloc_block(owner uintptr, bytes uint64) uint64 {
	name, err := shmByOwner(owner).comm.AllocBlock(int64(bytes))
	if err != nil {
		return 0
	}
	return name
}

// gompi_map_block maps memory that a member has allocated with gompi_alloc_block. It returns NULL if the memory cannot
// be mapped.
//
//gompi:callback void *(uintptr_t owner, uint64_t name, uint64_t bytes)
//export gompi_map_block
func gompi_map_block(owner uintptr, name, bytes uint64) uintptr {
	b, err := shmByOwner(owner).comm.OpenBlock(name, int64(bytes))
	if err != nil {
		return 0
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

// gompi_free_block releases memory of gompi_alloc_block that no member uses any longer.
//
//gompi:callback void (uintptr_t owner, uint64_t name, uint64_t bytes)
//export gompi_free_block
func gompi_free_block(owner uintptr, name, bytes uint64) {
	shmByOwner(owner).comm.FreeBlock(name, int64(bytes))
}

// gompi_reduce_in_go computes inout = in op inout for arrays of the given number of bytes, with a reduction implemented
// in Go. It returns 0 or an error class.
//
//gompi:callback int (uintptr_t reduction, const void *in, void *inout, uint64_t bytes)
//export gompi_reduce_in_go
func gompi_reduce_in_go(which, in, inout uintptr, bytes uint64) int32 {
	r := cgo.Handle(which).Value().(*reduction)
	if err := r.combine(slice[byte](in, int(bytes)), slice[byte](inout, int(bytes))); err != nil {
		r.err = err
		return mpierr.ClassOf(err)
	}
	return 0
}

// gompi_raise_mismatch raises the error that another member's collective call differs from this member's call, and
// returns the value that the call must return.
//
//gompi:callback int (uintptr_t comm, const char *call, const struct gompi_coll_mismatch *mismatch)
//export gompi_raise_mismatch
func gompi_raise_mismatch(comm, function, mismatch uintptr) int32 {
	return finish(C.GoString((*C.char)(pointer(function))), handle.Comm, comm,
		mismatchError(out[C.struct_gompi_coll_mismatch](mismatch)))
}

// collectiveOf converts the arguments of a collective call from C.
func collectiveOf(call uintptr) collective {
	c := out[C.struct_gompi_collective](call)
	from := func(s *C.struct_gompi_collective_side) side {
		return side{buf: uintptr(s.buf), count: int64(s.count), typ: uintptr(s._type),
			counts: uintptr(s.counts), displs: uintptr(s.displs), types: uintptr(s.types)}
	}
	return collective{function: C.GoString(c.name), kind: coll.Kind(c.kind), comm: uintptr(c.comm),
		root: int32(c.root), op: uintptr(c.op), send: from(&c.send), recv: from(&c.recv),
		wide: bool(c.is_large),
		tag:  int32(c.tag), inShm: bool(c.uses_shm)}
}

// gompi_start_collective starts a nonblocking collective or creates a persistent collective. It stores the request, and
// returns the result of the call.
//
//gompi:callback int (const struct gompi_collective *call, bool persistent, uintptr_t info, uintptr_t request)
//export gompi_start_collective
func gompi_start_collective(call uintptr, persistent bool, info, request uintptr) int32 {
	a := collectiveOf(call)
	return a.start(persistent, info, request)
}

// gompi_mismatch_text describes how another member's collective call differs from this member's call. It writes the
// description to `text`, of sizeof ((struct gompi_error_status *)0)->text bytes, and returns the error class.
//
//gompi:callback int (const struct gompi_coll_mismatch *mismatch, char *text)
//export gompi_mismatch_text
func gompi_mismatch_text(mismatch, text uintptr) int32 {
	err := mismatchError(out[C.struct_gompi_coll_mismatch](mismatch))
	storeText(text, err)
	return mpierr.ClassOf(err)
}

// gompi_release_comm releases a communicator that the application has freed, after the last operation started on it has
// ended.
//
//gompi:callback void (uintptr_t owner)
//export gompi_release_comm
func gompi_release_comm(owner uintptr) { shmByOwner(owner).comm.Unref() }

// gompi_run_collective executes a collective, including all checks. It returns the result of the call.
//
//gompi:callback int (const struct gompi_collective *call) as call->name
//export gompi_run_collective
func gompi_run_collective(call uintptr) int32 {
	c := out[C.struct_gompi_collective](call)
	a := collectiveOf(call)
	if c.agreed != nil {
		a.agreed = coll.Agreed{Known: true, Bytes: int(c.agreed.bytes)}
		if c.agreed.mismatch != nil {
			a.agreed.DeferredErr = mismatchError(c.agreed.mismatch)
		}
	}
	return a.run()
}
