package insight

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"gompirma/core/abi"
)

// Record is one decoded record. It describes a call of a rank, the program's own memory accesses, or events that order
// threads.
type Record struct {
	Function  *abi.Function
	Number    int // index of the function in abi.Functions()
	Thread    int
	Entry     bool          // a record of the entry; the record of the return has the same Thread and Start
	Truncated bool          // a list has more elements than recorded
	Start     time.Duration // CLOCK_MONOTONIC of the rank's machine
	End       time.Duration // time of the return; 0 in a record of the entry
	Caller    uint64        // return address of the call
	Result    int64         // 0 in a record of the entry
	Inputs    []Value       // in the order of RecordItems
	Outputs   []Value       // in the order of RecordItems; none in a record of the entry
	Accesses  []Access      // the program's own accesses; if any, the record is not of a call, and Function is nil
	Events    []Event       // events that order the thread; if any, the record is not of a call either
	words     []uint64      // the encoded record
}

// Value is a parameter in a record.
type Value struct {
	Item  *Item
	State State
	Words []uint64 // a number: one word; a list: its elements; a text: its bytes, eight in a word
	bytes int      // length of a text
}

// Uint returns the value of a number, handle or address, or the first element of a list. It returns 0 if there is no
// value.
func (v *Value) Uint() uint64 {
	if len(v.Words) == 0 || v.State != Present && v.State != Truncated && v.State != Special {
		return 0
	}
	return v.Words[0]
}

// Int returns the value of a number, or the first element of a list. It returns 0 if there is no value.
func (v *Value) Int() int64 { return int64(v.Uint()) }

// HasValue reports whether there is a value. A null pointer, a constant in place of an address, and an output that the
// call did not write count as no value.
func (v *Value) HasValue() bool { return v.State == Present || v.State == Truncated }

// Text returns the value of a text.
func (v *Value) Text() string {
	if v.bytes == 0 {
		return ""
	}
	return string(unsafeBytes(v.Words)[:v.bytes])
}

// Status holds the members of an MPI_Status.
type Status struct {
	Source, Tag, Error int
	Cancelled          bool // from gompirma's internal part of a status (capi/base/status.h)
	Words              [StatusWords]uint64
}

// Statuses returns the number of statuses.
func (v *Value) Statuses() int { return len(v.Words) / StatusWords }

// Status returns the status with index i.
func (v *Value) Status(i int) Status {
	w := [StatusWords]uint64(v.Words[i*StatusWords:])
	low, high := int(int32(w[0])), int(int32(w[0]>>32))
	return Status{Source: low, Tag: high, Error: int(int32(w[1])), Cancelled: w[1]>>32&1 != 0, Words: w}
}

// In returns the input with the given parameter name, or an empty Value if the function has no such input.
func (r *Record) In(name string) *Value { return findValue(r.Inputs, name) }

// Out returns the output with the given parameter name. It returns an empty Value if the record has no such output. A
// record of the entry has no outputs.
func (r *Record) Out(name string) *Value { return findValue(r.Outputs, name) }

// Members returns the members of the communicator that the call created, or of the group that it received, as indices
// of their parts of the memory; -1 for processes that are not recorded. If remote is true, it returns the members of an
// intercommunicator's remote group.
func (r *Record) Members(remote bool) []int {
	form := Members
	if remote {
		form = Remote
	}
	for _, values := range [][]Value{r.Inputs, r.Outputs} {
		for i := range values {
			if values[i].Item.Form == form && values[i].HasValue() {
				ranks := make([]int, len(values[i].Words))
				for k, w := range values[i].Words {
					ranks[k] = int(int64(w))
				}
				return ranks
			}
		}
	}
	return nil
}

var noValue = Value{State: Absent}

func findValue(values []Value, name string) *Value {
	for i := range values {
		if item := values[i].Item; item.Param.Name == name && item.Form != Members && item.Form != Remote {
			return &values[i]
		}
	}
	return &noValue
}

// allItems returns, for each function, the items before the call (inputs) and after the call (outputs).
var allItems = sync.OnceValue(func() (all []struct{ before, after []Item }) {
	for _, f := range abi.Functions() {
		var p struct{ before, after []Item }
		if !IsUnrecorded(f) {
			for _, i := range RecordItems(f) {
				if i.IsInput {
					p.before = append(p.before, i)
				}
				if i.IsOutput {
					p.after = append(p.after, i)
				}
			}
		}
		all = append(all, p)
	}
	return all
})

var errShort = errors.New("a record is incomplete")

// IsProgramRecord reports whether a record does not describe a call of MPI. It then describes the program's own memory
// accesses, or events that order its threads.
func IsProgramRecord(words []uint64) bool {
	number := words[0] & 0xffff
	return number == accessRecord || number == eventRecord
}

// Decode decodes the words of a record into r. The values of r refer to the words.
func (r *Record) Decode(words []uint64) error {
	if len(words) < HeadWords || uint64(len(words)) != words[0]>>32 {
		return errShort
	}
	number, flags := int(words[0]&0xffff), words[0]>>16&0xffff
	if number == accessRecord || number == eventRecord {
		*r = Record{Number: number, Thread: int(words[1]), Start: time.Duration(words[2]),
			End: time.Duration(words[3]), Caller: words[4], Result: int64(words[5]),
			Inputs: r.Inputs[:0], Outputs: r.Outputs[:0], words: words}
		var err error
		if number == accessRecord {
			r.Accesses, err = decodeAccesses(words[HeadWords:])
		} else {
			r.Events, err = decodeEvents(words[HeadWords:])
		}
		return err
	}
	if number >= len(abi.Functions()) {
		return fmt.Errorf("a record has function number %d, which does not exist", number)
	}
	p := &allItems()[number]
	*r = Record{Function: abi.Functions()[number], Number: number, Thread: int(words[1]),
		Entry: flags&flagEntry != 0, Truncated: flags&flagTruncated != 0, Start: time.Duration(words[2]),
		End: time.Duration(words[3]), Caller: words[4], Result: int64(words[5]),
		Inputs: r.Inputs[:0], Outputs: r.Outputs[:0], words: words}
	rest := words[HeadWords:]
	var err error
	if r.Inputs, rest, err = decodeValues(r.Inputs, p.before, rest); err == nil && !r.Entry {
		r.Outputs, rest, err = decodeValues(r.Outputs, p.after, rest)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Function.Name, err)
	}
	if len(rest) > 0 {
		return fmt.Errorf("%s: a record has %d more words than the function needs", r.Function.Name, len(rest))
	}
	return nil
}

// decodeValues decodes items from words, appends them to the argument `into`, and returns the result and the remaining
// words.
func decodeValues(into []Value, items []Item, words []uint64) ([]Value, []uint64, error) {
	for i := range items {
		v := Value{Item: &items[i]}
		if len(words) == 0 {
			return into, nil, errShort
		}
		n := 1
		if v.Item.Form != Word {
			count := int(uint32(words[0]))
			v.State = State(words[0] >> 32)
			words = words[1:]
			switch v.Item.Form {
			case Statuses:
				n = count * StatusWords
			case Text:
				v.bytes, n = count, (count+7)/8
			default:
				n = count
			}
			if v.State == Special {
				n, v.bytes = 1, 0
			}
		}
		if n > len(words) {
			return into, nil, errShort
		}
		v.Words, words = words[:n:n], words[n:]
		into = append(into, v)
	}
	return into, words, nil
}
