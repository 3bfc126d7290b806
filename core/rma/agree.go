package rma

import (
	"encoding/binary"
	"fmt"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// agree returns the error with which the creation of the window fails at this member. This is `own`, the member's own
// error, if `own` is not nil. Otherwise it is an error if another member's arguments are invalid, or if arguments that
// must be equal differ. Without an error, agree sets the window's hints to the values in force at all members.
func (w *Window) agree(own error, members records) error {
	if own != nil {
		return own
	}
	for i := range members.n() {
		if m := members.at(i); m.class != abi.MPI_SUCCESS {
			return mpierr.New(m.class, "the arguments of rank %d are invalid; its error message states "+
				"the reason", i)
		}
	}
	first := members.at(0)
	w.allowed = ^uint64(0)
	for i := range members.n() {
		m := members.at(i)
		if m.flavor != first.flavor {
			return mpierr.New(abi.MPI_ERR_WIN, "rank %d called %s, but rank 0 called %s", i,
				constructor(m.flavor), constructor(first.flavor))
		}
		if m.size != first.size {
			w.allowed &^= SameSize
		}
		if m.dispUnit != first.dispUnit {
			w.allowed &^= SameDispUnit
		}
	}
	if w.Flavor == abi.MPI_WIN_FLAVOR_SHARED && w.spans() {
		return mpierr.New(abi.MPI_ERR_RMA_SHARED, "only %d of the %d processes are on this node, and nodes "+
			"share no memory: create a communicator of each node with MPI_Comm_split_type",
			len(w.local.ranks), members.n())
	}
	w.hints.Common = combineCommon(members.hints)
	w.hints.Common.Promises &= w.allowed
	return nil
}

// agreedInFirst returns whether the first exchange is sufficient: the node leaders need not reserve memory, and all
// members have proposed the same handle. If so, it sets the window's handle.
func (w *Window) agreedInFirst(members records, place uint64) bool {
	if w.allocates() || w.spans() || w.block == 0 {
		return false
	}
	for i := range members.n() {
		if members.at(i).proposal != place {
			return false
		}
	}
	w.Handle = handle.Make(handle.Win, numberAt(place))
	return true
}

// Number of bytes that each member sends in an exchange: agreeBytes in the second one and, if the window spans nodes,
// confirmBytes in the last one.
const (
	agreeBytes   = 40
	confirmBytes = 20
)

// agreeOnHandle returns a place whose index is free at all members. A place is a position in the sequence of handle
// numbers (handles.go). This member proposes the place `mine`. The exchanges also distribute the node leaders'
// reservations, and the channel for messages between nodes. *err is this member's error. If only another member has an
// error, agreeOnHandle sets *err. fatal is an error of the exchange itself.
func (w *Window) agreeOnHandle(x *exchanges, members records, mine uint64, err *error) (place uint64, fatal error) {
	const size = agreeBytes
	c := x.c
	place = mine
	var highest, channel uint64
	for i := range members.n() {
		highest = max(highest, members.at(i).proposal)
	}
	if w.Rank == 0 && w.spans() {
		channel = c.NewChannel()
	}
	for {
		if place != highest {
			windows.withdraw(place)
			var ok bool
			if place, ok = windows.propose(highest); !ok && *err == nil {
				*err = tooManyWindows()
			}
		}
		b := make([]byte, size)
		le := binary.LittleEndian
		le.PutUint32(b[0:], uint32(mpierr.ClassOf(*err)))
		if place == highest {
			b[4] = 1
		}
		if w.local.table {
			b[5] = 1
		}
		le.PutUint64(b[8:], place)
		le.PutUint64(b[16:], uint64(w.controlOff))
		le.PutUint64(b[24:], uint64(w.segmentOff))
		le.PutUint64(b[32:], channel)
		all, xerr := x.allgather(b)
		if xerr != nil {
			return place, xerr
		}
		done := true
		for i := range members.n() {
			m := all[size*i:]
			if class := int32(le.Uint32(m)); class != 0 && *err == nil {
				*err = mpierr.New(class, "rank %d cannot create the window; its error message "+
					"states the reason", i)
			}
			done = done && m[4] == 1
			highest = max(highest, le.Uint64(m[8:]))
		}
		if *err != nil {
			return place, nil
		}
		if done {
			w.Handle = handle.Make(handle.Win, numberAt(place))
			// The offsets that the node leader has reserved. Each member computes the sizes itself.
			its := all[size*w.local.leader():]
			w.controlOff = int64(le.Uint64(its[16:]))
			w.segmentOff = int64(le.Uint64(its[24:]))
			w.local.table = its[5] == 1
			if w.spans() {
				w.msgComm = c.Channel(le.Uint64(all[32:]))
				w.leadersContext = w.msgComm.Context(comm.NodeLeaders)
			}
			return place, nil
		}
	}
}

// confirmAll does the last exchange of creation. Afterwards the window exists at all members or at none. The exchange
// also distributes the registrations of the members' memory, which members on other nodes need to read and write it.
// Precondition: this member's descriptor exists, because a member that has returned from confirmAll may send operations
// to this member.
func (w *Window) confirmAll(x *exchanges, err *error) error {
	size, c := 4, x.c
	if w.spans() {
		size = confirmBytes
	}
	le, b := binary.LittleEndian, make([]byte, size)
	le.PutUint32(b, uint32(mpierr.ClassOf(*err)))
	if w.spans() {
		le.PutUint64(b[4:], w.region.Key)
		le.PutUint64(b[12:], w.region.Address)
	}
	all, xerr := x.allgather(b)
	if xerr != nil {
		return xerr
	}
	for i := 0; i < c.Size() && *err == nil; i++ {
		if class := int32(le.Uint32(all[size*i:])); class != 0 {
			*err = mpierr.New(class, "rank %d cannot create the window; its error message states the "+
				"reason", i)
		}
	}
	if w.spans() && *err == nil {
		w.host.Data.SetRegions(w.Handle, w.local.writtenRows(), func(rank int) Region {
			m := all[size*rank+4:]
			return Region{Key: le.Uint64(m), Address: le.Uint64(m[8:])}
		})
		// Each member on the node has written only its part of the table, so wait for the others.
		if w.local.table && len(w.local.ranks) > 1 {
			return w.host.Data.NodeBarrier(w.Handle, c.Handle)
		}
	}
	return nil
}

// constructor returns the name of the MPI function that creates windows of a flavor.
func constructor(flavor int32) string {
	switch flavor {
	case abi.MPI_WIN_FLAVOR_CREATE:
		return "MPI_Win_create"
	case abi.MPI_WIN_FLAVOR_ALLOCATE:
		return "MPI_Win_allocate"
	case abi.MPI_WIN_FLAVOR_DYNAMIC:
		return "MPI_Win_create_dynamic"
	case abi.MPI_WIN_FLAVOR_SHARED:
		return "MPI_Win_allocate_shared"
	}
	return fmt.Sprintf("another function (flavor %d)", flavor)
}
