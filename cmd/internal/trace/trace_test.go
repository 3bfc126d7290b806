package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kept is a Sink that stores everything that it receives.
type kept struct {
	events    []Event
	flows     map[string][]Flow
	processes map[int]string
	threads   map[string]string
	refuse    error
}

func newKept() *kept {
	return &kept{flows: map[string][]Flow{}, processes: map[int]string{}, threads: map[string]string{}}
}

func (k *kept) Event(e *Event) error                 { k.events = append(k.events, *e); return k.refuse }
func (k *kept) Flow(id string, f Flow)               { k.flows[id] = append(k.flows[id], f) }
func (k *kept) Process(rank int, name string)        { k.processes[rank] = name }
func (k *kept) Thread(rank, thread int, name string) { k.threads[fmt.Sprint(rank, ".", thread)] = name }

// sample returns data with every field set.
func sample() ([]Event, []Flow, Job) {
	put := NewEvent(RMA, "MPI_Put", 0, 0, 1234567, 89)
	put.Target, put.Bytes, put.Window, put.Disp, put.Span = 3, 800, "halo", 0, 1592
	fence := NewEvent(Sync, "MPI_Win_fence", 3, 1, 2_000_000_000_001, 1_000_000)
	fence.Window, fence.Waited, fence.For = "halo", 999_999, 0
	send := NewEvent(Message, "MPI_Sendrecv", 1, 0, 0, 5)
	send.Dest, send.Source, send.Tag, send.Bytes, send.Comm = 2, 0, 0, 1, `"quoted\`+"\n\x7f\u2028<b>"
	wait := NewEvent(Wait, "wait", 1, 0, 1, 2)
	wait.For = 2
	bcast := NewEvent(Collective, "MPI_Bcast", 2, 0, -1500, 0)
	// In microseconds, these times have no exact floating-point value
	own := NewEvent(RMA, "MPI_Get", 2, 0, 1001, 1009)
	own.Target = 2
	flows := []Flow{{ID: math.MaxUint64, Rank: 1, Time: 3}, {ID: math.MaxUint64, End: true, Rank: 2, Thread: 4,
		Time: 7}}
	job := Job{Format: Version, Producer: "p", Command: "c <x>", Started: "2026-01-02T03:04:05Z", Ranks: 4,
		Nodes: []string{"h1", "h2"}, NodeOf: []int{0, 0, 1, 1},
		Windows: []Window{{Name: "halo", Sizes: []int64{8, 8, None, 0}, Dynamic: true}},
		Dropped: []int64{0, 5, 0, 0}, Checked: true, ExitStatus: 3,
		Conflicts: []Conflict{{What: "put and get", Window: "halo", Target: 3, From: 8, To: 16, Count: 2,
			Advice: "a fence",
			Accesses: []Access{{0, 0, "MPI_Put", "halo.c", 12, "step", "fence"}, {1, 2, "load", "", 0, "",
				"none"}}}}}
	return []Event{put, fence, send, wait, bcast, own, NewEvent(Other, "MPI_Info_create", 0, 7, 3, 4)}, flows, job
}

func written(t *testing.T) []byte {
	var out bytes.Buffer
	w := NewWriter(&out)
	events, flows, job := sample()
	w.Process(0, "rank 0", "h1")
	w.Process(3, "rank 3", "")
	w.Thread(3, 1, "main")
	for _, e := range events {
		w.Event(e)
	}
	for _, f := range flows {
		w.Flow(f)
	}
	require.NoError(t, w.Close(job))
	return out.Bytes()
}

// Checks that Read returns written events unchanged. It skips the arrows of operations, which are only for other
// programs that read the file.
func TestRoundTrip(t *testing.T) {
	file := written(t)
	k := newKept()
	sum, err := Read(bytes.NewReader(file), k)
	require.NoError(t, err)
	events, flows, job := sample()
	require.Equal(t, events, k.events)
	require.Equal(t, map[string][]Flow{"0xffffffffffffffff": {
		{Rank: 1, Time: 3}, {End: true, Rank: 2, Thread: 4, Time: 7}}}, k.flows)
	require.Equal(t, flows[1].Time, k.flows["0xffffffffffffffff"][1].Time)
	require.Equal(t, map[int]string{0: "rank 0 on host h1", 3: "rank 3"}, k.processes)
	require.Equal(t, map[string]string{"3.1": "main"}, k.threads)
	require.Equal(t, Summary{Job: job, HasJob: true}, sum)
}

// Checks that the file conforms to Chrome's trace event format: an object with traceEvents, times in microseconds, and
// arrows with two ends. The arrow of an operation ends at an event in the target's process.
func TestForm(t *testing.T) {
	var file struct {
		Unit   string `json:"displayTimeUnit"`
		Events []struct {
			Ph, Name, Cat, ID, Bp string
			Pid, Tid              int
			Ts, Dur               json.Number
			Args                  map[string]any
		} `json:"traceEvents"`
		Other map[string]any `json:"otherData"`
	}
	require.NoError(t, json.Unmarshal(written(t), &file))
	require.Equal(t, "ns", file.Unit)
	at := 0
	for file.Events[at].Name != "MPI_Put" {
		at++
	}
	put := file.Events[at]
	require.Equal(t, "X rma 0 0 1234.567 0.089", fmt.Sprint(put.Ph, " ", put.Cat, " ", put.Pid, put.Tid, " ",
		put.Ts, " ",
		put.Dur))
	require.Equal(t, map[string]any{"target": 3.0, "bytes": 800.0, "win": "halo", "disp": 0.0, "span": 1592.0},
		put.Args)
	name, from, memory, to := file.Events[at+1], file.Events[at+2], file.Events[at+3], file.Events[at+4]
	require.Equal(t, "M 3 window memory", fmt.Sprint(name.Ph, " ", name.Pid, " ", name.Args["name"]))
	require.Equal(t, "s rma 0x1 0 1234.568", fmt.Sprint(from.Ph, " ", from.Cat, " ", from.ID, " ", from.Pid, " ",
		from.Ts))
	require.Equal(t, "f rma 0x1 e 3 1234.657", fmt.Sprint(to.Ph, " ", to.Cat, " ", to.ID, " ", to.Bp, " ", to.Pid,
		" ",
		to.Ts))
	require.Equal(t, from.Name, to.Name)
	arrows := 0
	for _, e := range file.Events {
		if e.Ph == "s" && e.Cat == "rma" {
			arrows++
		}
	}
	require.Equal(t, 1, arrows, "none to an operation's own rank")
	require.Equal(t, "X 3 1234.656 0.002 MPI_Put from 0", fmt.Sprint(memory.Ph, " ", memory.Pid, " ", memory.Ts,
		" ",
		memory.Dur, " ", memory.Name))
	require.Equal(t, to.Tid, memory.Tid)
	last := file.Events[len(file.Events)-1]
	require.Equal(t, "f e 0xffffffffffffffff", last.Ph+" "+last.Bp+" "+last.ID)
	require.Equal(t, 1.0, file.Other["format"])
}

// Checks that Read returns all complete events of a truncated file. A file that was truncated between lines lacks only
// its closing brackets.
func TestCut(t *testing.T) {
	file := written(t)
	events, _, _ := sample()
	seen, end := 0, bytes.LastIndex(file, []byte("\n],"))
	// Length of the file up to the first byte of the first event, inclusive
	first := bytes.IndexByte(file, '\n') + 2
	for n := first; n < len(file)-2; n++ {
		k := newKept()
		sum, err := Read(bytes.NewReader(file[:n]), k)
		require.NoError(t, err, "%s", file[:n])
		require.True(t, sum.Cut)
		require.False(t, sum.HasJob)
		require.GreaterOrEqual(t, len(k.events), seen)
		seen = len(k.events)
		require.ElementsMatch(t, events[:seen], k.events)
		if n <= end && (n == end || string(file[n:n+2]) == ",\n") {
			require.True(t, json.Valid(append(bytes.Clone(file[:n]), "]}"...)), "%s", file[:n])
		}
	}
	require.Len(t, events, seen)
	for n := range first - 1 {
		_, err := Read(bytes.NewReader(file[:n]), newKept())
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorContains(t, err, "the file is incomplete")
	}
}

func TestArray(t *testing.T) {
	const event = `{"ph":"X","pid":1,"tid":0,"ts":1e3,"dur":0.5,"name":"f"}`
	for file, cut := range map[string]bool{"[" + event + "]": false, "[" + event + ",\n": true, "[" + event: true} {
		k := newKept()
		sum, err := Read(strings.NewReader(file), k)
		require.NoError(t, err)
		require.Equal(t, []Event{NewEvent(Other, "f", 1, 0, 1_000_000, 500)}, k.events)
		require.Equal(t, cut, sum.Cut)
		require.False(t, sum.HasJob)
	}
}

// Checks that events of other programs are counted and ignored.
func TestIgnored(t *testing.T) {
	k := newKept()
	sum,
		err := Read(strings.NewReader(`{"metadata":{"a":[1,{}]},"traceEvents":[{"ph":"C","pid":"x","args":{"bytes":"y"}},
		{"ph":"i","name":3},{"ph":"B","ts":0},{"ph":"s","id":7,"cat":"a","pid":0,"tid":0,"ts":1}],"x":1}`), k)
	require.NoError(t, err)
	require.Equal(t, 3, sum.Ignored)
	require.Empty(t, k.events)
	require.Equal(t, map[string][]Flow{"7": {{Time: 1000}}}, k.flows)
}

func TestErrors(t *testing.T) {
	const x = `{"ph":"X","pid":0,"tid":0,"ts":1,"dur":1,`
	for file, want := range map[string]string{
		"":                                      "after byte 0: the file is incomplete",
		"  ":                                    "the file is incomplete",
		"hello":                                 "after byte 0: invalid character 'h'",
		`"a"`:                                   "not a trace: it begins with neither an object nor an array",
		"{}":                                    "after byte 2: not a trace: traceEvents is missing",
		`{"a":1}`:                               "traceEvents is missing",
		"[{]":                                   "event 1, after byte 1: invalid character ']'",
		"[3]":                                   "event 1, after byte 1: found a number instead of an object",
		`[{"ph":"X"}]`:                          "event 1, after byte 1: the field pid is missing",
		`[{"ph":"X","pid":-1}]`:                 "event 1, after byte 1: pid is -1, not a whole number",
		`[{"ph":"X","pid":1.5}]`:                "pid is 1.5, not a whole number",
		`[{"ph":"X","pid":"a"}]`:                `pid is "a", not a whole number`,
		`[{"ph":"X","pid":0}]`:                  "the field tid is missing",
		`[{"ph":"X","pid":0,"tid":0,"ts":"1"}]`: `ts is "1", not a number`,
		`[{"ph":"X","pid":0,"tid":0,"ts":1e300}]`:      "ts is 1e+300 microseconds; the largest time is 46116",
		`[{"ph":"X","pid":0,"tid":0,"ts":1}]`:          "the field dur is missing",
		`[{"ph":"X","pid":0,"tid":0,"ts":1,"dur":-1}]`: "dur is -1",
		"[" + x +
			`"args":{"target":"a"}}]`: "event 1, after byte 1: args.target must not be a string",
		"[" + x + `"args":{"target":2000000}}]`:                     "target is 2000000, which is out of range",
		"[" + x + `"args":{"bytes":-1}}]`:                           "bytes, span or disp is out of range",
		"[" + x + `"args":{"disp":1152921504606846976,"bytes":1}}]`: "bytes, span or disp is out of range",
		"[" + x + `"args":{"wait":-1}}]`:                            "wait is -1",
		"[" + x + `"name":"a"},` + x +
			`"name":3}]`: "event 2, after byte 53: name must not be a number",
		`[{"ph":"s","pid":0,"tid":0,"ts":1}]`:         "the field id of a flow is missing",
		`{"traceEvents":3}`:                           "traceEvents is not an array",
		`{"traceEvents":[],"otherData":3}`:            "otherData: json: cannot unmarshal number",
		`{"traceEvents":[],"otherData":{"format":2}}`: "format 2 is newer than this program, which supports 1",
		`{"traceEvents":[],"otherData":{"ranks":-2}}`: "ranks is -2; it must be from 0 to",
		`{"traceEvents":[]} x`:                        "after byte 19: invalid character 'x'",
		`{"traceEvents":[]}{}`:                        "after the end of the trace",
		`{"traceEvents":[{"ph":"X" "pid":1}]}`:        "event 1, after byte 16: invalid character '\"'",
		`[{"ph":"i"},` + "\n" +
			`{"ph":"X","pid":0,,}]`: "event 2, after byte 11: invalid character ','",
	} {
		_, err := Read(strings.NewReader(file), newKept())
		require.ErrorContains(t, err, want, file)
		var e *Error
		require.ErrorAs(t, err, &e, file)
	}
	k := newKept()
	k.refuse = errors.New("no more")
	_, err := Read(bytes.NewReader(written(t)), k)
	require.ErrorIs(t, err, k.refuse)
	require.Len(t, k.events, 1)
}

// full is a file on a full file system.
type full struct{ calls int }

func (f *full) Write([]byte) (int, error) { f.calls++; return 0, io.ErrShortWrite }

func TestWriterFails(t *testing.T) {
	f := &full{}
	w := NewWriter(f)
	for range 3 * flushAt / 50 {
		w.Event(NewEvent(Other, "MPI_Test", 0, 0, 1, 1))
	}
	require.ErrorIs(t, w.Close(Job{}), io.ErrShortWrite)
	require.Equal(t, 1, f.calls)
}

// lines is a file that checks that only whole lines are written.
type lines struct{ t *testing.T }

func (l lines) Write(b []byte) (int, error) {
	require.Contains(l.t, "}[", string(b[len(b)-1:]), "%s", b)
	return len(b), nil
}

func TestWriterWritesLines(t *testing.T) {
	w := NewWriter(lines{t})
	e := NewEvent(RMA, "MPI_Put", 0, 0, 1, 1)
	e.Target = 1
	for range flushAt / 20 {
		w.Event(e)
	}
	require.NoError(t, w.Flush())
}

func TestMicros(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 1: "0.001", 999: "0.999", 1000: "1", 1010: "1.010", -1: "-0.001",
		-1500: "-1.500", 123456789: "123456.789"} {
		require.Equal(t, want, string(micros(nil, ns)))
	}
}
