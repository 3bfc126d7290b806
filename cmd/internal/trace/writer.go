package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// memoryThread is the thread number that represents a rank's window memory in a file. The arrow of an operation ends at
// an event of this thread, since Perfetto draws arrows only between two events.
const memoryThread = 1 << 30

// catMemory is the category of the events of memoryThread. Each of these events repeats the event at the origin of the
// operation.
const catMemory = "memory"

// flushAt is the number of buffered bytes at which the writer writes the buffer to the file.
const flushAt = 1 << 16

// Writer writes a file while the job runs. Events may arrive in any order. It writes each event as one line, and only
// whole lines, so that the beginning of an unfinished file can be read. Only one goroutine at a time may use it.
type Writer struct {
	out    io.Writer
	buf    []byte
	first  bool
	err    error
	arrows uint64       // number of arrows written for operations
	named  map[int]bool // ranks for which the name of memoryThread has been written
}

// NewWriter returns a writer that starts a file.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out, first: true, named: map[int]bool{}}
	w.buf = append(w.buf, `{"displayTimeUnit":"ns","traceEvents":[`...)
	return w
}

// Process writes the name of a rank, such as "rank 2", with its host.
func (w *Writer) Process(rank int, name, host string) {
	if host != "" {
		name += " on host " + host
	}
	w.metadata(rank, 0, "process_name", "name", quoted(name))
	w.metadata(rank, 0, "process_sort_index", "sort_index", strconv.Itoa(rank))
}

// Thread writes the name of a thread.
func (w *Writer) Thread(rank, thread int, name string) {
	w.metadata(rank, thread, "thread_name", "name", quoted(name))
}

func (w *Writer) metadata(pid, tid int, what, key, value string) {
	w.begin()
	w.buf = fmt.Appendf(w.buf, `{"ph":"M","pid":%d,"tid":%d,"name":%q,"args":{%q:%s}}`, pid, tid, what, key, value)
	w.end()
}

// Event writes a call, and the arrow of an operation on another rank's memory.
func (w *Writer) Event(e Event) {
	w.begin()
	w.head("X", e.Rank, e.Thread, e.Start)
	w.buf = append(w.buf, `,"dur":`...)
	w.buf = micros(w.buf, e.Dur)
	w.buf = append(w.buf, `,"cat":"`...)
	w.buf = append(w.buf, e.Kind.String()...)
	w.buf = append(w.buf, `","name":`...)
	w.buf = append(w.buf, quoted(e.Name)...)
	args := len(w.buf)
	w.number("target", int64(e.Target), e.Target >= 0)
	w.number("dest", int64(e.Dest), e.Dest >= 0)
	w.number("source", int64(e.Source), e.Source >= 0)
	w.number("tag", int64(e.Tag), e.Tag >= 0)
	w.number("bytes", e.Bytes, e.Bytes > 0)
	w.text("comm", e.Comm)
	w.text("win", e.Window)
	w.number("disp", e.Disp, e.Disp >= 0)
	w.number("span", e.Span, e.Span > 0 && e.Span != e.Bytes)
	if e.Waited > 0 {
		w.buf = append(w.buf, `,"wait":`...)
		w.buf = micros(w.buf, e.Waited)
	}
	w.number("for", int64(e.For), e.For >= 0)
	if len(w.buf) > args {
		// Replaces the comma before the first argument by `,"args":{`.
		w.buf = append(w.buf, "         "...)
		copy(w.buf[args+9:], w.buf[args:len(w.buf)-9])
		copy(w.buf[args:], `,"args":{`)
		w.buf = append(w.buf[:args+9], w.buf[args+10:]...)
		w.buf = append(w.buf, '}')
	}
	w.buf = append(w.buf, '}')
	w.end()
	if e.Kind == RMA && e.Target >= 0 && e.Target != e.Rank {
		w.arrow(&e)
	}
}

