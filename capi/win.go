package main

/*
#include "base/event.h"
#include "rma/barrier.h"
#include "win/in_place.h"
#include "win/attached.h"
#include "win/win_table.h"
*/
import "C"

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"

	"gompirma/capi/engine"
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/comm"
	"gompirma/core/fabric"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/proc"
	"gompirma/core/rma"
	"gompirma/core/shm"
)

// Windows: creation, release and queries (MPI-5.0 12.2). The C files implement communication and synchronization.

// dataPath implements core.DataPath: the C part of the process.
type dataPath struct{ progressPath }

// NewProcesses implements core.DataPath.
func (dataPath) NewProcesses() (proc.Table, error) { return engine.NewProcesses() }

func (dataPath) Open(nd *shm.Node, all proc.Table) {
	fillTypeTables()
	openNode(nd, all)
}

func (dataPath) Permitted() boot.ListenSpec  { return permitted() }
func (dataPath) OpenComm(c *comm.Comm) error { return openComm(c) }
func (dataPath) CloseComm(c *comm.Comm)      { closeComm(c) }
func (dataPath) Network() fabric.Network     { return engine.Network{} }

func (dataPath) OpenMessages(p *p2p.CarrierConfig) (p2p.Carrier, error) { return engine.Open(p) }

func (dataPath) Install(p *rma.Plan) error {
	members := make([]C.struct_gompi_member_plan, len(p.Local))
	for i, t := range p.Local {
		members[i] = C.struct_gompi_member_plan{
			base: C.uintptr_t(t.Base), size: C.uint64_t(t.Size), address: C.uintptr_t(t.Address),
			mapped_range: C.struct_gompi_mapped_range{from: C.uint64_t(t.From), to: C.uint64_t(t.To)},
			rank:         C.int32_t(t.Rank), peer: C.int32_t(t.Peer), disp_unit: C.int32_t(t.DispUnit),
			direct: C.bool(t.Direct),
		}
	}
	plan := C.struct_gompi_win_plan{
		handle: C.uintptr_t(p.Handle), shared: C.uintptr_t(p.Control),
		exchanged_hints: C.uintptr_t(p.HintsAddr),
		remote:          C.uintptr_t(p.Table),
		flavor:          C.int32_t(p.Flavor), me: C.int32_t(p.Rank), n: C.int32_t(p.Members),
		local_size: C.int32_t(len(members)),
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	plan.attached, plan.attached_bytes = C.uintptr_t(p.Attached), C.uint64_t(p.AttachedBytes)
	plan.group, plan.allowed_promises = ranksOf(p.Group, &pin), C.uint64_t(p.AllowedPromises)
	h := &p.Hints
	plan.hints = C.struct_gompi_hints{alignment: C.int64_t(h.Alignment), huge_pages: C.bool(h.HugePages),
		in_place: C.uint8_t(h.InPlace),
		common: C.struct_gompi_common_hints{promises: C.uint64_t(h.Common.Promises),
			granularity: C.uint64_t(h.Common.Granularity)},
		shared_in_place: textCopy(h.Shared)}
	if h.AllocKinds != nil {
		plan.hints.kinds = C.CString(*h.AllocKinds)
	}
	if !C.gompi_win_open(&plan, &members[0]) {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for a window of %d processes", p.Members)
	}
	if p.MemberOf != nil {
		setMembers(p)
	}
	if len(p.Leaders) > 0 && !C.gompi_win_join_leaders(plan.handle, C.uint64_t(p.LeadersContext),
		C.int(len(p.Leaders)), C.int(p.Node), (*C.int32_t)(&p.Leaders[0])) {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for the list of the %d nodes of a window",
			len(p.Leaders))
	}
	return nil
}

// setMembers passes to C the entries of the member table that this process writes (p.Rows), for a window that spans
// nodes.
func setMembers(p *rma.Plan) {
	var some [256]C.struct_gompi_remote_plan // passed in chunks, because there may be many members
	p.Rows.InChunks(len(some), func(first, count int) {
		for i := range count {
			m := p.MemberOf(first + i)
			some[i] = C.struct_gompi_remote_plan{size: C.uint64_t(m.Size), disp_unit: C.int32_t(m.DispUnit),
				peer: C.int32_t(m.Peer)}
		}
		C.gompi_win_set_members(C.uintptr_t(p.Handle), C.int(first), C.int(count), &some[0])
	})
}

