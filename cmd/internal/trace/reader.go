package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Sink receives the content of a file from a reader.
type Sink interface {
	Event(e *Event) error
	Flow(id string, f Flow)
	// Process receives the name of a rank's process, as Writer.Process has written it. Thread receives the name of
	// a thread.
	Process(rank int, name string)
	Thread(rank, thread int, name string)
}

// Summary holds the content of a file other than the events, and facts about the file that the reader has determined.
type Summary struct {
	Job
	HasJob  bool // the file describes the job
	Cut     bool // the file is truncated
	Ignored int  // number of events of kinds that Writer never writes; other programs may have added them
}

// Error describes a fault in a file, and its position.
type Error struct {
	Offset int64 // file position just before the fault or, for a fault in an event, before the event
	Event  int   // number of the event, from 1; 0 if the fault is not in an event
	Err    error
}

func (e *Error) Error() string {
	if e.Event > 0 {
		return fmt.Sprintf("event %d, after byte %d: %v", e.Event, e.Offset, e.Err)
	}
	return fmt.Sprintf("after byte %d: %v", e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Limits of the values in a file. A larger value is an error; it must not cause a large allocation.
const (
	maxRank   = 1 << 20
	maxThread = memoryThread
	maxTime   = 1 << 62 / 1000 // largest time, in microseconds
	maxBytes  = 1 << 60
)

// raw is an event in JSON. The field Ph is the kind of the event. Events of a kind that the reader ignores may hold any
// values, so the types of the other fields are checked later.
type raw struct {
	Ph   string  `json:"ph"`
	Name string  `json:"name"`
	Cat  string  `json:"cat"`
	Pid  any     `json:"pid"`
	Tid  any     `json:"tid"`
	Ts   any     `json:"ts"`
	Dur  any     `json:"dur"`
	ID   any     `json:"id"`
	Args rawArgs `json:"args"`
}

type rawArgs struct {
	Name   any      `json:"name"`
	Target *int     `json:"target"`
	Dest   *int     `json:"dest"`
	Source *int     `json:"source"`
	Tag    *int     `json:"tag"`
	Bytes  int64    `json:"bytes"`
	Comm   string   `json:"comm"`
	Win    string   `json:"win"`
	Disp   *int64   `json:"disp"`
	Span   int64    `json:"span"`
	Wait   *float64 `json:"wait"`
	For    *int     `json:"for"`
}

type reader struct {
	dec  *json.Decoder
	sink Sink
	sum  Summary
	n    int   // number of events read so far
	at   int64 // end of the token before the last event
}

// Read reads a file and passes its content to `sink`. It reads a truncated file up to its end. It returns any other
// fault in the file, and an error that `sink` returns, as an *Error.
func Read(in io.Reader, sink Sink) (Summary, error) {
	r := &reader{dec: json.NewDecoder(in), sink: sink}
	err := r.file()
	if errors.Is(err, io.ErrUnexpectedEOF) && r.n > 0 {
		r.sum.Cut = true
		err = nil
	}
	return r.sum, err
}

func (r *reader) fail(event int, err error) error {
	offset := r.at
	if event == 0 {
		offset = r.dec.InputOffset()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the file is incomplete: %w", io.ErrUnexpectedEOF)
	}
	return &Error{offset, event, err}
}

func (r *reader) token() (json.Token, error) {
	t, err := r.dec.Token()
	if err != nil {
		return nil, r.fail(0, err)
	}
	return t, nil
}

func (r *reader) file() error {
	t, err := r.token()
	switch {
	case err != nil:
		return err
	case t == json.Delim('['):
		return r.events()
	case t != json.Delim('{'):
		return r.fail(0, errors.New("not a trace: it begins with neither an object nor an array"))
	}
	found := false
	for r.dec.More() {
		key, err := r.token()
		if err != nil {
			return err
		}
		switch key {
		case "traceEvents":
			if t, err = r.token(); err != nil {
				return err
			}
			if t != json.Delim('[') {
				return r.fail(0, errors.New("traceEvents is not an array"))
			}
			found = true
			if err = r.events(); err != nil {
				return err
			}
		case "otherData":
			var job Job
			if err = r.dec.Decode(&job); err != nil {
				return r.fail(0, fmt.Errorf("otherData: %w", err))
			}
			if job.Format > Version {
				return r.fail(0, fmt.Errorf("otherData: format %d is newer than this program, which "+
					"supports %d", job.Format, Version))
			}
			if job.Ranks < 0 || job.Ranks > maxRank {
				return r.fail(0, fmt.Errorf("otherData: ranks is %d; it must be from 0 to %d",
					job.Ranks, maxRank))
			}
			r.sum.Job, r.sum.HasJob = job, job.Format > 0
		default:
			var skipped json.RawMessage
			if err = r.dec.Decode(&skipped); err != nil {
				return r.fail(0, err)
			}
		}
	}
	if _, err = r.token(); err != nil {
		return err
	}
	if !found {
		return r.fail(0, errors.New("not a trace: traceEvents is missing"))
	}
	if t, err := r.dec.Token(); err != io.EOF {
		if err == nil {
			err = fmt.Errorf("unexpected %v after the end of the trace", t)
		}
		return r.fail(0, err)
	}
	return nil
}

func (r *reader) events() error {
	for r.dec.More() {
		r.n++
		r.at = r.dec.InputOffset()
		var e raw
		if err := r.dec.Decode(&e); err != nil {
			// An event of another program may have values of different types.
			var kind *json.UnmarshalTypeError
			if errors.As(err, &kind) && e.Ph != "X" && e.Ph != "" {
				r.sum.Ignored++
				continue
			}
			if errors.As(err, &kind) {
				err = fmt.Errorf("%s must not be a %s", kind.Field, kind.Value)
				if kind.Field == "" {
					err = fmt.Errorf("found a %s instead of an object", kind.Value)
				}
			}
			if e := r.fail(r.n, err); !errors.Is(e, io.ErrUnexpectedEOF) || r.n > 1 {
				return e
			}
			return r.fail(0, io.ErrUnexpectedEOF)
		}
		if err := r.event(&e); err != nil {
			return r.fail(r.n, err)
		}
	}
	_, err := r.token()
	return err
}

func (r *reader) event(e *raw) error {
	switch e.Ph {
	case "X", "s", "f", "M":
	case "":
		return errors.New("the field ph is missing")
	default:
		r.sum.Ignored++
		return nil
	}
	rank, err := intWithin("pid", e.Pid, maxRank)
	if err != nil {
		return err
	}
	thread, err := intWithin("tid", e.Tid, maxThread)
	if err != nil {
		return err
	}
	if e.Ph == "M" {
		name, _ := e.Args.Name.(string)
		switch e.Name {
		case "process_name":
			r.sink.Process(rank, name)
		case "thread_name":
			if thread != memoryThread {
				r.sink.Thread(rank, thread, name)
			}
		}
		return nil
	}
	if thread == memoryThread {
		return nil
	}
	start, err := nanos("ts", e.Ts)
	if err != nil {
		return err
	}
	if e.Ph != "X" {
		id := fmt.Sprint(e.ID)
		if e.ID == nil {
			return errors.New("the field id of a flow is missing")
		}
		// Arrows of one-sided operations are skipped: users of the reader derive them from the operations
		if e.Cat != RMA.String() {
			r.sink.Flow(id, Flow{End: e.Ph == "f", Rank: rank, Thread: thread, Time: start})
		}
		return nil
	}
	dur, err := nanos("dur", e.Dur)
	if err != nil {
		return err
	}
	if dur < 0 {
		return fmt.Errorf("dur is %v; a duration must be 0 or more", e.Dur)
	}
	out := NewEvent(kindOf(e.Cat), e.Name, rank, thread, start, dur)
	if err := e.Args.into(&out); err != nil {
		return err
	}
	return r.sink.Event(&out)
}

// into checks the arguments and stores them in an event.
func (a *rawArgs) into(e *Event) error {
	for _, p := range []struct {
		name string
		from *int
		to   *int
		most int
	}{{"target", a.Target, &e.Target, maxRank}, {"dest", a.Dest, &e.Dest, maxRank},
		{"source", a.Source, &e.Source, maxRank}, {"tag", a.Tag, &e.Tag, math.MaxInt32},
		{"for", a.For, &e.For, maxRank}} {
		if p.from == nil || *p.from < 0 {
			continue
		}
		if *p.from > p.most {
			return fmt.Errorf("%s is %d, which is out of range", p.name, *p.from)
		}
		*p.to = *p.from
	}
	if a.Disp != nil {
		e.Disp = *a.Disp
	}
	e.Bytes, e.Span, e.Comm, e.Window = a.Bytes, a.Span, a.Comm, a.Win
	size := max(e.Bytes, e.Span)
	if min(e.Bytes, e.Span) < 0 || size > maxBytes || e.Disp > maxBytes-size {
		return errors.New("bytes, span or disp is out of range")
	}
	if a.Wait != nil {
		if *a.Wait < 0 || *a.Wait > maxTime {
			return fmt.Errorf("wait is %v; a duration must be 0 or more", *a.Wait)
		}
		e.Waited = min(int64(math.Round(*a.Wait*1000)), e.Dur)
	}
	return nil
}

func intWithin(name string, value any, most int) (int, error) {
	n, ok := value.(float64)
	switch {
	case value == nil:
		return 0, fmt.Errorf("the field %s is missing", name)
	case !ok || n != math.Trunc(n) || n < 0 || n > float64(most):
		text, _ := json.Marshal(value)
		return 0, fmt.Errorf("%s is %s, not a whole number from 0 to %d", name, bytes.TrimSpace(text), most)
	}
	return int(n), nil
}

func nanos(name string, value any) (int64, error) {
	n, ok := value.(float64)
	switch {
	case value == nil:
		return 0, fmt.Errorf("the field %s is missing", name)
	case !ok:
		text, _ := json.Marshal(value)
		return 0, fmt.Errorf("%s is %s, not a number of microseconds", name, bytes.TrimSpace(text))
	case math.Abs(n) > maxTime:
		return 0, fmt.Errorf("%s is %v microseconds; the largest time is %d", name, n, int64(maxTime))
	}
	return int64(math.Round(n * 1000)), nil
}
