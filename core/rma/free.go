package rma

import "gompirma/core/shm"

// closeReason is the reason why a window is closed.
type closeReason int

const (
	creationFailed closeReason = iota // creation of the window failed
	freed                             // MPI_Win_free; control memory stays in use until all members have left it
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
	if how == creationFailed {
		// No member uses the memory any longer. If the window has a handle, other members may have written to
		// the control memory.
		if w.block == 0 {
			nd.Unmap(w.control)
		} else if w.local.isLeader() {
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
		// can access it.
		nd.Wait(func() bool { return int(left.Load()) == len(w.local.ranks) })
		nd.Unmap(w.control)
	default:
		nd.Wake(w.host.NodeIndex(w.Group.World(w.local.leader())))
		nd.Unmap(w.control)
	}
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
