package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/cmd/internal/trace"
)

// read writes events to a file and reads them back.
func read(t *testing.T, job trace.Job, flows []trace.Flow, events ...trace.Event) *traceData {
	t.Helper()
	var file bytes.Buffer
	w := trace.NewWriter(&file)
	for _, e := range events {
		w.Event(e)
	}
	for _, f := range flows {
		w.Flow(f)
	}
	require.NoError(t, w.Close(job))
	g := newGathered()
	sum, err := trace.Read(&file, g)
	require.NoError(t, err)
	g.finish(sum)
	return g
}

func call(kind trace.Kind, name string, rank int, start, dur int64, set func(e *trace.Event)) trace.Event {
	e := trace.NewEvent(kind, name, rank, 0, start, dur)
	if set != nil {
		set(&e)
	}
	return e
}

func TestMatrices(t *testing.T) {
	to := func(target int, bytes int64) func(e *trace.Event) {
		return func(e *trace.Event) { e.Target, e.Bytes = target, bytes }
	}
	g := read(t, trace.Job{}, nil,
		call(trace.RMA, "MPI_Put", 2, 0, 1, to(0, 100)),
		call(trace.RMA, "MPI_Get", 0, 0, 1, to(2, 7)),
		call(trace.RMA, "MPI_Put", 2, 5, 1, to(0, 1)),
		call(trace.RMA, "MPI_Put", 1, 5, 1, to(1, 3)),                   // the origin is the target
		call(trace.RMA, "MPI_Put", 1, 6, 1, nil),                        // unknown target
		call(trace.Sync, "MPI_Win_lock", 1, 0, 1, to(0, 0)),             // no operation on window memory
		call(trace.Collective, "MPI_Bcast", 1, 8, 1, to(trace.None, 5)), // not a message
		call(trace.Message, "MPI_Send", 0, 9, 1, func(e *trace.Event) { e.Dest, e.Bytes = 1, 50 }),
		call(trace.Message, "MPI_Recv", 1, 9, 1, func(e *trace.Event) { e.Source, e.Bytes = 0, 50 }),
		call(trace.Message, "MPI_Sendrecv", 0, 19, 1, func(e *trace.Event) {
			e.Dest, e.Source, e.Bytes = 1, 1, 8
		}),
		call(trace.Message, "MPI_Wait", 0, 29, 1, nil))
	oneSided, messages := g.matrices()
	require.Equal(t, pairs{[]int{0, 1, 2}, []int{2, 1, 0}, []int64{1, 1, 2}, []int64{7, 3, 101}}, oneSided)
	require.Equal(t, pairs{[]int{0}, []int{1}, []int64{2}, []int64{58}}, messages)
	require.Equal(t, 3, g.facts("x").Ranks)
}

