package main

/*
#include "base/ranks.h"
#include "errors/handler.h"
#include "group/group.h"
#include "message/bsend_buffer.h"
#include "base/node.h"
#include "runtime/exit.h"
#include "session/session.h"
*/
import "C"

import (
	"strconv"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Sessions (MPI-5.0 11.3), and the creation of communicators from groups (7.4.2, 7.6.2). capi/session implements the
// other calls on sessions.

// checkErrhandler returns an error if the argument `errhandler` of a call is not an error handler for objects of a
// kind.
func checkErrhandler(kind handle.Kind, h uintptr) error {
	return errorOf(func(v *C.struct_gompi_error_status) C.int {
		return C.gompi_errhandler_check(v, C.int(kind), C.MPI_Errhandler(pointer(h)))
	})
}

// withErrhandler executes a call that raises its errors with the error handler that its argument `errhandler` names. If
// the argument is invalid, the error has no object.
func withErrhandler(function string, kind handle.Kind, errhandler uintptr, f func() error) (rc int32) {
	if err := checkErrhandler(kind, errhandler); err != nil {
		return finish(function, 0, 0, err)
	}
	defer guard(function, handle.Errhandler, errhandler, &rc)
	return finish(function, handle.Errhandler, errhandler, f())
}

// onSession executes an MPI call on a session: it checks the handle, runs f, and raises the error of f on the session.
func onSession(function string, h uintptr, f func() error) (rc int32) {
	defer guard(function, handle.Session, h, &rc)
	if C.gompi_session_get(C.MPI_Session(pointer(h))) != nil {
		return finish(function, handle.Session, h, f())
	}
	if h == abi.MPI_SESSION_NULL {
		return finish(function, 0, 0, mpierr.New(abi.MPI_ERR_SESSION, "the session is MPI_SESSION_NULL"))
	}
	return finish(function, 0, 0, mpierr.New(abi.MPI_ERR_SESSION, "%#x is not a session, or has been finalized", h))
}

//export gompi_session_init
func gompi_session_init(info, errhandler, session uintptr) int32 {
	return withErrhandler("MPI_Session_init", handle.Session, errhandler, func() error {
		if err := checkNotNull("session", session); err != nil {
			return err
		}
		var v C.struct_gompi_error_status
		reference := C.gompi_errhandler_retain(C.uintptr_t(errhandler))
		h := C.gompi_session_create(C.MPI_Info(pointer(info)), reference, &v)
		if h == 0 {
			C.gompi_errhandler_release(reference)
			return mpierr.New(int32(v.class), "%s", C.GoString(&v.text[0]))
		}
		err := initialize(func() error { return core.BeginSession(dataPath{}) })
		if err != nil {
			C.gompi_session_destroy(h)
			return err
		}
		C.gompi_node.self = C.int(core.Number())
		C.gompi_register_exit()
		*out[uintptr](session) = uintptr(h)
		return nil
	})
}

//export gompi_session_finalize
func gompi_session_finalize(at uintptr) int32 {
	const function = "MPI_Session_finalize"
	if err := checkNotNull("session", at); err != nil {
		return finish(function, 0, 0, err)
	}
	session := out[uintptr](at)
	return onSession(function, *session, func() error {
		err := errorOf(func(v *C.struct_gompi_error_status) C.int {
			return C.gompi_session_bsend_end(C.uintptr_t(*session), v)
		})
		if err == nil {
			err = core.EndSession()
		}
		copyStateToC()
		if err == nil {
			C.gompi_session_destroy(C.uintptr_t(*session))
			*session = abi.MPI_SESSION_NULL
		}
		return err
	})
}

//export gompi_session_get_num_psets
func gompi_session_get_num_psets(session, info, number uintptr) int32 {
	return onSession("MPI_Session_get_num_psets", session, func() error {
		err := checkNotNull("npset_names", number)
		if err == nil {
			err = checkInfo(info)
		}
		if err == nil {
			*out[int32](number) = int32(len(core.Psets()))
		}
		return err
	})
}

// gompi_session_get_nth_pset stores a truncated name if the caller's buffer is too small. In any case it stores the
// length that the buffer must have, with the terminating 0. If the given length is 0, it does not store a name.
//
//export gompi_session_get_nth_pset
func gompi_session_get_nth_pset(session, info uintptr, n int32, length, name uintptr) int32 {
	return onSession("MPI_Session_get_nth_pset", session, func() error {
		psets := core.Psets()
		if err := checkNotNull("pset_len", length); err != nil {
			return err
		}
		if err := checkInfo(info); err != nil {
			return err
		}
		if n < 0 || int(n) >= len(psets) {
			return mpierr.New(abi.MPI_ERR_ARG, "n is %d; the session has the process sets 0 to %d", n,
				len(psets)-1)
		}
		size := *out[int32](length)
		if size < 0 || size > 0 && name == 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "pset_len is %d and pset_name is %#x; pset_len must not be "+
				"negative, and pset_name must not be NULL", size, name)
		}
		if size > 0 {
			putString(name, psets[n], int(size))
		}
		*out[int32](length) = int32(len(psets[n])) + 1
		return nil
	})
}

