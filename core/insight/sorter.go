package insight

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
)

// Sorter sorts the records of all ranks so that causes precede their effects. It sorts records of entries, and records
// of operations that change a window, by the time of entry. It sorts other records by the time of return. This order is
// correct because an effect that another process can notice is recorded before the effect begins (HasEntryRecord). What
// a process has noticed is recorded afterwards.
type Sorter struct {
	Use        func(rank int, r *Record) // called for each record, which is valid until Use returns
	Err        error                     // error of the first invalid record
	Pause      func()                    // called after every pauseRecords records; may call Add; may be nil
	sincePause int                       // records since the last Pause
	queues     []queue
	free       [][]uint64
	record     Record
	abandoned  uint32 // atomic; nonzero after Abandon
	dropped    int
}

// Abandon drops all remaining records. Any goroutine may call it.
func (o *Sorter) Abandon() { atomic.StoreUint32(&o.abandoned, 1) }

// Dropped returns the number of records dropped after Abandon.
func (o *Sorter) Dropped() int { return o.dropped }

// queue holds the pending records of a rank. There may be millions of records, and an object for each would cost more
// than its analysis. Therefore the queue stores their words one after the other in blocks of memory, which it reuses.
type queue struct {
	blocks    [][]uint64
	first     int           // position of the first record in the first block
	firstTime time.Duration // time of the first record; the constant `never` if the queue is empty
}

const (
	blockWords    = max(1<<16, MaxRecord) // a record never spans two blocks
	maxFreeBlocks = 64                    // maximum number of blocks on the free list (32 MiB)
)

// pauseRecords bounds the time between two calls of Pause, in which gompirun reads rings. This time must be a small
// part of the 10 s for which a rank waits for space in its ring.
const pauseRecords = 4096

const never = time.Duration(math.MaxInt64)

// timeOf returns the time by which Sorter sorts a record.
func timeOf(words []uint64) time.Duration {
	number, flags := words[0]&0xffff, words[0]>>16&0xffff
	if flags&flagEntry != 0 || ChangesWindow(int(number)) {
		return time.Duration(words[2])
	}
	return time.Duration(words[3])
}

// ChangesWindow reports whether the function with the given number (Record.Number) changes a window's memory.
func ChangesWindow(number int) bool { return number < len(windowOps()) && windowOps()[number] }

// windowOps reports for each function whether it is an operation that changes a window's memory. Other processes may
// notice the effect of such an operation before the call returns. The operation itself does not depend on earlier
// actions of other processes. So it can be sorted by its time of entry.
var windowOps = sync.OnceValue(func() []bool {
	are := make([]bool, len(abi.Functions()))
	for i, f := range abi.Functions() {
		switch strings.TrimSuffix(strings.TrimPrefix(f.Name, "MPI_"), "_c") {
		case "Put", "Accumulate", "Rput", "Raccumulate", "Get_accumulate", "Rget_accumulate", "Fetch_and_op",
			"Compare_and_swap":
			are[i] = true
		}
	}
	return are
})

// Add appends a copy of a record's words to the queue of a rank.
func (o *Sorter) Add(rank int, words []uint64) {
	for rank >= len(o.queues) {
		o.queues = append(o.queues, queue{firstTime: never})
	}
	q := &o.queues[rank]
	last := len(q.blocks) - 1
	if last < 0 || len(q.blocks[last])+len(words) > blockWords {
		q.blocks = append(q.blocks, o.newBlock())
		last++
	}
	q.blocks[last] = append(q.blocks[last], words...)
	if q.firstTime == never {
		q.firstTime = timeOf(words)
	}
}

func (o *Sorter) newBlock() []uint64 {
	if n := len(o.free); n > 0 {
		p := o.free[n-1]
		o.free = o.free[:n-1]
		return p
	}
	return make([]uint64, 0, blockWords)
}

// front returns the first record.
func (q *queue) front() []uint64 {
	words := q.blocks[0][q.first:]
	return words[:words[0]>>32]
}

// dequeue removes the first record, of n words, from a queue.
func (o *Sorter) dequeue(q *queue, n int) {
	if q.first += n; q.first == len(q.blocks[0]) {
		if len(o.free) < maxFreeBlocks {
			o.free = append(o.free, q.blocks[0][:0])
		}
		q.blocks, q.first = slices.Delete(q.blocks, 0, 1), 0
	}
	q.firstTime = never
	if len(q.blocks) > 0 {
		q.firstTime = timeOf(q.front())
	}
}

// Until calls Use with all records that are not after the time `until`. Precondition: all records up to this time have
// been added.
func (o *Sorter) Until(until time.Duration) {
	for {
		best, second := -1, until
		for i := range o.queues {
			switch q := &o.queues[i]; {
			case q.firstTime > until || q.firstTime == never:
			case best < 0:
				best = i
			case q.firstTime < o.queues[best].firstTime:
				best, second = i, o.queues[best].firstTime-1
			default:
				second = min(second, q.firstTime-1)
			}
		}
		if best < 0 {
			return
		}
		// Uses the records of this queue as long as they precede the first record of every other queue. If
		// times are equal, the record of the lower rank is used first.
		for q, once := &o.queues[best], true; once || q.firstTime <= second &&
			q.firstTime != never; once = false {
			words := q.front()
			if atomic.LoadUint32(&o.abandoned) != 0 {
				o.dropped++
			} else if err := o.record.Decode(words); err == nil {
				o.Use(best, &o.record)
			} else if o.Err == nil {
				o.Err = fmt.Errorf("rank %d: %w", best, err)
			}
			o.dequeue(q, len(words))
			if o.sincePause++; o.sincePause >= pauseRecords && o.Pause != nil {
				o.sincePause = 0
				o.Pause()
				break // Add may have moved the queues
			}
		}
	}
}

// Clone returns a copy of r that does not share its words.
func (r *Record) Clone() *Record {
	var c Record
	_ = c.Decode(slices.Clone(r.words)) // cannot fail: r was decoded from these words
	return &c
}
