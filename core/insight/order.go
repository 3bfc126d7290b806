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

// Order gives records on in an order in which causes come before their effects, whoever has recorded them: by the time
// of entry of those that begin a call, of return of the others. That is such an order, since what another process could
// notice is written down before it begins (Entered), and what a process has noticed after that.
type Order struct {
	Use    func(rank int, r *Record) // the record is valid until it returns
	Err    error                     // of the first words that were no record
	Pause  func()                    // called after every pauseRecords records, may call Add; nil: nothing
	given  int                       // records since the last Pause
	queues []queue
	free   [][]uint64
	record Record
	ends   uint32 // set: nobody waits for the rest
	left   int
}

// Abandon has what is left dropped, by whichever goroutine gives records on.
func (o *Order) Abandon() { atomic.StoreUint32(&o.ends, 1) }

// Left returns how many records were dropped for that.
func (o *Order) Left() int { return o.left }

// queue has the records of a rank that wait as their words, one behind the other in pieces of memory that are used
// again: they come by millions, and as objects each they would cost more than what is made of them.
type queue struct {
	pieces [][]uint64
	first  int           // where the first record begins in the first piece
	time   time.Duration // of that; never: there is none
}

const (
	pieceWords = max(1<<16, MaxRecord) // no record is in two
	mostFree   = 64                    // pieces that are kept for later: 32 MiB
)

// pauseRecords bounds the time between two calls of Pause to a small part of the 10 s that a rank waits for room.
const pauseRecords = 4096

const never = time.Duration(math.MaxInt64)

// timeOf returns the time of a record by which it is in order.
func timeOf(words []uint64) time.Duration {
	number, flags := words[0]&0xffff, words[0]>>16&0xffff
	if flags&flagEntry != 0 || Operates(int(number)) {
		return time.Duration(words[2])
	}
	return time.Duration(words[3])
}

// Operates reports whether the function of a number, as in Record, changes a window's memory.
func Operates(number int) bool { return number < len(operations()) && operations()[number] }

// operations says of each function whether it is an operation that changes a window's memory. Such a call is not asked
// what it notices of others, and those may notice it before it returns.
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

// Add takes the words of a record, which are copied.
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

// pass goes on behind the first record, which has so many words.
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

// Until gives on what is not younger than a time, all of which has been added.
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
		// As long as it is older than all others, the one of the lower rank first.
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

// Clone returns a copy that stays valid.
func (r *Record) Clone() *Record {
	var c Record
	_ = c.Decode(slices.Clone(r.words)) // which it was made by
	return &c
}