func (dataPath) Attached(h, from, to uintptr) bool {
	return bool(C.gompi_attached_overlaps(C.uintptr_t(h), C.uint64_t(from), C.uint64_t(to)))
}

func (dataPath) Register(addr uintptr, size int64) (r rma.Region) {
	var region C.struct_gompi_region
	if C.gompi_win_register(C.uintptr_t(addr), C.uint64_t(size), &region) {
		r = rma.Region{Key: uint64(region.key), Address: uint64(region.address)}
	}
	return r
}

func (dataPath) Unregister(r rma.Region) {
	region := C.struct_gompi_region{key: C.uint64_t(r.Key), address: C.uint64_t(r.Address)}
	C.gompi_fabric_unregister(&region)
}

func (dataPath) SetRegions(h uintptr, rows rma.Rows, of func(rank int) rma.Region) {
	var some [256]C.struct_gompi_region
	rows.InChunks(len(some), func(first, count int) {
		for i := range count {
			r := of(first + i)
			some[i] = C.struct_gompi_region{key: C.uint64_t(r.Key), address: C.uint64_t(r.Address)}
		}
		C.gompi_win_set_regions(C.uintptr_t(h), C.int(first), C.int(count), &some[0])
	})
}

func (dataPath) Remove(h uintptr) {
	C.gompi_win_leave_leaders(C.uintptr_t(h))
	C.gompi_win_close(C.uintptr_t(h))
}

func (dataPath) CheckFree(h uintptr) error {
	return errorOf(func(v *C.struct_gompi_error_status) C.int { return C.gompi_win_check_free(C.uintptr_t(h), v) })
}

func (dataPath) Barrier(h uintptr) error {
	return winError(h, C.gompi_win_free_barrier(C.uintptr_t(h)))
}
func (dataPath) NodeBarrier(h, c uintptr) error {
	return winError(h, C.gompi_win_create_barrier(C.uintptr_t(h), C.uintptr_t(c)))
}

func init() {
	rma.OnRegion(func(addr uintptr, size, off int64) {
		if off < 0 {
			C.gompi_heap_region_remove(C.uintptr_t(addr))
		} else {
			C.gompi_heap_region_add(C.uintptr_t(addr), C.uint64_t(size), C.int64_t(off))
		}
	})
}

// textCopy returns a copy of a text, allocated by malloc, or nil for "".
func textCopy(s string) *C.char {
	if s == "" {
		return nil
	}
	return C.CString(s)
}

// winError returns an error of the class that a C function of win_table.h returned for a window.
func winError(h uintptr, class C.int) error {
	switch class {
	case abi.MPI_SUCCESS:
		return nil
	case abi.MPI_ERR_PROC_ABORTED:
		return mpierr.New(abi.MPI_ERR_PROC_ABORTED, "%s", C.GoString(C.gompi_failure_text()))
	default:
		return mpierr.New(int32(class), "%#x is not a window, or has been freed", h)
	}
}

func (dataPath) Share(nd *shm.Node, addr uintptr, size int64) error {
	fd, image, ok := nd.Image()
	if !ok {
		return errors.New("the node's shared memory must be a memfd, but it is a System V segment: permit " +
			"memfd_create, and raise the hard limit of the file size (ulimit -H -f unlimited)")
	}
	return errnoError(C.gompi_in_place_share(C.int(fd), C.uint64_t(image), C.uintptr_t(addr), C.size_t(size)))
}

func (dataPath) Unshare(addr uintptr, size int64) error {
	return errnoError(C.gompi_in_place_unshare(C.uintptr_t(addr), C.size_t(size)))
}

// gompi_host_of stores the host name of a process of the job, as text of less than `size` bytes.
//
//gompi:callback void (int peer, char *name, int size)
//export gompi_host_of
func gompi_host_of(peer int32, name uintptr, size int32) {
	host := "?"
	if p := core.Self(); p != nil {
		host = p.HostOf(peer)
	}
	putString(name, host, int(size))
}

// errnoError converts an errno to an error.
func errnoError(errno C.int) error {
	if errno == 0 {
		return nil
	}
	return unix.Errno(errno)
}