func TestTimes(t *testing.T) {
	wait := func(rank int, start, dur int64, on int) trace.Event {
		return call(trace.Wait, "wait", rank, start, dur, func(e *trace.Event) { e.For = on })
	}
	g := read(t, trace.Job{}, nil,
		// Two waits in a fence are events of their own, and one of them begins at the same time as the fence.
		// The wait in the receive has no event, only the field Waited.
		wait(1, 160, 20, 0),
		wait(1, 100, 30, 2),
		call(trace.Sync, "MPI_Win_fence", 1, 100, 100, nil),
		call(trace.Message, "MPI_Recv", 1, 300, 10, func(e *trace.Event) {
			e.Waited, e.For, e.Bytes = 10, 0, 8
		}),
		call(trace.Message, "MPI_Recv", 1, 360, 50, func(e *trace.Event) {
			e.Waited, e.For, e.Bytes = 40, 0, 8
		}),
		// Adds three special cases: a call within another call, a wait outside of any call, and a wait that
		// ends after its call because the trace is faulty.
		call(trace.Collective, "MPI_Reduce", 0, 0, 100, nil),
		call(trace.Other, "MPI_Type_size", 0, 10, 30, nil),
		wait(0, 400, 5, trace.None),
		call(trace.Sync, "MPI_Win_lock", 0, 500, 10, nil),
		wait(0, 505, 20, 1),
		// Calls of duration 0 at the same time.
		call(trace.Other, "MPI_Test", 2, 1000, 0, nil), call(trace.Other, "MPI_Test", 2, 1000, 0, nil))
	f := g.facts("x")
	require.EqualValues(t, 0, f.Start)
	require.EqualValues(t, 1000, f.End)
	lanes := map[int][]int64{}
	for _, l := range f.Lanes {
		lanes[l.Rank] = l.Time
	}
	require.Equal(t, map[int][]int64{ // other, rma, sync, message, collective, wait
		0: {30, 0, 5, 0, 70, 25},
		1: {0, 0, 50, 10, 0, 100},
		2: {0, 0, 0, 0, 0, 0}}, lanes)
	require.Equal(t, []callFacts{
		{"MPI_Reduce", int(trace.Collective), 1, 0, 100, 100, 0},
		{"MPI_Win_fence", int(trace.Sync), 1, 0, 100, 100, 50},
		{"MPI_Recv", int(trace.Message), 2, 16, 60, 50, 50},
		{"MPI_Type_size", int(trace.Other), 1, 0, 30, 30, 0},
		{"MPI_Win_lock", int(trace.Sync), 1, 0, 10, 10, 20},
		{"MPI_Test", int(trace.Other), 2, 0, 0, 0, 0}}, f.Calls)
	require.Equal(t, []waitFacts{
		{1, "MPI_Recv", 0, 2, 50, 40, 1, 360},
		{1, "MPI_Win_fence", 2, 1, 30, 30, 1, 100},
		{0, "MPI_Win_lock", 1, 1, 20, 20, 0, 505},
		{1, "MPI_Win_fence", 0, 1, 20, 20, 1, 160},
		{0, "wait", trace.None, 1, 5, 5, 0, 400}}, f.Waits)
	require.EqualValues(t, 125, f.WaitTime)
	require.Equal(t, pairs{[]int{0, 0, 1, 1}, []int{-1, 1, 0, 2}, []int64{1, 1, 3, 1}, []int64{5, 20, 70, 30}},
		f.WaitPairs)
	require.Equal(t, []string{"Rank 1 waited 5 % of the run in MPI_Recv for rank 0.",
		"Rank 1 waited 5 % of the run in MPI_Win_fence, 60 % of this time for rank 2.",
		"Rank 0 waited 2 % of the run in MPI_Win_lock for rank 1.",
		"Rank 2 was outside of MPI for 100 % of the run; the average of all ranks is 90.3 %."}, f.Words)
}

func TestWordsOfManyRanks(t *testing.T) {
	var events []trace.Event
	for rank := range 4 {
		events = append(events, call(trace.Sync, "MPI_Win_fence", rank, int64(900-100*rank),
			int64(100+100*rank),
			func(e *trace.Event) { e.Waited, e.For = int64(100*rank), 0 }))
	}
	events = append(events, call(trace.Other, "MPI_Init", 3, 0, 0, nil))
	require.Equal(t, []string{"3 ranks waited on average 20 % of the run in MPI_Win_fence for rank 0.",
		"Rank 0 was outside of MPI for 90 % of the run; the average of all ranks is 75 %."},
		read(t, trace.Job{}, nil, events...).facts("x").Words)
	require.Empty(t, read(t, trace.Job{}, nil).facts("x").Words)
}

