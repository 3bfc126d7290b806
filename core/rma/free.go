package rma

import "gompirma/core/shm"

// ending is how a window ends.
type ending int

const (
	neverMade ending = iota // its creation failed
	freed                   // it was there: its control memory is in use until all members have come to the end
)

// close gives back what this member has of the window.
func (w *Window) close(how ending) {
	nd := w.host.Node
	if w.Handle != 0 {
		w.host.Data.Remove(w.Handle)
	}
	if w.region != (Region{}) {
		w.host.Data.Unregister(w.region)
		w.region = Region{}
	}
	if w.between != nil {
		w.between.Forget()
	}
	w.leaveInPlace()
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
	if w.own != nil {
		w.host.giveAttached(w.own)
		w.own = nil
	}
	w.control, w.segment, w.mapped, w.reserved = nil, nil, nil, nil
}

// leaveControl leaves the control memory.
func (w *Window) leaveControl(how ending) {
	nd := w.host.Node
	if how == neverMade {
		// Nobody uses it any more. If it is known to others they may have written to it.
		if w.block == 0 {
			nd.Unmap(w.control)
		} else if w.near.leads() {
			used := int64(0)
			if w.Handle != 0 {
				used = shm.Dirty
			}
			nd.GiveBlock(w.block, w.near.size(), used)
		}
		return
	}
	left := counter(w.control, w.near.left())
	last := int(left.Add(1)) == len(w.near.ranks)
	switch {
	case w.block != 0 && last:
		used := w.near.size()
		if used > shm.MostKept { // it goes back to the system
			used = shm.Dirty
		}
		nd.GiveBlock(w.block, w.near.size(), used)
	case w.block != 0:
	case w.near.leads():
		// What the leader gives back may be used again at once: nobody may look at it any more.
		nd.Wait(func() bool { return int(left.Load()) == len(w.near.ranks) })
		nd.Unmap(w.control)
	default:
		nd.Wake(w.host.NodeIndex(w.Group.World(w.near.leader())))
		nd.Unmap(w.control)
	}
}

// Free is MPI_Win_free (MPI-5.0 12.2.5), collective over the window's group. before is called when the epochs have been
// looked at and before the members meet; its error ends the call, and the window lives on. MPI_ERR_RMA_SYNC: an epoch
// is open; the window is then unchanged, and before has not been called.
func (w *Window) Free(before func() error) error {
	if err := w.host.Data.MayFree(w.Handle); err != nil {
		return err
	}
	if err := before(); err != nil {
		return err
	}
	if err := w.host.Data.MayFree(w.Handle); err != nil { // before runs code of the application
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
