// Package trace defines the file that gompirun --trace writes and gompirun report reads: Chrome's trace event format in
// JSON, which Perfetto and chrome://tracing open as well. docs/INSIGHT.md describes the file. The package owns the
// types of the content, a writer, and a sequential reader. It must not depend on where the events come from, or on how
// they are used.
package trace

// Version is the version of the format. It must change when a reader of the old format would misinterpret the new
// format.
const Version = 1

// Kind is the category of a call.
type Kind uint8

// The kinds of events. All except Wait are kinds of calls. Wait is the kind of an event that is an interval within a
// call in which a thread waited.
const (
	Other      Kind = iota
	RMA             // MPI_Put and other operations on a window's memory
	Sync            // on windows: fence, start, complete, post, wait, lock, unlock, flush, sync, creation, free
	Message         // point-to-point calls, including probes, MPI_Wait and MPI_Test
	Collective      // collectives on communicators
	Wait
	Kinds // number of kinds
)

var kinds = [Kinds]string{"other", "rma", "sync", "message", "collective", "wait"}

// String returns the word that stands for a kind in a file (in "cat").
func (k Kind) String() string { return kinds[k] }

// kindOf returns the kind for a word; Other if the word is unknown.
func kindOf(word string) Kind {
	for k, w := range kinds {
		if w == word {
			return Kind(k)
		}
	}
	return Other
}

// None is the value of a rank, tag or offset that does not apply or is unknown.
const None = -1

// Event is a call of a thread, or an interval within a call in which the thread waited. Ranks are ranks in
// MPI_COMM_WORLD; the ranks of jobs that ranks have started have the numbers after them. Times are ns since the start
// of the job, in one clock for all ranks. Create events with NewEvent, which sets optional fields to None.
type Event struct {
	Name   string // name of the call, such as MPI_Put
	Kind   Kind
	Rank   int
	Thread int // number of the thread within its rank, from 0
	Start  int64
	Dur    int64

	Target int    // target of an operation on a window's memory, or of MPI_Win_lock and similar calls
	Dest   int    // receiver of the message
	Source int    // sender of the message
	Tag    int    // tag of the message
	Bytes  int64  // bytes that this rank moves in the call; 0 if none or unknown
	Comm   string // name or number of the communicator; "" if none
	Window string // name of the window, unique in the file (see Window.Name); "" if none
	Disp   int64  // offset of the operation's data in the target's window memory, in bytes
	Span   int64  // extent of the data from its first to its last byte, in bytes; 0 if equal to Bytes
	Waited int64  // part of Dur in which the thread waited, in ns; 0 if events of kind Wait report the waits
	For    int    // rank for which the thread waited; None if unknown
}

// NewEvent returns an event with these values; its optional fields are None.
func NewEvent(kind Kind, name string, rank, thread int, start, dur int64) Event {
	return Event{Name: name, Kind: kind, Rank: rank, Thread: thread, Start: start, Dur: dur, Target: None,
		Dest: None, Source: None, Tag: None, Disp: None, For: None}
}

// Flow is one end of an arrow. The other end has the same ID.
type Flow struct {
	ID     uint64
	End    bool // this is the head of the arrow, not its tail
	Rank   int
	Thread int
	Time   int64 // time of this end in ns; lies within the call at this end
}

// Window describes a window.
type Window struct {
	Name    string  `json:"name"`    // name from MPI_Win_set_name; with a number appended if it is not unique
	Sizes   []int64 `json:"sizes"`   // in bytes, by rank; None if the rank is not in the group
	Dynamic bool    `json:"dynamic"` // offsets are addresses in the target, and Sizes have no meaning
}

// Conflict is one finding of --check.
type Conflict struct {
	What     string   `json:"what"` // short description
	Window   string   `json:"window"`
	Target   int      `json:"target"`
	From     int64    `json:"from"` // the bytes From to To-1 of the target's memory
	To       int64    `json:"to"`
	Count    int64    `json:"count"` // number of occurrences; 0 counts as 1
	Accesses []Access `json:"accesses"`
	Advice   string   `json:"advice"` // how the program could order the two accesses
}

// Access is one side of a conflict.
type Access struct {
	Rank     int    `json:"rank"`
	Thread   int    `json:"thread"`
	Call     string `json:"call"` // MPI_Put, for example; "load" or "store" for the program itself
	File     string `json:"file"` // "" if unknown; Line is 0 then
	Line     int    `json:"line"`
	Function string `json:"function"`
	Epoch    string `json:"epoch"` // kind of the epoch in which the access was made
}

// Job describes the run as a whole. The file has it as otherData.
type Job struct {
	Format   int    `json:"format"`   // Version
	Producer string `json:"producer"` // "gompirma 1.2.3"
	Command  string `json:"command"`
	Started  string `json:"started"` // date and time, RFC 3339
	Ranks    int    `json:"ranks"`   // of all jobs
	// The first rank of each job, if ranks have started jobs.
	Jobs       []int      `json:"jobs,omitempty"`
	Nodes      []string   `json:"nodes"`   // names of hosts, by node
	NodeOf     []int      `json:"node_of"` // number of the node of each rank
	Windows    []Window   `json:"windows"`
	Dropped    []int64    `json:"dropped"`   // number of calls whose records were dropped, by rank
	Checked    bool       `json:"checked"`   // run with --check
	Conflicts  []Conflict `json:"conflicts"` // the most severe first
	ExitStatus int        `json:"exit_status"`
}