// onWin executes an MPI call on a window: it looks up the window, runs f, and raises the error of f on the window.
func onWin(function string, h uintptr, f func(w *rma.Window) error) (rc int32) {
	defer guard(function, handle.Win, h, &rc)
	w, err := window(h)
	if err != nil {
		return finish(function, 0, 0, err)
	}
	return finish(function, handle.Win, h, f(w))
}

// createWin creates a window over a communicator and stores its handle. It returns the window, and the value for the C
// entry point. After an error the window is nil.
func createWin(function string, commHandle uintptr, spec rma.Spec, info uintptr, win uintptr) (*rma.Window, int32) {
	c, err := anyCommOf(commHandle)
	if err != nil {
		return nil, finish(function, 0, 0, err)
	}
	if err := checkUsable(commHandle, false); err != nil {
		return nil, finish(function, handle.Comm, commHandle, err)
	}
	// rma.Create reports errors in the remaining arguments to the other members too, so that no member waits
	// forever.
	if win == 0 {
		spec.Err = mpierr.New(abi.MPI_ERR_ARG, "win is NULL")
	} else if spec.Hints, spec.HintsErr = winHints(info); mpierr.ClassOf(spec.HintsErr) == abi.MPI_ERR_INFO {
		spec.Err = spec.HintsErr
	}
	w, err := rma.Create(core.Self().Windows, c, spec)
	if err != nil {
		return nil, finish(function, handle.Comm, commHandle, err)
	}
	*out[uintptr](win) = w.Handle
	C.gompi_event_raise(C.EVENT_WINDOW_CREATED, abi.MPI_T_CB_REQUIRE_NONE, C.uint64_t(w.Handle),
		C.uint64_t(spec.Size), C.uint64_t(spec.Flavor))
	return w, abi.MPI_SUCCESS
}

// commOf returns the communicator with handle h. It returns an error if the communicator is revoked or has a failed
// member; anyCommOf does not.
func commOf(h uintptr) (*comm.Comm, error) {
	c, err := anyCommOf(h)
	if err == nil {
		err = checkUsable(h, false)
	}
	return c, err
}

func anyCommOf(h uintptr) (*comm.Comm, error) {
	if err := needRunning(); err != nil {
		return nil, err
	}
	c := lookupComm(h)
	if c == nil {
		return nil, noObject(handle.Comm, h)
	}
	return c, nil
}

//export gompi_win_create_c
func gompi_win_create_c(base uintptr, size, dispUnit int64, info, comm, win uintptr) (rc int32) {
	defer guard("MPI_Win_create", handle.Comm, comm, &rc)
	unit, err := dispUnit32(dispUnit)
	_, rc = createWin("MPI_Win_create", comm, rma.Spec{Flavor: abi.MPI_WIN_FLAVOR_CREATE, Base: base, Size: size,
		DispUnit: unit, Err: err}, info, win)
	return rc
}

// dispUnit32 converts the displacement unit of a large-count call to 32 bits. It returns MPI_ERR_DISP if the unit is
// too large. A negative unit becomes -1, which rma.Create rejects.
func dispUnit32(unit int64) (int32, error) {
	if unit > 1<<31-1 {
		return 1, mpierr.New(abi.MPI_ERR_DISP, "disp_unit is %d; the maximum is %d", unit, 1<<31-1)
	}
	return int32(max(unit, -1)), nil
}

func allocateWin(function string, flavor int32, size, dispUnit int64, info, comm, baseptr, win uintptr) int32 {
	unit, err := dispUnit32(dispUnit)
	if err == nil && baseptr == 0 {
		err = mpierr.New(abi.MPI_ERR_ARG, "baseptr is NULL")
	}
	w, rc := createWin(function, comm, rma.Spec{Flavor: flavor, Size: size, DispUnit: unit, Err: err}, info, win)
	if w != nil {
		*out[uintptr](baseptr) = w.Base
	}
	return rc
}

//export gompi_win_allocate_c
func gompi_win_allocate_c(size, dispUnit int64, info, comm, baseptr, win uintptr) (rc int32) {
	defer guard("MPI_Win_allocate", handle.Comm, comm, &rc)
	return allocateWin("MPI_Win_allocate", abi.MPI_WIN_FLAVOR_ALLOCATE, size, dispUnit, info, comm, baseptr, win)
}

