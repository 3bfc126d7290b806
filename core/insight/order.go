package insight

import (
	"slices"
	"strings"
	"time"
)

// Order gives records on in an order in which causes come before their effects, whoever has recorded them: by the time
// of entry of those that begin a call, of return of the others. That is such an order, since what another process could
// notice is written down before it begins (Entered), and what a process has noticed after that.
type Order struct {
	Use    func(rank int, r *Record) // the record is kept by nobody else
	queues [][]*Record
}

func (r *Record) time() time.Duration {
	if r.Entry || r.operates() {
		return r.Start
	}
	return r.End
}

// operates reports whether the call is an operation on a window. It notices nothing of others, and those may notice it
// before it returns.
func (r *Record) operates() bool {
	if r.Function == nil {
		return false
	}
	switch strings.TrimSuffix(strings.TrimPrefix(r.Function.Name, "MPI_"), "_c") {
	case "Put", "Accumulate", "Rput", "Raccumulate", "Get_accumulate", "Rget_accumulate", "Fetch_and_op",
		"Compare_and_swap":
		return true
	}
	return false
}

// Add takes a record, which is copied.
func (o *Order) Add(rank int, r *Record) {
	for rank >= len(o.queues) {
		o.queues = append(o.queues, nil)
	}
	o.queues[rank] = append(o.queues[rank], r.Clone())
}

// Clone returns a copy that stays valid.
func (r *Record) Clone() *Record {
	c := *r
	n := 0
	for _, values := range [][]Value{r.Inputs, r.Outputs} {
		for i := range values {
			n += len(values[i].Words)
		}
	}
	words := make([]uint64, 0, n)
	keep := func(values []Value) []Value {
		values = slices.Clone(values)
		for i := range values {
			from := len(words)
			words = append(words, values[i].Words...)
			values[i].Words = words[from:len(words):len(words)]
		}
		return values
	}
	c.Inputs, c.Outputs = keep(r.Inputs), keep(r.Outputs)
	return &c
}

// Until gives on what is not younger than a time, all of which has been added.
func (o *Order) Until(until time.Duration) {
	for {
		best := -1
		for i, q := range o.queues {
			if len(q) > 0 && q[0].time() <= until && (best < 0 || q[0].time() < o.queues[best][0].time()) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		r := o.queues[best][0]
		o.queues[best] = o.queues[best][1:]
		o.Use(best, r)
	}
}
