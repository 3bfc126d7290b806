package rma

import (
	"slices"

	"gompirma/core/shm"
)

// closeReason is the reason why a window is closed.
type closeReason int

const (
	creationFailed closeReason = iota // all members know that the creation of the window has failed
	// A process has failed, or the communicator is revoked. Other members may still use the shared memory of the
	// window, which stays allocated until the job ends.
	abandoned
	freed // MPI_Win_free; control memory stays in use until all members have left it
)

// close releases this member's resources of the window.
func (w *Window) close(how closeReason) {
	nd := w.host.Node
	if w.Handle != 0 {
		w.host.Data.Remove(w.Handle)
	}
	if w.region != (Region{}) {
		w.host.Data.Unregister(w.region)
		w.region = Region{}
	}
	if w.msgComm != nil {
		w.msgComm.Forget()
	}
	if how == abandoned {
		w.reserved, w.heldSpans, w.attached = nil, nil, nil
	}
	w.unshareInPlace()
	if w.segment != nil {
		shared.remove(address(w.segment), byWindow)
		nd.Unmap(w.segment)
	}
	for _, b := range w.mapped {
		nd.Unmap(b)
	}
	if w.control != nil {
		w.leaveControl(how)
	}
	for _, r := range w.reserved {
		nd.Release(r.off, r.size)
	}
	if w.attached != nil {
		w.host.releaseAttached(w.attached)
		w.attached = nil
	}
	w.control, w.segment, w.mapped, w.reserved = nil, nil, nil, nil
}

// leaveControl ends this member's use of the control memory. The last user of the memory releases it.
func (w *Window) leaveControl(how closeReason) {
	nd := w.host.Node
	if how != freed {
		// After creationFailed, no member uses the memory any longer. If the window has a handle, other members
		// may have written to the control memory.
		if w.block == 0 {
			nd.Unmap(w.control)
		} else if how == creationFailed && w.local.isLeader() {
			used := int64(0)
			if w.Handle != 0 {
				used = shm.Dirty
			}
			nd.FreeBlock(w.block, w.local.controlBytes(), used)
		}
		return
	}
	left := counter(w.control, w.local.leaveOff())
	last := int(left.Add(1)) == len(w.local.ranks)
	switch {
	case w.block != 0 && last:
		used := w.local.controlBytes()
		if used > shm.MaxCachedBytes { // too large to cache: release the memory instead of clearing it
			used = shm.Dirty
		}
		nd.FreeBlock(w.block, w.local.controlBytes(), used)
	case w.block != 0:
	case w.local.isLeader():
		// The memory may be reused as soon as the leader releases it. So the leader waits until no other member
		// can access it. If a member fails before it has left, the memory stays allocated.
		isOver := func() bool { return int(left.Load()) == len(w.local.ranks) }
		mayWait := func() bool { return isOver() || w.hasFailedLocal() }
		_ = nd.WaitFor(mayWait, shm.Waiting{Peer: shm.PeersAll, Survives: true})
		if !isOver() {
			w.reserved = nil
		}
		nd.Unmap(w.control)
	default:
		nd.Wake(w.host.NodeIndex(w.Group.World(w.local.leader())))
		nd.Unmap(w.control)
	}
}

// hasFailedLocal returns whether a member on this node has failed.
func (w *Window) hasFailedLocal() bool {
	return slices.ContainsFunc(w.local.ranks, func(r int32) bool {
		return w.host.Node.State(w.host.NodeIndex(w.Group.World(int(r)))) == shm.Failed
	})
}

// Free implements MPI_Win_free (MPI-5.0 12.2.5), collective over the window's group. As soon as the epoch check has
// succeeded, Free calls the function `before`, and then synchronizes the members. If `before` returns an error, Free
// returns that error and the window stays valid. Error: MPI_ERR_RMA_SYNC if an epoch is open; the window is then
// unchanged. Free repeats the epoch check after `before`, because `before` may open an epoch.
func (w *Window) Free(before func() error) error {
	if err := w.host.Data.CheckFree(w.Handle); err != nil {
		return err
	}
	if err := before(); err != nil {
		return err
	}
	if err := w.host.Data.CheckFree(w.Handle); err != nil { // `before` has run code of the application
		return err
	}
	w.ending.Store(true)
	if err := w.host.Data.Barrier(w.Handle); err != nil {
		return err
	}
	w.close(freed)
	windows.remove(w.Handle)
	return nil
}

// Abandon releases this member's own resources of a window. It is called if a failed process or a revocation prevents
// the collective free.
func (w *Window) Abandon() {
	w.close(abandoned)
	windows.forget(w.Handle)
}