//export gompi_win_allocate_shared_c
func gompi_win_allocate_shared_c(size, dispUnit int64, info, comm, baseptr, win uintptr) (rc int32) {
	defer guard("MPI_Win_allocate_shared", handle.Comm, comm, &rc)
	return allocateWin("MPI_Win_allocate_shared", abi.MPI_WIN_FLAVOR_SHARED, size, dispUnit, info, comm, baseptr,
		win)
}

//export gompi_win_create_dynamic
func gompi_win_create_dynamic(info, comm, win uintptr) (rc int32) {
	defer guard("MPI_Win_create_dynamic", handle.Comm, comm, &rc)
	_, rc = createWin("MPI_Win_create_dynamic", comm, rma.Spec{Flavor: abi.MPI_WIN_FLAVOR_DYNAMIC, DispUnit: 1},
		info, win)
	return rc
}

// gompi_grow_attached allocates more memory for this process' own table of attached memory, and stores the new size of
// the table in bytes. It returns 0 or an error class. With an error it writes the detail to `text`, of sizeof ((struct
// gompi_error_status *)0)->text bytes.
//
//gompi:callback int (uintptr_t win, uint64_t *bytes, char *text)
//export gompi_grow_attached
func gompi_grow_attached(win, bytes, text uintptr) (rc int32) {
	defer guard("MPI_Win_attach", handle.Win, win, &rc)
	w, err := window(win)
	if err == nil {
		if *out[int64](bytes), err = w.GrowAttached(); err == nil {
			return abi.MPI_SUCCESS
		}
	}
	storeText(text, err)
	return mpierr.ClassOf(err)
}

// gompi_attached_table returns the address at which this process has mapped another rank's table of attached memory, or
// NULL if the table cannot be mapped.
//
//gompi:callback void *(uintptr_t win, int rank)
//export gompi_attached_table
func gompi_attached_table(win uintptr, rank int32) uintptr {
	if w := rma.Lookup(win); w != nil {
		return w.AttachedTable(int(rank))
	}
	return 0
}

// gompi_map_attached returns the address at which this process has mapped `size` bytes at an offset of the node's
// memory, or NULL if the bytes cannot be mapped.
//
//gompi:callback void *(uintptr_t win, int64_t offset, int64_t size)
//export gompi_map_attached
func gompi_map_attached(win uintptr, off, size int64) uintptr {
	if w := rma.Lookup(win); w != nil {
		return w.MapAttached(off, size)
	}
	return 0
}

// gompi_exchange_with_members exchanges blocks of `size` bytes among the members of a window that spans nodes, for
// MPI_Win_set_info. It stores the blocks of all members in the array `all`, by rank, unless `all` is NULL. It returns 0
// or an error class. With an error it writes the detail to `text`, of sizeof ((struct gompi_error_status *)0)->text
// bytes.
//
//gompi:callback int (uintptr_t win, const void *mine, int64_t size, void *all, char *text)
//export gompi_exchange_with_members
func gompi_exchange_with_members(win, mine uintptr, size int64, all, text uintptr) (rc int32) {
	defer guard("MPI_Win_set_info", handle.Win, win, &rc)
	w, err := window(win)
	if err == nil {
		var theirs []byte
		if theirs, err = w.Allgather(slice[byte](mine, int(size))); err == nil {
			if all != 0 {
				copy(slice[byte](all, len(theirs)), theirs)
			}
			return abi.MPI_SUCCESS
		}
	}
	storeText(text, err)
	return mpierr.ClassOf(err)
}

// window returns the window with a handle, or MPI_ERR_WIN if no window has the handle.
func window(h uintptr) (*rma.Window, error) {
	if err := needRunning(); err != nil {
		return nil, err
	}
	w := rma.Lookup(h)
	if w == nil {
		return nil, noObject(handle.Win, h)
	}
	return w, nil
}

//export gompi_win_free
func gompi_win_free(win uintptr) int32 {
	if win == 0 {
		return finish("MPI_Win_free", 0, 0, mpierr.New(abi.MPI_ERR_ARG, "win is NULL"))
	}
	h := *out[uintptr](win)
	return onWin("MPI_Win_free", h, func(w *rma.Window) error {
		err := w.Free(func() error { return deleteWinAttributes(w) })
		if err == nil {
			*out[uintptr](win) = abi.MPI_WIN_NULL
			C.gompi_event_raise(C.EVENT_WINDOW_FREED, abi.MPI_T_CB_REQUIRE_NONE, C.uint64_t(h), 0, 0)
		}
		return err
	})
}
