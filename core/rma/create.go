package rma

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Spec holds the arguments with which a member creates a window.
type Spec struct {
	Flavor   int32
	Base     uintptr // used only by MPI_Win_create
	Size     int64   // bytes
	DispUnit int32
	Hints    Hints
	HintsErr error
	// The error that the caller has found in this member's arguments; nil if none. If it is not nil, creation fails
	// at all members.
	Err error
}

// Create creates a window, collectively over c: MPI_Win_create, MPI_Win_allocate and MPI_Win_allocate_shared (MPI-5.0
// 12.2.1 to 12.2.3).
//
// A member sends at most 80 bytes in each exchange. There are two exchanges, or three if the window allocates memory or
// its members are on several nodes. Each process needs 32 bytes for each member on its node. The members on a node also
// share the window's control memory. If the window spans nodes, the control memory has 32 bytes for each member of the
// window.
//
// If a member's arguments are wrong or memory is short, all members return an error. A member that found an error
// itself returns that error. The other members return the class of that error. If several members found errors, the
// other members return the class from the lowest rank. Errors: MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_ARG,
// MPI_ERR_INFO_VALUE, MPI_ERR_NO_MEM, and MPI_ERR_RMA_SHARED if the members cannot share memory, for example because
// the members of MPI_Win_allocate_shared are on several nodes.
func Create(h *Host, c *comm.Comm, spec Spec) (*Window, error) {
	hints, err := DefaultHints(), spec.Err
	if err == nil {
		hints, err = check(&spec)
	}
	if c.IsInter() {
		return nil, mpierr.New(abi.MPI_ERR_COMM, "the communicator is an intercommunicator; a window needs an "+
			"intracommunicator")
	}
	w := &Window{host: h, Group: c.Group(), Rank: c.Rank(), Flavor: spec.Flavor, Base: spec.Base, Size: spec.Size,
		DispUnit: spec.DispUnit, hints: hints}
	w.local = h.localMembersOf(c.Size(), w.Rank, w.Group.World)

	place, ok := windows.propose(0)
	if !ok {
		err = tooManyWindows()
	}
	mine := record{class: mpierr.ClassOf(err), flavor: spec.Flavor, dispUnit: spec.DispUnit, size: spec.Size,
		memfdOff: -1,
		address:  uint64(spec.Base), proposal: place,
		alignment: hints.alignment(spec.Size), hints: hints.Common}
	if spec.Flavor == abi.MPI_WIN_FLAVOR_CREATE && spec.Size > 0 && err == nil {
		if r, ok := shared.find(spec.Base, spec.Size); ok {
			mine.memfdOff = r.off + int64(spec.Base-r.addr)
			w.hugePages = r.huge
			if hints.InPlace != InPlaceOff {
				w.hints.Shared = "true"
			}
		} else {
			mine.memfdOff, mine.inPlace, err = w.shareInPlace()
		}
		mine.class = mpierr.ClassOf(err)
	}
	if spec.Flavor == abi.MPI_WIN_FLAVOR_DYNAMIC && err == nil {
		if w.attached, err = h.acquireAttached(); err == nil {
			mine.memfdOff = w.attached.off
		}
		mine.class = mpierr.ClassOf(err)
	}
	var controlErr error
	if w.local.isLeader() && w.local.usesAllPages() && err == nil {
		controlErr = w.allocControl()
		mine.control = w.block
	}
	x := h.exchanges(c, w.spans())
	defer x.close()
	all, xerr := x.allgather(mine.encode())
	if xerr != nil {
		w.close(abandoned)
		return nil, xerr
	}
	members := records(all)
	if err := w.agree(err, members); err != nil {
		w.close(creationFailed)
		windows.withdraw(place)
		return nil, err
	}

	// The node leader reserves memory. One exchange distributes its reservations and agrees on the window's handle.
	w.block = members.at(w.local.leader()).control
	if !w.agreedInFirst(members, place) {
		if err = controlErr; err == nil {
			err = w.reserve(members)
		}
		place, xerr = w.agreeOnHandle(&x, members, place, &err)
	}
	if xerr == nil && err == nil {
		err = w.open(members)
	}
	if xerr == nil {
		xerr = w.confirmAll(&x, &err)
	}
	if xerr != nil {
		// The place stays in use, because other members may have created the window with this handle.
		w.close(abandoned)
		return nil, xerr
	}
	if err != nil {
		w.close(creationFailed)
		// Must be last: from then on, another thread may create a window with the same handle.
		windows.withdraw(place)
		return nil, err
	}
	windows.add(w, place)
	return w, nil
}

// check validates one member's arguments and returns its hints.
func check(spec *Spec) (Hints, error) {
	switch {
	case spec.Size < 0:
		return Hints{}, mpierr.New(abi.MPI_ERR_SIZE, "size is %d; it must not be negative", spec.Size)
	case spec.DispUnit <= 0:
		return Hints{}, mpierr.New(abi.MPI_ERR_DISP, "disp_unit is %d; it must be positive", spec.DispUnit)
	case spec.Flavor == abi.MPI_WIN_FLAVOR_CREATE && spec.Base == 0 && spec.Size > 0:
		return Hints{}, mpierr.New(abi.MPI_ERR_BASE, "base is NULL, but size is %d", spec.Size)
	case spec.Flavor != abi.MPI_WIN_FLAVOR_CREATE && spec.Size > shm.HeapStride:
		return Hints{}, mpierr.New(abi.MPI_ERR_SIZE, "size is %d; the maximum is %d bytes", spec.Size,
			int64(shm.HeapStride))
	}
	return spec.Hints, spec.HintsErr
}

func tooManyWindows() error {
	return mpierr.New(abi.MPI_ERR_NO_MEM, "cannot create a window: the maximum of %d windows is reached",
		handle.MaxWindows)
}
