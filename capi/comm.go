package main

/*
#include "coll/nbc.h"
#include "coll/idup.h"
#include "comm/comm.h"
#include "comm/failures.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
)

// Communicators (MPI-5.0 7.4 and 7.6). Errors are raised on the communicator argument of a call, or on MPI_COMM_SELF if
// the argument is invalid.

// onComm executes an MPI call on a communicator: it looks up the communicator, runs f, and raises the error of f on the
// communicator.
func onComm(function string, h uintptr, f func(c *comm.Comm) error) (rc int32) {
	return onAnyComm(function, h, func(c *comm.Comm) error {
		if err := checkUsable(h, false); err != nil {
			return err
		}
		return f(c)
	})
}

// onAnyComm does the same as onComm, also if the communicator is revoked or has failed members.
func onAnyComm(function string, h uintptr, f func(c *comm.Comm) error) (rc int32) {
	defer guard(function, handle.Comm, h, &rc)
	c, err := anyCommOf(h)
	if err != nil {
		return finish(function, 0, 0, err)
	}
	return finish(function, handle.Comm, h, f(c))
}

// checkUsable returns an error if the communicator with handle h is revoked or, unless onlyRevoked is set, has a failed
// member.
func checkUsable(h uintptr, onlyRevoked bool) error {
	var v C.struct_gompi_error_status
	if class := C.gompi_comm_check_usable(C.uintptr_t(h), C.bool(onlyRevoked), &v); class != abi.MPI_SUCCESS {
		return mpierr.New(int32(class), "%s", C.GoString(&v.text[0]))
	}
	return nil
}

// storeComm creates the comm descriptor of c and stores the handle of c at an address, or MPI_COMM_NULL if c is nil. If
// storeComm fails, it frees c.
func storeComm(c *comm.Comm, at uintptr) error {
	if c == nil {
		*out[uintptr](at) = abi.MPI_COMM_NULL
		return nil
	}
	h, err := reserveComm()
	if err != nil {
		dropComm(c)
		return err
	}
	if err := openReserved(c, h); err != nil {
		dropComm(c)
		return err
	}
	*out[uintptr](at) = h
	return nil
}

// reserveComm reserves and returns a handle for a communicator that does not exist yet.
func reserveComm() (uintptr, error) {
	h, ok := comm.Handles.Reserve()
	if !ok {
		return 0, mpierr.New(abi.MPI_ERR_NO_MEM, "cannot create a communicator: the maximum of %d "+
			"communicators is reached", comm.Handles.MaxLive())
	}
	return h, nil
}

// openReserved assigns a reserved handle to c, and creates its comm descriptor. If openReserved fails, it frees the
// handle.
func openReserved(c *comm.Comm, h uintptr) error {
	c.Handle = h
	if c.Local != nil {
		c.Local.Outer = h
	}
	comm.Handles.Set(h, c)
	err := openComm(c)
	if err != nil {
		comm.Handles.Remove(h)
	}
	return err
}

// dropComm frees a communicator that the application does not receive.
func dropComm(c *comm.Comm) {
	dropAttributes(c.Attributes)
	C.gompi_errhandler_release(C.uintptr_t(c.Errhandler))
	dropHints(c.Info)
	c.Free()
}

// newComm executes an MPI call that creates a communicator from another communicator. The function f creates the new
// communicator; the info object `info` has its hints. After an error newComm stores MPI_COMM_NULL, because programs
// read the handle even then.
func newComm(function string, h, info, newcomm uintptr, f func(c *comm.Comm) (*comm.Comm, error)) int32 {
	return newCommOfSome(function, h, info, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		if err := checkUsable(h, false); err != nil {
			return nil, err
		}
		return f(c)
	})
}

// newCommOfSome does the same as newComm, for a call that works although members have failed.
func newCommOfSome(function string, h, info, newcomm uintptr, f func(c *comm.Comm) (*comm.Comm, error)) int32 {
	return onAnyComm(function, h, func(c *comm.Comm) error {
		if err := checkNotNull("the output argument for the new communicator", newcomm); err != nil {
			return err
		}
		hints, err := hintsOf(info)
		if err != nil {
			*out[uintptr](newcomm) = abi.MPI_COMM_NULL
			return err
		}
		n, err := f(c)
		if n == nil { // n is nil without an error if the color is MPI_UNDEFINED
			dropHints(hints)
		} else {
			n.Info, n.Errhandler = hints, inheritErrhandler(c)
		}
		if err != nil {
			*out[uintptr](newcomm) = abi.MPI_COMM_NULL
			return err
		}
		return storeComm(n, newcomm)
	})
}

// needInter returns an error if c is not an intercommunicator.
func needInter(c *comm.Comm) error {
	if !c.IsInter() {
		return mpierr.New(abi.MPI_ERR_COMM, "the communicator is an intracommunicator; the call needs an "+
			"intercommunicator")
	}
	return nil
}

// needIntra returns an error if c is an intercommunicator.
func needIntra(c *comm.Comm) error {
	if c.IsInter() {
		return mpierr.New(abi.MPI_ERR_COMM, "the communicator is an intercommunicator; the call needs an "+
			"intracommunicator")
	}
	return nil
}

//export gompi_comm_dup
func gompi_comm_dup(comm_, newcomm uintptr) int32 {
	return dupComm("MPI_Comm_dup", comm_, abi.MPI_INFO_NULL, newcomm)
}

//export gompi_comm_dup_with_info
func gompi_comm_dup_with_info(comm_, info, newcomm uintptr) int32 {
	return dupComm("MPI_Comm_dup_with_info", comm_, info, newcomm)
}

// dupComm creates a duplicate with the attributes of c and the hints of info. It does not copy the hints of c, because
// MPI_Comm_dup does not propagate hints (MPI-5.0 7.4.4).
func dupComm(function string, h, info, newcomm uintptr) int32 {
	return newComm(function, h, info, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		n, err := c.Dup()
		if err != nil {
			return nil, err
		}
		if n.Attributes, err = copyCommAttributes(c); err != nil {
			n.Free()
			return nil, err
		}
		return n, nil
	})
}

//export gompi_comm_idup
func gompi_comm_idup(comm_, newcomm, request uintptr) int32 {
	return onComm("MPI_Comm_idup", comm_,
		func(c *comm.Comm) error { return idupComm(c, abi.MPI_INFO_NULL, newcomm, request) })
}

//export gompi_comm_idup_with_info
func gompi_comm_idup_with_info(comm_, info, newcomm, request uintptr) int32 {
	return onComm("MPI_Comm_idup_with_info", comm_,
		func(c *comm.Comm) error { return idupComm(c, info, newcomm, request) })
}

// idup is a nonblocking duplication in progress.
type idup struct {
	draft  *comm.Draft // nil if the duplication uses messages
	handle uintptr     // reserved for the new communicator; 0 if failed is set
	// set if no handle was free; the duplication continues, because other members need this member's data
	failed                          error
	newcomm, attributes, errhandler uintptr // errhandler is guarded by pendingIdups.mu
	hints                           any
}

// pendingIdups holds the duplications in progress by the handle of the new communicator. mpi4py sets the error handler
// of the new communicator before the duplication has completed.
var pendingIdups = struct {
	mu       sync.Mutex
	byHandle map[uintptr]*idup
}{byHandle: map[uintptr]*idup{}}

// reserve reserves the handle of the new communicator, and stores it at d.newcomm.
func (d *idup) reserve() {
	pendingIdups.mu.Lock()
	defer pendingIdups.mu.Unlock()
	if d.handle, d.failed = reserveComm(); d.failed == nil {
		pendingIdups.byHandle[d.handle] = d
	}
	*out[uintptr](d.newcomm) = d.handle
}

// gompi_pending_comm_set_errhandler sets the error handler of a communicator whose duplication is in progress. It
// returns false if there is no such communicator, or if the error handler is invalid.
//
//gompi:callback bool (uintptr_t comm, uintptr_t errhandler)
//export gompi_pending_comm_set_errhandler
func gompi_pending_comm_set_errhandler(h, errhandler uintptr) bool {
	pendingIdups.mu.Lock()
	defer pendingIdups.mu.Unlock()
	d := pendingIdups.byHandle[h]
	if d == nil || checkErrhandler(handle.Comm, errhandler) != nil {
		return false
	}
	C.gompi_errhandler_release(C.uintptr_t(d.errhandler))
	d.errhandler = uintptr(C.gompi_errhandler_retain(C.uintptr_t(errhandler)))
	return true
}

// idups holds the duplications in progress, to which C refers by number.
var idups = handle.NewTable[idup](handle.Request)

var _ = [1]struct{}{}[C.GOMPI_IDUP_DRAFT_BYTES-C.int(comm.DraftSize)]

// idupComm starts a nonblocking duplication. It copies the attributes in this call, because their copy functions belong
// to the application. If a copy function fails, the delete functions of the copied attributes receive MPI_COMM_NULL,
// because the new communicator does not exist yet. Members that share memory exchange the data of the new communicator
// by nonblocking shared-memory collectives; the thread that makes progress then creates the communicator. Other members
// exchange the data by messages; a goroutine waits for the messages and creates the communicator. The call itself
// stores the handle, because --check identifies the communicator by the handle. The handle is invalid until the
// communicator has been created.
func idupComm(c *comm.Comm, info, newcomm, at uintptr) error {
	if err := checkNotNull("newcomm or request", newcomm, at); err != nil {
		return err
	}
	hints, err := hintsOf(info)
	if err != nil {
		return err
	}
	attributes, err := copyCommAttributes(c)
	if err != nil {
		dropHints(hints)
		*out[uintptr](newcomm) = abi.MPI_COMM_NULL
		return err
	}
	d := &idup{newcomm: newcomm, attributes: attributes, errhandler: inheritErrhandler(c), hints: hints}
	d.reserve()
	if descriptorOf(c).nbc != nil && c.Size() <= C.GOMPI_NBC_MAX_RANKS {
		return d.startNbc(c, at)
	}
	number := c.NextIdup()
	r, err := openRequest(c, at)
	if err != nil {
		return d.finish(nil, err)
	}
	c.Ref()
	run := func() {
		err := d.finish(c.Idup(number))
		c.Unref() // before the completion, after which the application may free c and finalize MPI
		r.complete(err)
	}
	if c.Size() == 1 && !c.IsInter() {
		run()
	} else {
		go run()
	}
	return nil
}

// startNbc starts the duplication of the communicator c by nonblocking shared-memory collectives.
func (d *idup) startNbc(c *comm.Comm, at uintptr) error {
	d.draft = c.Draft()
	number, ok := idups.Add(d)
	if ok && bool(C.gompi_idup_start(C.uintptr_t(c.Handle), unsafe.Pointer(unsafe.SliceData(d.draft.Offer())),
		C.uintptr_t(number), C.uintptr_t(at))) {
		return nil
	}
	if ok {
		idups.Remove(number)
	}
	return d.finish(d.draft.End(nil, 0, noRequest()))
}

// finish assigns the reserved handle to the new communicator n. If `err` is not nil, it instead frees the handle and
// the prepared hints, attributes and error handler. After an error it stores MPI_COMM_NULL.
func (d *idup) finish(n *comm.Comm, err error) error {
	if err == nil {
		err = d.failed
	}
	pendingIdups.mu.Lock()
	delete(pendingIdups.byHandle, d.handle)
	if err == nil {
		n.Info, n.Attributes, n.Errhandler = d.hints, d.attributes, d.errhandler
		err = openReserved(n, d.handle)
	} else if d.failed == nil {
		comm.Handles.Remove(d.handle)
	}
	pendingIdups.mu.Unlock()
	if err == nil {
		return nil
	}
	dropHints(d.hints)
	dropAttributes(d.attributes)
	C.gompi_errhandler_release(C.uintptr_t(d.errhandler))
	if n != nil {
		n.Free()
	}
	*out[uintptr](d.newcomm) = abi.MPI_COMM_NULL
	return err
}

// gompi_idup_deliver delivers to this member the data that member 0 has sent for an MPI_Comm_idup (`offer`). The
// argument `number` identifies the operation. It returns 0 or an error class.
//
//gompi:callback int (uintptr_t number, const char *offer)
//export gompi_idup_deliver
func gompi_idup_deliver(number, offer uintptr) (class int32) {
	defer guard("MPI_Comm_idup", 0, 0, &class)
	return idups.Get(number).draft.Open(slice[byte](offer, comm.DraftSize))
}

// gompi_idup_finish ends an MPI_Comm_idup. The argument `failed` is this member's error class or 0; `worst` is the
// highest error class of all members. It returns the error class with which the operation ends, and stores the text of
// this error.
//
//gompi:callback int (uintptr_t number, const char *offer, int failed, int worst, char *text)
//export gompi_idup_finish
func gompi_idup_finish(number, offer uintptr, failed, worst int32, text uintptr) (class int32) {
	defer guard("MPI_Comm_idup", 0, 0, &class)
	var err error
	if failed != abi.MPI_SUCCESS {
		err = mpierr.New(failed, "%s", C.GoString((*C.char)(pointer(text))))
	}
	d := idups.Remove(number)
	if err = d.finish(d.draft.End(slice[byte](offer, comm.DraftSize), worst, err)); err != nil {
		storeText(text, err)
	}
	return mpierr.ClassOf(err)
}

//export gompi_comm_split
func gompi_comm_split(comm_ uintptr, color, key int32, newcomm uintptr) int32 {
	return newComm("MPI_Comm_split", comm_, abi.MPI_INFO_NULL, newcomm,
		func(c *comm.Comm) (*comm.Comm, error) { return c.Split(color, key) })
}

//export gompi_comm_split_type
func gompi_comm_split_type(comm_ uintptr, splitType, key int32, info, newcomm uintptr) int32 {
	return newComm("MPI_Comm_split_type", comm_, info, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		var resource comm.Resource
		var set string
		var err error
		if resource.Hardware, err = infoValue(info, "mpi_hw_resource_type"); err == nil {
			set, err = infoValue(info, "mpi_pset_name")
		}
		if err != nil {
			return nil, err
		}
		resource.Set, resource.Kind = core.Pset(set), int32(core.PsetNumber(set))
		n, err := c.SplitType(splitType, key, resource)
		if n != nil && splitType == abi.MPI_COMM_TYPE_HW_UNGUIDED {
			reportResource(info)
		}
		return n, err
	})
}

//export gompi_comm_create
func gompi_comm_create(comm_, group, newcomm uintptr) int32 {
	return newComm("MPI_Comm_create", comm_, abi.MPI_INFO_NULL, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		g, err := groupFor(c, group)
		if err != nil {
			return nil, err
		}
		return c.Create(g)
	})
}

//export gompi_comm_create_group
func gompi_comm_create_group(comm_, group uintptr, tag int32, newcomm uintptr) int32 {
	return newCommOfSome("MPI_Comm_create_group", comm_, abi.MPI_INFO_NULL, newcomm,
		func(c *comm.Comm) (*comm.Comm, error) {
			g, err := groupFor(c, group)
			if err == nil {
				err = tagError(tag)
			}
			if err == nil {
				err = checkUsable(comm_, true)
			}
			if err != nil {
				return nil, err
			}
			return c.CreateGroup(g, tag)
		})
}

//export gompi_comm_free
func gompi_comm_free(at uintptr) int32 { return freeComm("MPI_Comm_free", at) }

//export gompi_comm_disconnect
func gompi_comm_disconnect(at uintptr) int32 { return freeComm("MPI_Comm_disconnect", at) }

// freeComm frees a communicator. Operations in progress on it continue. MPI_Comm_disconnect need not wait for pending
// operations: in a correct program these are only sends whose requests have been freed. The library completes such
// sends without a wait of the application.
func freeComm(function string, at uintptr) (rc int32) {
	if err := checkNotNull("comm", at); err != nil {
		return finish(function, 0, 0, err)
	}
	p := out[uintptr](at)
	h := *p
	return onAnyComm(function, h, func(c *comm.Comm) error {
		if c == core.Self().WorldComm || c == core.Self().SelfComm {
			return mpierr.New(abi.MPI_ERR_COMM, "predefined communicators cannot be freed")
		}
		if function == "MPI_Comm_disconnect" {
			core.Self().Disconnect(c)
		}
		if err := deleteCommAttributes(c); err != nil {
			return err
		}
		if err := detachBuffer(c); err != nil {
			return err
		}
		closeComm(c)
		comm.Handles.Remove(h)
		*p = abi.MPI_COMM_NULL
		c.Free()
		return nil
	})
}

// tagError returns an error if tag is not valid for a send.
func tagError(tag int32) error {
	if tag >= 0 {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_TAG, "tag is %d; it must be from 0 to %d", tag, p2p.TagUB)
}

//export gompi_intercomm_create
func gompi_intercomm_create(local uintptr, localLeader int32, peer uintptr, remoteLeader, tag int32,
	newintercomm uintptr) int32 {
	meet := func(c *comm.Comm) (*comm.Comm, error) {
		if err := needIntra(c); err != nil {
			return nil, err
		}
		if localLeader < 0 || int(localLeader) >= c.Size() {
			return nil, mpierr.New(abi.MPI_ERR_RANK, "local_leader is %d; valid ranks of local_comm are 0 "+
				"to %d", localLeader, c.Size()-1)
		}
		if err := tagError(tag); err != nil {
			return nil, err
		}
		var p *comm.Comm
		if c.Rank() == int(localLeader) {
			var err error
			if p, err = commOf(peer); err != nil {
				return nil, mpierr.Wrap(err, "peer_comm")
			}
			if p.Group().Session != c.Group().Session {
				return nil, mpierr.New(abi.MPI_ERR_COMM, "local_comm and peer_comm are derived from "+
					"different sessions")
			}
			if remoteLeader < 0 || int(remoteLeader) >= p.RemoteSize() {
				return nil, mpierr.New(abi.MPI_ERR_RANK, "remote_leader is %d; valid ranks of "+
					"peer_comm are 0 to %d", remoteLeader, p.RemoteSize()-1)
			}
		}
		return c.NewInter(int(localLeader), p, int(remoteLeader), tag)
	}
	return newComm("MPI_Intercomm_create", local, abi.MPI_INFO_NULL, newintercomm, meet)
}

//export gompi_intercomm_merge
func gompi_intercomm_merge(intercomm uintptr, high int32, newintracomm uintptr) int32 {
	return newComm("MPI_Intercomm_merge", intercomm, abi.MPI_INFO_NULL, newintracomm,
		func(c *comm.Comm) (*comm.Comm, error) {
			if err := needInter(c); err != nil {
				return nil, err
			}
			return c.Merge(high != 0)
		})
}
