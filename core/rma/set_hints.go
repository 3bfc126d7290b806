package rma

import (
	"encoding/binary"
	"slices"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// SetHints is MPI_Win_set_info (MPI-5.0 12.2.7), collective over the window's group: two barriers. err is what is wrong
// with this member's arguments already, info nil stands for no keys. Keys of the memory that is there keep their
// values. MPI_ERR_INFO_VALUE: a value of a member's is wrong; nothing has changed anywhere, and all members return an
// error.
func (w *Window) SetHints(info func(key string) (string, bool), err error) error {
	w.mu.Lock()
	old := w.hints
	w.mu.Unlock()
	n := old
	if err == nil && info != nil {
		err = n.Apply(info)
	}
	n.Alignment, n.HugePages, n.InPlace = old.Alignment, old.HugePages, old.InPlace // of memory that is there
	mine := make([]byte, 4+commonSize)
	binary.LittleEndian.PutUint32(mine, uint32(mpierr.ClassOf(err)))
	n.putCommon(mine[4:])
	theirs, merr := w.tellHints(mine)
	if merr != nil {
		return merr
	}
	for i := 0; i < w.Group.Size() && err == nil; i++ {
		if class := int32(binary.LittleEndian.Uint32(theirs[i*len(mine):])); class != abi.MPI_SUCCESS {
			err = mpierr.New(class, "the arguments of rank %d are wrong", i)
		}
	}
	if err != nil {
		return err
	}
	n.combine(func(yield func(Hints) bool) {
		for m := range slices.Chunk(theirs, len(mine)) {
			if !yield(commonOf(m[4:])) {
				return
			}
		}
	})
	n.keepTrue(w.sameSize, w.sameUnit)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hints = n
	w.host.Data.SetGranularity(w.Handle, n.Granularity)
	return nil
}

// tellHints exchanges the members' words for MPI_Win_set_info: those of all, by rank.
func (w *Window) tellHints(mine []byte) ([]byte, error) {
	if w.spans() {
		return w.host.Allgather(w.between, mine)
	}
	copy(w.control[w.near.hints(w.Rank):], mine)
	if err := w.host.Data.Barrier(w.Handle, BarrierToSetHints); err != nil {
		return nil, err
	}
	all := slices.Clone(w.control[w.near.hints(0):w.near.hints(w.Group.Size())])
	// Nobody may leave other hints before all have read these.
	return all, w.host.Data.Barrier(w.Handle, BarrierToSetHints)
}