// TestHeat reads accesses to two windows. The memory of window "a" has 4096 bytes per rank, which the heat map divides
// into 256 ranges of 16 bytes.
func TestHeat(t *testing.T) {
	access := func(name, window string, target int, disp, bytes, span int64) trace.Event {
		return call(trace.RMA, name, 0, 0, 1, func(e *trace.Event) {
			e.Target, e.Window, e.Disp, e.Bytes, e.Span = target, window, disp, bytes, span
		})
	}
	g := read(t, trace.Job{Ranks: 4, Windows: []trace.Window{{Name: "a", Sizes: []int64{4096, 4096, trace.None, 0}},
		{Name: "unused", Sizes: []int64{1}}, {Name: "dynamic", Dynamic: true, Sizes: []int64{0, 0, 0, 0}}}},
		nil,
		access("MPI_Put", "a", 1, 0, 16, 0),
		access("MPI_Rput", "a", 1, 8, 16, 0),                     // half in the next range
		access("MPI_Get", "a", 0, 4080, 16, 0),                   // the last range
		access("MPI_Fetch_and_op", "a", 1, 15, 2, 0),             // a byte in each of two ranges
		access("MPI_Put", "a", 0, 0, 7, 48),                      // 7 bytes over 3 ranges
		access("MPI_Compare_and_swap", "a", 0, trace.None, 8, 0), // unknown offset
		access("MPI_Get", "dynamic", 3, 0x7f0000001040, 64, 0),
		access("MPI_Put", "dynamic", 3, 0x7f0000001480, 0, 0), // no bytes, but an offset
		access("MPI_Put", "dynamic", 1, 0x10007, 1, 0),
		access("MPI_Put", "", 2, 5, 1, 0)) // an unknown window
	f := g.facts("x")
	windows := map[string]windowFacts{}
	for _, w := range f.Windows {
		windows[w.Name] = w
	}
	require.Len(t, windows, 4)
	a := windows["a"]
	require.Equal(t, "0 16 256 1", fmt.Sprint(a.From, a.Range, a.Ranges, a.Unplaced))
	require.Equal(t, []int64{3, 1, 2}, a.Number)
	require.Equal(t, []int64{39, 16, 10}, a.Bytes)
	require.Equal(t, heat{
		Target: []int{0, 0, 0, 0, 1, 1, 1, 1},
		Range:  []int{0, 1, 2, 255, 0, 0, 1, 1},
		Access: []int{0, 0, 0, 1, 0, 2, 0, 2},
		Count:  []int64{1, 1, 1, 1, 2, 1, 1, 1},
		Bytes:  []int64{2, 2, 3, 16, 24, 1, 8, 1}}, a.Heat)
	require.Equal(t, []int64{4096, 4096, trace.None, 0}, a.Sizes)
	require.Empty(t, windows["unused"].Heat.Count)
	require.Zero(t, windows["unused"].Ranges)
	d := windows["dynamic"]
	require.Equal(t, []string{"0x0", "0x10000", "0x0", "0x7f0000001040"}, d.Base)
	require.Equal(t, "0 8 137", fmt.Sprint(d.From, d.Range, d.Ranges))
	require.Equal(t, heat{
		Target: []int{1, 3, 3, 3, 3, 3, 3, 3, 3, 3},
		Range:  []int{0, 0, 1, 2, 3, 4, 5, 6, 7, 136},
		Access: []int{0, 1, 1, 1, 1, 1, 1, 1, 1, 0},
		Count:  []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		Bytes:  []int64{1, 8, 8, 8, 8, 8, 8, 8, 8, 0}}, d.Heat)
	require.Equal(t, "5 1 1", fmt.Sprint(windows[""].From, windows[""].Range, windows[""].Ranges))
}

// Checks that the number of ranges does not exceed maxRanges even if window and access are very large. Also checks that
// the bytes of the ranges add up to the bytes of the access.
func TestHeatManyRanges(t *testing.T) {
	big := call(trace.RMA, "MPI_Put", 0, 0, 1, func(e *trace.Event) {
		e.Target, e.Disp, e.Bytes, e.Span = 0, 3, 1<<59+12345, 1<<60-3
	})
	w := read(t, trace.Job{}, nil, big).facts("x").Windows[0]
	require.LessOrEqual(t, w.Ranges, maxRanges)
	require.Greater(t, w.Ranges, maxRanges/2)
	sum := int64(0)
	for _, b := range w.Heat.Bytes {
		sum += b
	}
	require.Equal(t, big.Bytes, sum)
}

func TestMulDiv(t *testing.T) {
	for _, c := range [][4]int64{{0, 0, 1, 0}, {10, 1, 3, 3}, {10, 2, 3, 6}, {10, 3, 3, 10},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64}} {
		require.Equal(t, c[3], mulDiv(c[0], c[1], c[2]))
	}
}

