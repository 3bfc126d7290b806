package insight

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Checks that ChangedPages and ApplyPage make the copy equal to the part, with shifted clocks. The copy must keep the
// state of its own ring. Unchanged pages and slots of absent threads must not be sent.
func TestMirror(t *testing.T) {
	const later = time.Hour
	_, from := newRank(t)
	_, to := newRank(t)
	n := 0
	pass := func(at int64, piece []byte) error {
		n++
		return to.ApplyPage(at, bytes.Clone(piece))
	}
	*u32(from.part, PartPid), *u32(from.part, PartThreads), *u64(from.part, PartMonotonic) = 77, 1, 5
	*u32(from.part, PartSpaceWanted), *u64(from.part, PartHead), *u64(from.part, PartTail) = 9, 9, 9
	*u32(to.part, PartSpaceFutex), *u64(to.part, PartHead), *u64(to.part, PartTail) = 3, 4, 2
	copy(from.part[PartNameAt:], "a program")
	counter := int64(PartSlots + SlotSize - 8) // the last word of the first thread's slot
	*u64(from.part, counter) = 11
	*u64(from.part, counter+8) = 12 // in the slot of a second thread, which does not exist
	require.NoError(t, from.ChangedPages(later, pass))
	require.Equal(t, 3, n)
	require.Equal(t, 77, to.Pid())
	require.Equal(t, uint64(5+later), *u64(to.part, PartMonotonic))
	require.Zero(t, *u64(to.part, PartEnded), "a clock that has not been read")
	require.Equal(t, []uint32{3, 0}, []uint32{*u32(to.part, PartSpaceFutex), *u32(to.part, PartSpaceWanted)})
	require.Equal(t, []uint64{4, 2}, []uint64{*u64(to.part, PartHead), *u64(to.part, PartTail)})
	require.Equal(t, "a program", string(to.part[PartNameAt:][:9]))
	require.Equal(t, []uint64{11, 0}, []uint64{*u64(to.part, counter), *u64(to.part, counter+8)})
	require.NoError(t, from.ChangedPages(later, pass))
	require.Equal(t, 3, n)
	*u64(from.part, PartEnded), *u32(from.part, PartThreads) = 6, 2
	require.NoError(t, from.ChangedPages(later, pass))
	require.Equal(t, 5, n)
	require.Equal(t, uint64(6+later), *u64(to.part, PartEnded))
	require.Equal(t, uint64(12), *u64(to.part, counter+8))
	require.Equal(t, errMirror, from.ChangedPages(later+1, func(int64, []byte) error { return errMirror }))

	for at, size := range map[int64]int{4096: 4097, 0: 10, -4096: 0, 8: 8, int64(PartRing): 8} {
		require.Equal(t, errMirror, to.ApplyPage(at, make([]byte, size)), at)
	}
	require.Equal(t, errMirror, to.Write(make([]uint64, 7), nil))
}

// Checks that records count as arrived up to the time that the slowest rank has reached. The times in records must be
// shifted to gompirun's clock.
func TestReached(t *testing.T) {
	m, err := Create(2, Records, 0)
	require.NoError(t, err)
	defer m.Close()
	require.Equal(t, time.Hour, m.reached(time.Hour), "ranks that are here")
	m.Mirror()
	require.Zero(t, m.reached(time.Hour))
	m.Rank(0).Reached(NeverMore)
	m.Rank(1).Reached(7)
	require.Equal(t, time.Duration(7), m.reached(time.Hour))
	m.Rank(1).Reached(NeverMore)
	require.Equal(t, time.Hour, m.reached(time.Hour))
	words := []uint64{1, 2, 3, 0, 5}
	ShiftTimes(words, 10)
	require.Equal(t, []uint64{1, 2, 13, 0, 5}, words)
}
