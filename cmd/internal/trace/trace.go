// Package trace is the form of the file that gompirun --trace writes and gompirun report reads: Chrome's trace event
// format in JSON, which Perfetto and chrome://tracing open as well. docs/INSIGHT.md describes it. The package owns the
// types of what is in such a file, a writer of it, and a reader that goes through it once. It knows neither where the
// events come from nor what anybody makes of them.
package trace

// Version is the format's; it changes when a reader of the old one would be wrong about the new one.
const Version = 1

// Kind says what a call does.
type Kind uint8

// The kinds of calls. Wait is not one: it is a time within a call in which a thread waited.
const (
	Other      Kind = iota
	RMA             // MPI_Put and the others that access a window's memory
	Sync            // of windows: fence, start, complete, post, wait, lock, unlock, flush, sync; creation and free
	Message         // point to point; MPI_Wait and MPI_Test of such requests, probes
	Collective      // of communicators
	Wait
	Kinds // how many there are
)

var kinds = [Kinds]string{"other", "rma", "sync", "message", "collective", "wait"}

// String is the word for a kind in a file ("cat").
func (k Kind) String() string { return kinds[k] }

// kindOf returns the kind for a word; Other if there is none.
func kindOf(word string) Kind {
	for k, w := range kinds {
		if w == word {
			return Kind(k)
		}
	}
	return Other
}

// None is a rank, tag or offset that does not apply or is not known.
const None = -1

// Event is a call of a thread, or a time within one in which it waited. All ranks are those in MPI_COMM_WORLD, times
// are ns since the job's start, by one clock for all ranks. NewEvent makes one in which nothing else is known.
type Event struct {
	Name   string // of the call: MPI_Put
	Kind   Kind
	Rank   int
	Thread int // from 0
	Start  int64
	Dur    int64

	Target int    // of an operation on a window's memory, and of MPI_Win_lock and others that have one
	Dest   int    // to whom Bytes are sent
	Source int    // from whom a message came
	Tag    int    // of the message
	Bytes  int64  // data of the operation, message or collective at this rank; 0: none or not known
	Comm   string // name or number
	Window string // unique in the file: see Window.Name
	Disp   int64  // where the operation's data begin in the target's memory of the window, in bytes
	Span   int64  // from there to where they end, in bytes; 0: as many as Bytes
	Waited int64  // how much of Dur the thread waited, in ns, unless events of kind Wait say so
	For    int    // the rank that was waited for
}

// NewEvent returns an event of which no more is known than this.
func NewEvent(kind Kind, name string, rank, thread int, start, dur int64) Event {
	return Event{Name: name, Kind: kind, Rank: rank, Thread: thread, Start: start, Dur: dur, Target: None,
		Dest: None, Source: None, Tag: None, Disp: None, For: None}
}

// Flow is one end of an arrow; the other end has the same number.
type Flow struct {
	ID     uint64
	End    bool // it is where the arrow ends
	Rank   int
	Thread int
	Time   int64 // ns; within the call at this end, later than it begins and before it ends
}

// Window is what is known of a window.
type Window struct {
	Name    string  `json:"name"`    // as MPI_Win_set_name has it, if no other has it; else with a number
	Sizes   []int64 `json:"sizes"`   // in bytes, by rank in MPI_COMM_WORLD; None: not in its group
	Dynamic bool    `json:"dynamic"` // offsets are addresses in the target, and Sizes say nothing
}

// Conflict is one report of --check.
type Conflict struct {
	What     string   `json:"what"` // in a few words
	Window   string   `json:"window"`
	Target   int      `json:"target"`
	From     int64    `json:"from"` // the bytes From to To-1 of the target's memory
	To       int64    `json:"to"`
	Count    int64    `json:"count"` // how often it was seen; 0 is as 1
	Accesses []Access `json:"accesses"`
	Advice   string   `json:"advice"` // what would have ordered them
}

// Access is one side of a conflict.
type Access struct {
	Rank     int    `json:"rank"`
	Thread   int    `json:"thread"`
	Call     string `json:"call"` // MPI_Put; "load" and "store" of the program itself
	File     string `json:"file"` // "": not known, as Line 0 is
	Line     int    `json:"line"`
	Function string `json:"function"`
	Epoch    string `json:"epoch"` // what the epoch was
}

// Job is what a file says of the run as a whole: otherData.
type Job struct {
	Format     int        `json:"format"`   // Version
	Producer   string     `json:"producer"` // "gompirma 1.2.3"
	Command    string     `json:"command"`
	Started    string     `json:"started"` // date and time, RFC 3339
	Ranks      int        `json:"ranks"`
	Nodes      []string   `json:"nodes"`   // names of hosts, by node
	NodeOf     []int      `json:"node_of"` // by rank
	Windows    []Window   `json:"windows"`
	Dropped    []int64    `json:"dropped"`   // calls that had no room, by rank
	Checked    bool       `json:"checked"`   // with --check
	Conflicts  []Conflict `json:"conflicts"` // the worst first
	ExitStatus int        `json:"exit_status"`
}
