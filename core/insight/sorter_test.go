package insight

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fenceRecord returns a record with the given times, and a number in place of the caller.
func fenceRecord(t *testing.T, entry bool, start, end time.Duration, number uint64) []uint64 {
	words := record(t, "MPI_Win_fence", 0, 0, 7)
	if entry {
		words[0] |= flagEntry << 16
	}
	words[2], words[3], words[4] = uint64(start), uint64(end), number
	return words
}

// Checks that Until uses records in the order of their times, keeps the order of the records of a rank, and uses no
// record before its time.
func TestSortByTime(t *testing.T) {
	var got []string
	o := Sorter{Use: func(rank int, r *Record) {
		got = append(got, fmt.Sprint(rank, " ", timeOf(r.words).Nanoseconds()))
	}}
	o.Add(1, fenceRecord(t, false, 1, 30, 0))
	o.Add(1, fenceRecord(t, true, 40, 0, 0))
	o.Add(0, fenceRecord(t, true, 10, 0, 0))
	o.Add(0, fenceRecord(t, false, 10, 35, 0))
	o.Until(30)
	require.Equal(t, []string{"0 10", "1 30"}, got)
	// the call of rank 0 begins before that of rank 1, and is recorded later
	o.Add(1, fenceRecord(t, false, 40, 45, 0))
	o.Add(0, fenceRecord(t, false, 36, 41, 0))
	o.Until(time.Hour)
	require.Equal(t, []string{"0 10", "1 30", "0 35", "1 40", "0 41", "1 45"}, got)
}

// Checks that a record is used after the record of its cause, in whatever order the reader visits the ranks.
func TestSortOfCauses(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 200 {
		type written struct {
			rank int
			at   time.Duration // time at which it was in the ring
			r    []uint64
		}
		// Each step is made by a random rank. It is entered after the previous step was in the ring, which
		// happens some time after the entry of that step.
		var all []written
		now := time.Duration(0)
		for i := range 40 {
			now += time.Duration(1 + r.Intn(10))
			w := written{rank: r.Intn(3), r: fenceRecord(t, true, now, 0, uint64(i))}
			now += time.Duration(r.Intn(30))
			w.at = now
			all = append(all, w)
		}
		next := 0
		o := Sorter{Use: func(_ int, r *Record) {
			require.Equal(t, uint64(next), r.Caller)
			next++
		}}
		for looked, i := time.Duration(0), 0; i < len(all); {
			looked += time.Duration(r.Intn(60))
			began := looked
			// The visit takes time, in which ranks may write further records.
			looked += time.Duration(r.Intn(20))
			for ; i < len(all) && all[i].at <= looked; i++ {
				o.Add(all[i].rank, all[i].r)
			}
			o.Until(began)
		}
		o.Until(now)
		require.Equal(t, len(all), next)
	}
}

// Checks that an operation that changes a window is sorted by its time of entry.
func TestTimeOf(t *testing.T) {
	words := record(t, "MPI_Put", 0)
	require.Equal(t, time.Duration(100), timeOf(words))
	words = record(t, "MPI_Win_flush", 0)
	require.Equal(t, time.Duration(250), timeOf(words))
	words[0] |= accessRecord
	require.Equal(t, time.Duration(250), timeOf(words))
}

// Checks that records pass through the queue's blocks of memory unchanged, and that the free list of blocks is bounded.
func TestSorterBlocks(t *testing.T) {
	var got, want []uint64
	o := Sorter{Use: func(_ int, r *Record) { got = append(got, r.Caller) }}
	const many = (maxFreeBlocks + 10) * blockWords / 8
	for i := range uint64(many) {
		o.Add(0, fenceRecord(t, false, time.Duration(i), time.Duration(i), i))
		want = append(want, i)
	}
	require.Greater(t, len(o.queues[0].blocks), maxFreeBlocks)
	o.Until(many * 3 / 4)
	o.Add(0, fenceRecord(t, false, many, many, many))
	o.Until(time.Hour)
	require.Equal(t, append(want, many), got)
	require.NoError(t, o.Err)
	require.Empty(t, o.queues[0].blocks)
	require.Len(t, o.free, maxFreeBlocks)
}

// Checks that the first invalid record is reported, and that Use is called for the valid records after it.
func TestSorterInvalidRecord(t *testing.T) {
	n := 0
	o := Sorter{Use: func(int, *Record) { n++ }}
	o.Add(1, record(t, "MPI_Put", 0, 1))
	o.Add(1, record(t, "MPI_Get", 0, 1))
	o.Add(1, fenceRecord(t, false, 1, 300, 0))
	o.Until(time.Hour)
	require.EqualError(t, o.Err, "rank 1: MPI_Put: "+errShort.Error())
	require.Equal(t, 1, n)
}

// Checks that records that remain after Abandon are dropped and counted.
func TestSorterAbandoned(t *testing.T) {
	n := 0
	o := Sorter{}
	o.Use = func(int, *Record) {
		if n++; n == 3 {
			o.Abandon()
		}
	}
	for i := range 10 {
		o.Add(i%2, fenceRecord(t, false, 1, time.Duration(i), 0))
	}
	o.Until(time.Hour)
	require.Equal(t, []int{3, 7}, []int{n, o.Dropped()})
}

// Checks that a clone stays unchanged when the words of the original are overwritten.
func TestClone(t *testing.T) {
	words := record(t, "MPI_Win_fence", 0, 0, 7)
	var r Record
	require.NoError(t, r.Decode(words))
	c := r.Clone()
	words[7] = 0
	require.Equal(t, uint64(7), c.In("win").Uint())
}

// Checks that Until calls Pause at intervals, and sorts the records that Pause adds, including those of ranks that had
// no records before.
func TestSorterPauses(t *testing.T) {
	var got []string
	o := Sorter{Use: func(rank int, r *Record) {
		got = append(got, fmt.Sprint(rank, " ", timeOf(r.words).Nanoseconds()))
	}}
	pauses := 0
	o.Pause = func() {
		if pauses++; pauses == 1 {
			require.Len(t, got, pauseRecords)
			o.Add(5, fenceRecord(t, true, pauseRecords+1, 0, 0))
			o.Add(5, fenceRecord(t, true, time.Hour, 0, 0))
		}
	}
	for i := range 3 * pauseRecords {
		o.Add(0, fenceRecord(t, true, time.Duration(i), 0, 0))
	}
	o.Until(time.Minute)
	require.Equal(t, 3, pauses)
	require.Len(t, got, 3*pauseRecords+1)
	require.Equal(t, fmt.Sprint("5 ", pauseRecords+1), got[pauseRecords+2])
}