// arrow writes the arrow from an operation to the target's memory. Each end gets a time just after the begin of its
// event. Viewers sort by time, and would place an end at the same time before the event.
func (w *Writer) arrow(e *Event) {
	if !w.named[e.Target] {
		w.named[e.Target] = true
		w.Thread(e.Target, memoryThread, "window memory")
	}
	w.arrows++
	end := e.Start + e.Dur
	w.flow(RMA, w.arrows, false, e.Rank, e.Thread, e.Start+min(1, e.Dur/2))
	w.begin()
	w.head("X", e.Target, memoryThread, end)
	w.buf = append(w.buf, `,"dur":0.002,"cat":"`+catMemory+`","name":`...)
	w.buf = append(w.buf, quoted(e.Name+" from "+strconv.Itoa(e.Rank))...)
	w.buf = append(w.buf, '}')
	w.end()
	w.flow(RMA, w.arrows, true, e.Target, memoryThread, end+1)
}

// Flow writes one end of the arrow of a message between two calls.
func (w *Writer) Flow(f Flow) { w.flow(Message, f.ID, f.End, f.Rank, f.Thread, f.Time) }

// flow writes an end of an arrow. Viewers connect ends with equal name, cat and id. Perfetto requires the id to be a
// hexadecimal number.
func (w *Writer) flow(kind Kind, id uint64, end bool, rank, thread int, time int64) {
	ph, bound := "s", ""
	if end {
		ph, bound = "f", `,"bp":"e"`
	}
	w.begin()
	w.head(ph, rank, thread, time)
	w.buf = fmt.Appendf(w.buf, `,"cat":"%v","name":"%v","id":"0x%x"%s}`, kind, kind, id, bound)
	w.end()
}

// Flush writes the buffer to the file. It returns the first error of the file.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.buf) > 0 {
		_, w.err = w.out.Write(w.buf)
	}
	w.buf = w.buf[:0]
	return w.err
}

// Close ends the file with the description of the job. It does not close the underlying file.
func (w *Writer) Close(job Job) error {
	job.Format = Version
	other, err := json.Marshal(job)
	if err != nil {
		return err
	}
	w.buf = append(w.buf, "\n],\"otherData\":"...)
	w.buf = append(append(w.buf, other...), "}\n"...)
	return w.Flush()
}

// begin starts a line. The separating comma is at the beginning of a line, so that a file that is truncated between
// lines does not end with a comma.
func (w *Writer) begin() {
	if !w.first {
		w.buf = append(w.buf, ',')
	}
	w.first = false
	w.buf = append(w.buf, '\n')
}

func (w *Writer) end() {
	if len(w.buf) >= flushAt {
		_ = w.Flush() // Close returns the error
	}
}

func (w *Writer) head(ph string, rank, thread int, time int64) {
	w.buf = append(append(append(w.buf, `{"ph":"`...), ph...), `","pid":`...)
	w.buf = strconv.AppendInt(w.buf, int64(rank), 10)
	w.buf = strconv.AppendInt(append(w.buf, `,"tid":`...), int64(thread), 10)
	w.buf = micros(append(w.buf, `,"ts":`...), time)
}

func (w *Writer) number(key string, n int64, known bool) {
	if known {
		w.buf = append(append(append(w.buf, `,"`...), key...), `":`...)
		w.buf = strconv.AppendInt(w.buf, n, 10)
	}
}

func (w *Writer) text(key, s string) {
	if s != "" {
		w.buf = append(append(append(w.buf, `,"`...), key...), `":`...)
		w.buf = append(w.buf, quoted(s)...)
	}
}

// micros appends a time in microseconds, without loss of nanoseconds.
func micros(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	b = strconv.AppendInt(b, ns/1000, 10)
	if ns %= 1000; ns > 0 {
		b = append(b, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
	}
	return b
}

// quoted returns a string in JSON. Most strings are names without characters to escape.
func quoted(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == 0x7f || c >= utf8.RuneSelf {
			b, _ := json.Marshal(s) // cannot fail for a string
			return string(b)
		}
	}
	return `"` + s + `"`
}
