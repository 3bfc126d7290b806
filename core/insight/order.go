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

// Order sorts the records of all ranks so that causes precede their effects. The key is the time of entry for records
// that begin a call, and of return for the others. The key is correct for this: an effect that another process can
// notice is recorded before it begins (Entered), and what a process has noticed is recorded afterwards.
type Order struct {
	Use    func(rank int, r *Record) // the record is valid until it returns
	Err    error                     // of the first invalid record
	Pause  func()                    // called after every pauseRecords records, may call Add; may be nil
	given  int                       // records since the last Pause
	queues []queue
	free   [][]uint64
	record Record
	ends   uint32 // atomic; nonzero after Abandon
	left   int
}

// Abandon drops all remaining records. Any goroutine may call it.
func (o *Order) Abandon() { atomic.StoreUint32(&o.ends, 1) }

// Left returns the number of records dropped after Abandon.
func (o *Order) Left() int { return o.left }

// queue holds the pending records of a rank as words, one behind the other in reused blocks of memory. There are
// millions of records; an object for each would cost more than their analysis.
type queue struct {
	pieces [][]uint64
	first  int           // position of the first record in the first block
	time   time.Duration // of the first record; never if the queue is empty
}

const (
	pieceWords = max(1<<16, MaxRecord) // a record never spans two blocks
	mostFree   = 64                    // blocks on the free list: 32 MiB
)

// pauseRecords bounds the time between two calls of Pause to a small part of the 10 s that a rank waits for space.
const pauseRecords = 4096

const never = time.Duration(math.MaxInt64)

// timeOf returns the time by which a record is sorted.
func timeOf(words []uint64) time.Duration {
	number, flags := words[0]&0xffff, words[0]>>16&0xffff
	if flags&flagEntry != 0 || Operates(int(number)) {
		return time.Duration(words[2])
	}
	return time.Duration(words[3])
}

// Operates reports whether the function with the given number, as in Record, changes a window's memory.
func Operates(number int) bool { return number < len(operations()) && operations()[number] }

// operations holds for each function whether it is an operation that changes a window's memory. Such a call notices
// nothing of other processes, but they may notice it before it returns.
var operations = sync.OnceValue(func() []bool {
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
func (o *Order) Add(rank int, words []uint64) {
	for rank >= len(o.queues) {
		o.queues = append(o.queues, queue{time: never})
	}
	q := &o.queues[rank]
	last := len(q.pieces) - 1
	if last < 0 || len(q.pieces[last])+len(words) > pieceWords {
		q.pieces = append(q.pieces, o.piece())
		last++
	}
	q.pieces[last] = append(q.pieces[last], words...)
	if q.time == never {
		q.time = timeOf(words)
	}
}

func (o *Order) piece() []uint64 {
	if n := len(o.free); n > 0 {
		p := o.free[n-1]
		o.free = o.free[:n-1]
		return p
	}
	return make([]uint64, 0, pieceWords)
}

// head returns the first record.
func (q *queue) head() []uint64 {
	words := q.pieces[0][q.first:]
	return words[:words[0]>>32]
}

// pass removes the first record, of n words, from a queue.
func (o *Order) pass(q *queue, n int) {
	if q.first += n; q.first == len(q.pieces[0]) {
		if len(o.free) < mostFree {
			o.free = append(o.free, q.pieces[0][:0])
		}
		q.pieces, q.first = slices.Delete(q.pieces, 0, 1), 0
	}
	q.time = never
	if len(q.pieces) > 0 {
		q.time = timeOf(q.head())
	}
}

// Until calls Use with all records whose time is at most until. All of these must have been added.
func (o *Order) Until(until time.Duration) {
	for {
		best, second := -1, until
		for i := range o.queues {
			switch q := &o.queues[i]; {
			case q.time > until || q.time == never:
			case best < 0:
				best = i
			case q.time < o.queues[best].time:
				best, second = i, o.queues[best].time-1
			default:
				second = min(second, q.time-1)
			}
		}
		if best < 0 {
			return
		}
		// Takes records of this queue while they are older than all others. At equal times the lower rank comes
		// first.
		for q, once := &o.queues[best], true; once || q.time <= second && q.time != never; once = false {
			words := q.head()
			if atomic.LoadUint32(&o.ends) != 0 {
				o.left++
			} else if err := o.record.Decode(words); err == nil {
				o.Use(best, &o.record)
			} else if o.Err == nil {
				o.Err = fmt.Errorf("rank %d: %w", best, err)
			}
			o.pass(q, len(words))
			if o.given++; o.given >= pauseRecords && o.Pause != nil {
				o.given = 0
				o.Pause()
				break // Add may have moved the queues
			}
		}
	}
}

// Clone returns a copy that does not share the words of r.
func (r *Record) Clone() *Record {
	var c Record
	_ = c.Decode(slices.Clone(r.words)) // cannot fail: r was decoded from these words
	return &c
}