// unpacked decodes columns: the values of each column by the column's name.
func unpacked(t *testing.T, packed []byte, columns []column) map[string][]int64 {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	all, err := io.ReadAll(z)
	require.NoError(t, err)
	out := map[string][]int64{}
	for _, c := range columns {
		last := int64(0)
		for b := all[:c.Size]; len(b) > 0; {
			u, n := binary.Uvarint(b)
			b = b[n:]
			v := int64(u)
			if c.Delta {
				v = last + int64(u>>1)
				if u&1 == 1 {
					v = last - int64(u>>1) - 1
				}
				last = v
			}
			out[c.Name] = append(out[c.Name], v)
		}
		all = all[c.Size:]
	}
	require.Empty(t, all)
	return out
}

// Checks that the page has events sorted by rank and thread, then by time, and that arrows refer to the rows of their
// calls.
func TestColumns(t *testing.T) {
	second := trace.NewEvent(trace.Other, "MPI_Test", 1, 4, 50, 1)
	g := read(t, trace.Job{Ranks: 3}, []trace.Flow{{ID: 1, End: true, Rank: 1, Thread: 4, Time: 51}, {ID: 1,
		Rank: 0, Time: -3},
		{ID: 2, Rank: 0, Time: 9}}, second,
		call(trace.RMA, "MPI_Put", 1, 100, 7, func(e *trace.Event) {
			e.Target, e.Bytes, e.Window, e.Disp, e.Span = 0, 5, "w", 0, 20
		}),
		call(trace.Message, "MPI_Send", 0, -3, 300, func(e *trace.Event) {
			e.Dest, e.Tag, e.Comm, e.Waited,
				e.For = 1, 0, "c", 9, 2
		}))
	c, err := g.columns()
	require.NoError(t, err)
	require.Equal(t, map[string][]int64{"start": {0, 103, 53}, "dur": {300, 7, 1}, "name": {2, 1, 0}, "waited": {9,
		0, 0},
		"target": {0, 1, 0}, "dest": {2, 0, 0}, "source": {0, 0, 0}, "tag": {1, 0, 0}, "for": {3, 0, 0},
		"bytes": {0, 5, 0},
		"comm":  {1, 0, 0}, "window": {0, 1, 0}, "disp": {0, 1, 0}, "span": {0, 20, 0},
		"from": {0}, "to": {54}, "fromLane": {0}, "toLane": {2}}, unpacked(t, c.packed, append(c.Events,
		c.Arrows...)))
	f := g.facts("x")
	require.Equal(t, 1, f.Arrows)
	require.Equal(t, 1, f.HalfArrows)
	rows := ""
	for _, l := range f.Lanes {
		rows += fmt.Sprint(l.Rank, ".", l.Thread, " ", l.Events, "; ")
	}
	require.Equal(t, "0.0 1; 1.0 1; 1.4 1; 2.0 0; ", rows)
}

// Checks that a rank has a row if the file contains only an end of one of its arrows, or only the name of one of its
// threads. All lower ranks have rows too.
func TestRanksWithoutEvents(t *testing.T) {
	g := newGathered()
	g.Flow("1", trace.Flow{Rank: 2})
	g.Flow("1", trace.Flow{Rank: 1, End: true, Time: 4})
	g.Thread(3, 1, "t")
	g.finish(trace.Summary{})
	f := g.facts("x")
	require.Equal(t, 4, f.Ranks)
	require.Len(t, f.Lanes, 4)
	require.Equal(t, []arrow{{arrowEnd{2, true, 0}, arrowEnd{1, true, 4}}}, g.arrows)
}

// Checks lists that are too long for a page: they are truncated, and the page shows the number of omitted entries.
func TestMuch(t *testing.T) {
	job := trace.Job{Conflicts: make([]trace.Conflict, maxConflicts+5), Dropped: []int64{0, 3, 4}}
	var events []trace.Event
	for i := range maxWaits + 7 {
		events = append(events, call(trace.Sync, fmt.Sprint("f", i), 0, int64(10*i), 5,
			func(e *trace.Event) { e.Waited = 1 }))
	}
	f := read(t, job, nil, events...).facts("x")
	require.Len(t, f.Conflicts, maxConflicts)
	require.Equal(t, 5, f.ConflictsLeft)
	require.Len(t, f.Waits, maxWaits)
	require.Equal(t, 7, f.WaitsLeft)
	require.EqualValues(t, maxWaits+7, f.WaitTime)
	require.Equal(t, "7 2", fmt.Sprint(f.Dropped, f.DroppedBy))
}