//export gompi_session_get_pset_info
func gompi_session_get_pset_info(session, name, info uintptr) int32 {
	return onSession("MPI_Session_get_pset_info", session, func() error {
		if err := checkNotNull("pset_name or info", name, info); err != nil {
			return err
		}
		g := core.Pset(cString(name))
		if g == nil {
			return mpierr.New(abi.MPI_ERR_ARG, "there is no process set %.200q; MPI_Session_get_nth_pset "+
				"returns the names", cString(name))
		}
		return storeInfo(info, []pair{{"mpi_size", strconv.Itoa(g.Size())}})
	})
}

// gompi_session_pset_members stores the processes of a process set. It returns false if the set does not exist or out
// of memory.
//
//gompi:callback bool (const char *name, struct gompi_ranks *members)
//export gompi_session_pset_members
func gompi_session_pset_members(name uintptr, members uintptr) bool {
	g := core.Pset(cString(name))
	if g == nil {
		return false
	}
	to := (*C.struct_gompi_ranks)(pointer(members))
	for i := range g.Size() {
		if !C.gompi_ranks_append(to, C.int(g.World(i)), C.int(g.Size())) {
			return false
		}
	}
	return true
}

// newSessionComm executes an MPI call that creates a communicator without a parent. The function f creates the
// communicator. The communicator is nil if the group is empty.
func newSessionComm(function string, stringTag, info, errhandler, newcomm uintptr,
	f func(p *core.Instance, tag string) (*comm.Comm, error)) int32 {
	return withErrhandler(function, handle.Comm, errhandler, func() error {
		if err := checkNotNull("stringtag or the output argument", stringTag, newcomm); err != nil {
			return err
		}
		*out[uintptr](newcomm) = abi.MPI_COMM_NULL
		tag := cString(stringTag)
		if len(tag) >= abi.MPI_MAX_STRINGTAG_LEN {
			return mpierr.New(abi.MPI_ERR_ARG, "stringtag has %d characters; the maximum is %d "+
				"(MPI_MAX_STRINGTAG_LEN - 1)", len(tag), abi.MPI_MAX_STRINGTAG_LEN-1)
		}
		hints, err := hintsOf(info)
		if err != nil {
			return err
		}
		p, err := ensure()
		var n *comm.Comm
		if err == nil {
			n, err = f(p, tag)
		}
		if n == nil {
			dropHints(hints)
			return err
		}
		n.Info = hints
		n.Errhandler = uintptr(C.gompi_errhandler_retain(C.uintptr_t(errhandler)))
		return storeComm(n, newcomm)
	})
}

//export gompi_comm_create_from_group
func gompi_comm_create_from_group(group, stringTag, info, errhandler, newcomm uintptr) int32 {
	return newSessionComm("MPI_Comm_create_from_group", stringTag, info, errhandler, newcomm,
		func(p *core.Instance, tag string) (*comm.Comm, error) {
			g, err := groupOf(group)
			if err != nil || g.Size() == 0 {
				return nil, err
			}
			return p.CreateFromGroup(g, tag)
		})
}

//export gompi_intercomm_create_from_groups
func gompi_intercomm_create_from_groups(localGroup uintptr, localLeader int32, remoteGroup uintptr, remoteLeader int32,
	stringTag, info, errhandler, newcomm uintptr) int32 {
	return newSessionComm("MPI_Intercomm_create_from_groups", stringTag, info, errhandler, newcomm,
		func(p *core.Instance, tag string) (*comm.Comm, error) {
			local, err := groupOf(localGroup)
			if err != nil {
				return nil, err
			}
			remote, err := groupOf(remoteGroup)
			if err != nil || local.Size() == 0 || remote.Size() == 0 {
				return nil, err
			}
			return p.CreateInterFromGroups(local, int(localLeader), remote, int(remoteLeader), tag)
		})
}

// gompi_at_exit is called when the process exits.
//
//gompi:callback void (void)
//export gompi_at_exit
func gompi_at_exit() { core.AtExit(dataPath{}) }
