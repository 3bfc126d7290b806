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

// shmColl implements coll.Shm.
type shmColl struct {
	c        *C.struct_gompi_shm_coll  // of the members on this node; nil if there is only one
	nbc      *C.struct_gompi_nbc       // the same for nonblocking and persistent collectives
	nodes    *C.struct_gompi_hierarchy // two-level collectives; nil if all members are on this node
	comm     *comm.Comm
	owner    uintptr
	mismatch C.struct_gompi_coll_mismatch // set by C when calls of the members do not match
}

// owners maps the owner numbers that C passes to functions of gompi_go_callbacks to shmColl objects. A cgo.Handle for
// each communicator would cost more than all other work of openLocal.
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
	t := &shmColl{comm: h.Comm}
	t.register()
	if h.Block != nil && !t.openLocal(h) || h.Comm.Hierarchy != nil && !t.openNodes(h.Comm) {
		t.Close()
		return nil, errNoShm
	}
	setShmObject(t, h.Comm.Outer)
	return t, nil
}

// openLocal creates the shared-memory collectives of the members on this node. It returns false if out of memory.
func (t *shmColl) openLocal(h coll.ShmHost) bool {
	n, place := h.Comm.LocalMembers()
	t.c = C.gompi_shm_coll_open(unsafe.Pointer(unsafe.SliceData(h.Block)), C.int(n), C.int(place),
		(*C.int32_t)(unsafe.SliceData(h.Peers)), C.uintptr_t(t.owner))
	t.nbc = C.gompi_nbc_open(unsafe.Pointer(&h.Block[int64(n)*shmMemberBytes]), C.int(n), C.int(place),
		(*C.int32_t)(unsafe.SliceData(h.Peers)), C.uintptr_t(t.owner))
	C.gompi_nbc_register_service()
	return t.c != nil && t.nbc != nil
}

// openNodes creates the two-level collectives. It returns false if out of memory.
func (t *shmColl) openNodes(c *comm.Comm) bool {
	n, place := c.LocalMembers()
	var pin runtime.Pinner
	defer pin.Unpin()
	list := func(l []int32) *C.int32_t {
		pin.Pin(&l[0])
		return (*C.int32_t)(&l[0])
	}
	view := C.struct_gompi_hierarchy{
		n: C.int(c.Size()), me: C.int(c.Rank()), nodes: C.int(len(c.Hierarchy.Leaders)),
		node: C.int(c.Hierarchy.Node), local_size: C.int(n), local_rank: C.int(place),
		node_of: list(c.Hierarchy.NodeOf), local_ranks: list(c.Hierarchy.Local),
		is_regular:         C.bool(c.Hierarchy.Regular),
		max_ranks_per_node: C.int(c.Hierarchy.MaxRanksPerNode), shm_coll: t.c}
	if t.c != nil {
		view.barrier = (*C.struct_gompi_barrier)(unsafe.Pointer(unsafe.SliceData(c.Block)))
	}
	leaders := make([]int32, len(c.Hierarchy.Leaders))
	for i, r := range c.Hierarchy.Leaders {
		leaders[i] = c.Group().World(int(r))
	}
	t.nodes = C.gompi_hierarchy_open(&view, nil, C.uint64_t(c.Context(comm.NodeLeaders)), list(leaders))
	return t.nodes != nil
}

// Leave implements coll.Shm.
func (t *shmColl) Leave() bool {
	return t.nbc != nil && t.nbc.references != 0 && bool(C.gompi_nbc_comm_freed(t.nbc))
}

// Used implements coll.Shm.
func (t *shmColl) Used() bool {
	return t.c != nil && (t.c.seq != 0 || t.nbc.last_started != 0 || t.nbc.init_count != 0)
}

// Clean implements coll.Shm.
func (t *shmColl) Clean() {
	if t.c != nil {
		C.gompi_shm_coll_reset(t.c)
		C.gompi_nbc_reset(t.nbc)
		C.gompi_nbc_persistent_reset(t.nbc)
	}
}

func (t *shmColl) Close() {
	if t.nodes != nil {
		C.gompi_hierarchy_close(t.nodes)
	}
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

// Barrier implements coll.Shm.
func (t *shmColl) Barrier() error {
	c := C.struct_gompi_coll_call{kind: C.GOMPI_BARRIER, name: C.gompi_current_call()}
	if t.nodes != nil {
		return t.result(C.gompi_hierarchy_run(t.nodes, &c))
	}
	return t.result(C.gompi_shm_run(t.c, &c))
}

// RunOnNode implements coll.Shm. It pins the memory that x refers to, because C holds the addresses as integers.
func (t *shmColl) RunOnNode(x *coll.ShmCall) error {
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
	c.in, c.out = bytes(x.In), bytes(x.Out)
	if n := len(x.Outs); n > 0 {
		outs, sizes := make([]C.uintptr_t, n), make([]C.uint64_t, n)
		for i, b := range x.Outs {
			outs[i], sizes[i] = C.uintptr_t(uintptr(unsafe.Pointer(bytes(b)))), C.uint64_t(len(b))
		}
		pin.Pin(&outs[0])
		pin.Pin(&sizes[0])
		c.outs.list, c.sizes = &outs[0], &sizes[0]
	}
	switch r := &c.reduction; {
	case x.Op == nil:
	case x.Op.User():
		r.function, r.large = C.uintptr_t(x.Op.Function()), C.bool(x.Op.Large())
		r._type = C.uintptr_t(x.Type.Handle())
		if x.Packed {
			r.unpacked_type = C.gompi_type_get(C.MPI_Datatype(pointer(x.Type.Handle())))
		}
	default:
		r.kernel = C.gompi_op_kernel(C.MPI_Op(pointer(x.Op.Handle())),
			C.MPI_Datatype(pointer(x.Type.Basic().Handle)))
	}
	c.reduction.size = C.uint64_t(x.Elem)
	rc := C.gompi_shm_run(t.c, &c)
	t.mismatch = c.mismatch
	return t.result(rc)
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