// TestPage checks that the page is complete and needs no other files. It also checks that no text of a trace is
// interpreted as HTML or JavaScript.
func TestPage(t *testing.T) {
	evil := `</script><script>alert(1)</script><!-- {{scripts}}`
	g := read(t, trace.Job{Command: evil}, nil, call(trace.RMA, evil, 0, 0, 1,
		func(e *trace.Event) { e.Window = evil }))
	var out bytes.Buffer
	require.NoError(t, g.page(&out, "x.json"))
	page := out.String()
	require.NotContains(t, page, "{{style}}")
	require.NotContains(t, page, "<script>alert")
	require.Equal(t, 5, strings.Count(page, "<script"))
	require.Equal(t, 5, strings.Count(page, "</script>"))
	require.NotRegexp(t, `(src|href)="?(https?:)?//`, page)
	embedded := regexp.MustCompile(`id="facts">(.*)</script>`).FindStringSubmatch(page)
	var f facts
	require.NoError(t, json.Unmarshal([]byte(embedded[1]), &f))
	require.Equal(t, evil, f.Command)
	require.Equal(t, evil, f.Names[0])
	columns := regexp.MustCompile(`id="columns">(.*)</script>`).FindStringSubmatch(page)
	_, err := base64.StdEncoding.DecodeString(columns[1])
	require.NoError(t, err)
	for _, name := range append(scripts, "page.css") {
		b, err := files.ReadFile("page/" + name)
		require.NoError(t, err)
		require.Contains(t, page, string(b))
	}
}

// Checks that the charts library has its licence next to it, and that the page names the library's version.
func TestLibrary(t *testing.T) {
	about, err := files.ReadFile("page/echarts/README")
	require.NoError(t, err)
	version := regexp.MustCompile(`Apache ECharts ([0-9.]+):`).FindStringSubmatch(string(about))[1]
	code, err := files.ReadFile("page/echarts/echarts.min.js")
	require.NoError(t, err)
	require.Contains(t, string(code), `="`+version+`"`)
	require.NotContains(t, string(code), "</script")
	for name, text := range map[string]string{"LICENSE": "Apache License", "NOTICE": "Apache ECharts",
		"LICENSE-d3": "Copyright"} {
		b, err := files.ReadFile("page/echarts/" + name)
		require.NoError(t, err)
		require.Contains(t, string(b), text)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "t.json"), filepath.Join(dir, "p.html")
	require.NoError(t, os.WriteFile(out, []byte("old"), 0o644))
	for text, want := range map[string]string{
		"":                          "t.json:1: after byte 0: the file is incomplete",
		"[\n{},\n{\"ph\":\"X\"}\n]": "t.json:2: event 1, after byte 2: the field ph is missing",
		"[\n{\"ph\":\"i\"},\n\n {\"ph\":\"X\"}\n]": "t.json:4: event 2, after byte 12: the field pid is " +
			"missing",
		"{\n\"a\":1}": "t.json:2: after byte 8: not a trace",
	} {
		require.NoError(t, os.WriteFile(in, []byte(text), 0o644))
		_, err := File(in, out)
		require.ErrorContains(t, err, want)
		left, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, "old", string(left))
	}
	_, err := File(filepath.Join(dir, "none"), out)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(in, []byte(`[{"ph":"X","pid":3,"tid":0,"ts":1,"dur":2,"name":"f"},`), 0o644))
	_, err = File(in, filepath.Join(dir, "none/p.html"))
	require.ErrorContains(t, err, "none/p.html: no such file")
	about, err := File(in, out)
	require.NoError(t, err)
	require.Equal(t, "1 event of 4 ranks; the trace is incomplete", about)
	page, err := os.ReadFile(out)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(page, []byte("<!DOCTYPE html>")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left behind")
}

// Checks that a failed write leaves the existing file unchanged.
func TestReplaceFails(t *testing.T) {
	out := filepath.Join(t.TempDir(), "p")
	require.NoError(t, os.WriteFile(out, []byte("old"), 0o644))
	require.ErrorIs(t, replace(out, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return io.ErrShortWrite
	}), io.ErrShortWrite)
	left, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, "old", string(left))
	entries, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
