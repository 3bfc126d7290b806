// Package model generates random RMA programs, runs them under an MPI library, and compares their results with a
// sequential model.
//
// A program is a list of actions for every rank: synchronization, communication, loads and stores. The generator
// (generate.go) makes only programs that the standard permits. At any time, a memory location is used by one origin
// only, or is only read, or is only accumulated into. The interpreter (interp.c) uses only mpi.h. It executes a
// program, and writes memory and result buffers to a file after each phase. The checker (check.go) applies the same
// actions to its model in order. If several origins accumulate into one element, the checker searches for an order of
// their operations that gives every result. That is, the history of each element must be linearizable, with the
// operations of one origin in program order (MPI-5.0 12.7.2).
package model

import (
	"bytes"
	"fmt"
	"strings"
)

// Program is a random program for N ranks.
type Program struct {
	Seed    uint64
	N       int
	Fresh   bool // each call creates its datatypes, and frees them when it has returned
	Windows []*Window
	Phases  []*Phase
}

// Window is one window, of which all ranks are members.
type Window struct {
	Kind    string   // create, allocate, shared, dynamic
	Info    []string // key=value
	Held    bool     // true if the window stays in one MPI_Win_lock_all epoch
	Order   []int    // rank in MPI_COMM_WORLD of each member, in the order of ranks in the window
	Members []*Member
}

// Member is the part of a window that belongs to one rank.
type Member struct {
	Unit    int
	Skew    int // distance of the base from an aligned address, for memory that the program allocates
	Regions []Region
	Init    []byte // initial bytes of all regions, concatenated
	zones   []zone
}

// Region is a range of a member's memory: the whole window, or one of the ranges attached to a dynamic window.
type Region struct {
	Memory      string // malloc, static, alloc (MPI_Alloc_mem); "" if MPI allocates the window's memory
	Start, Size int    // Start: offset in Member.Init
}

// zone is a range of a region. Accumulates in it use only the type `basic` or, if `basic` is nil, any type for which
// typed() is false.
type zone struct {
	region, start, size int // start: offset in the region
	basic               *Basic
	small               bool // the values are few and small, so that compare-and-swap often succeeds
}

// Phase is a part of a program that uses one window. At its end, the operations of all ranks are complete at all ranks.
// Ranks holds the actions, indexed by the rank in that window.
type Phase struct {
	Win   int
	Sync  string
	Ranks [][]*Action
}

// Action is one action of a rank. For synchronization, ID is 0 and only Verb and Args are used.
type Action struct {
	ID   int
	Verb string
	Args []int

	Form int // bit mask of formRequest, formCount and formBottom
	// number of consecutive calls: they use the same origin buffer, but each has its own result buffer
	Times        int
	Op           Op
	Target       int // rank in the window, or procNull
	Region, Disp int // Region: index in the target's Regions; Disp: from the region's start, in displacement units
	At           int // the same location as an offset in bytes from the start of the target's memory
	Origin       *Buffer
	Compare      *Buffer
	Result       *Buffer
	OCount       int
	RCount       int
	TCount       int
	OType        *Type
	RType        *Type
	TType        *Type
}

const procNull = -1

// Flags for the form of a communication call.
const (
	formRequest = 1 << iota // MPI_Rput etc.
	formCount               // the large-count function (_c)
	formBottom              // the origin or result buffer is MPI_BOTTOM with a type of absolute addresses
)

// Buffer is an origin, compare or result buffer. The call gets the address at offset Pos in the buffer, because types
// may have data below that address.
type Buffer struct {
	Size, Pos int
	Data      []byte // nil for a result buffer, which is filled with resultFill
}

const resultFill = 0xa5

// Verbs of communication, loads and stores, as interp.c reads them.
const (
	verbPut           = "put"
	verbGet           = "get"
	verbAccumulate    = "accumulate"
	verbGetAccumulate = "get_accumulate"
	verbFetch         = "fetch_and_op"
	verbSwap          = "compare_and_swap"
	verbStore         = "store" // a plain store to Target's memory, by its address
	verbLoad          = "load"
	verbIncrement     = "increment" // under an exclusive lock: get, flush, add, put, flush
)

// accumulates reports whether a is an accumulate, fetch-and-op or compare-and-swap.
func (a *Action) accumulates() bool {
	switch a.Verb {
	case verbAccumulate, verbGetAccumulate, verbFetch, verbSwap:
		return true
	}
	return false
}

func (a *Action) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", a.Verb)
	if a.ID == 0 {
		for _, x := range a.Args {
			fmt.Fprintf(&b, " %d", x)
		}
		return b.String()
	}
	if a.Op != "" {
		fmt.Fprintf(&b, " %s", a.Op)
	}
	fmt.Fprintf(&b, " #%d target %d byte %d: %d x %v", a.ID, a.Target, a.At, a.TCount, a.TType)
	if a.Origin != nil {
		fmt.Fprintf(&b, "; origin %d x %v", a.OCount, a.OType)
	}
	if a.Result != nil {
		fmt.Fprintf(&b, "; result %d x %v", a.RCount, a.RType)
	}
	if a.Times > 1 {
		fmt.Fprintf(&b, "; %d times", a.Times)
	}
	for i, name := range []string{"request", "_c", "MPI_BOTTOM"} {
		if a.Form>>i&1 != 0 {
			fmt.Fprintf(&b, "; %s", name)
		}
	}
	return b.String()
}

// String returns a listing of the program for readers.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program of seed %d, %d ranks\n", p.Seed, p.N)
	for i, w := range p.Windows {
		fmt.Fprintf(&b, "window %d: %s, ranks in order %v", i, w.Kind, w.Order)
		for _, info := range w.Info {
			b.WriteString(", " + info)
		}
		if w.Held {
			b.WriteString(", in one lock_all epoch")
		}
		b.WriteByte('\n')
		for r, m := range w.Members {
			fmt.Fprintf(&b, "  rank %d: unit %d, skew %d", r, m.Unit, m.Skew)
			for _, g := range m.Regions {
				fmt.Fprintf(&b, ", %d bytes %s", g.Size, g.Memory)
			}
			for _, z := range m.zones {
				if z.basic != nil {
					fmt.Fprintf(&b, "; %s at %d to %d", z.basic.Name, z.start, z.start+z.size)
				}
			}
			b.WriteByte('\n')
		}
	}
	for i, ph := range p.Phases {
		fmt.Fprintf(&b, "phase %d: window %d, %s\n", i, ph.Win, ph.Sync)
		for r, actions := range ph.Ranks {
			for _, a := range actions {
				fmt.Fprintf(&b, "  rank %d: %v\n", r, a)
			}
		}
	}
	return b.String()
}

// writer writes a program in the form that interp.c reads: a text file of words, and a second file with the data of
// buffers.
type writer struct {
	text, data bytes.Buffer
	types      []*Type
	known      map[*Type]int
}

func (w *writer) bytes(b []byte) int {
	off := w.data.Len()
	w.data.Write(b)
	return off
}

// add writes the definition of t, after the types from which t is constructed.
func (w *writer) add(t *Type) {
	if t == nil || t.Basic != nil {
		return
	}
	if _, ok := w.known[t]; ok {
		return
	}
	for _, k := range t.kids {
		w.add(k)
	}
	w.known[t] = len(w.types)
	w.types = append(w.types, t)
}

func (w *writer) name(t *Type) string {
	if t.Basic != nil {
		return t.Basic.Name
	}
	return fmt.Sprintf("#%d", w.known[t])
}

func (w *writer) ints(xs []int) {
	for _, x := range xs {
		fmt.Fprintf(&w.text, " %d", x)
	}
}

func (w *writer) program(p *Program) {
	w.types, w.known = nil, map[*Type]int{}
	fmt.Fprintf(&w.text, "program %d %d %d\n", p.Seed, truth(p.Fresh), len(p.Windows))
	for _, win := range p.Windows {
		fmt.Fprintf(&w.text, "window %s %d %d %s", win.Kind, truth(win.Held), len(win.Info),
			strings.Join(win.Info, " "))
		w.ints(win.Order)
		w.text.WriteByte('\n')
		for _, m := range win.Members {
			fmt.Fprintf(&w.text, "member %d %d %d %d", m.Unit, m.Skew, w.bytes(m.Init), len(m.Regions))
			for _, g := range m.Regions {
				memory := g.Memory
				if memory == "" {
					memory = "-"
				}
				fmt.Fprintf(&w.text, " %s %d", memory, g.Size)
			}
			w.text.WriteByte('\n')
		}
	}
	for _, ph := range p.Phases {
		for _, actions := range ph.Ranks {
			for _, a := range actions {
				w.add(a.OType)
				w.add(a.RType)
				w.add(a.TType)
			}
		}
	}
	fmt.Fprintf(&w.text, "types %d\n", len(w.types))
	for _, t := range w.types {
		w.text.WriteString(t.ctor)
		w.ints(t.args)
		for _, k := range t.kids {
			w.text.WriteString(" " + w.name(k))
		}
		w.text.WriteByte('\n')
	}
	for world := range p.N {
		fmt.Fprintf(&w.text, "rank %d\n", world)
		for _, ph := range p.Phases {
			fmt.Fprintf(&w.text, "phase %d\n", ph.Win)
			for r, actions := range ph.Ranks {
				if p.Windows[ph.Win].Order[r] == world {
					for _, a := range actions {
						w.action(a)
					}
				}
			}
			w.text.WriteString("endphase\n")
		}
		w.text.WriteString("endrank\n")
	}
}

func (w *writer) action(a *Action) {
	w.text.WriteString(a.Verb)
	if a.ID == 0 {
		w.ints(a.Args)
		w.text.WriteByte('\n')
		return
	}
	buffer := func(b *Buffer) {
		switch {
		case b == nil:
			w.text.WriteString(" -1 0 0")
		case b.Data == nil:
			fmt.Fprintf(&w.text, " -1 %d %d", b.Size, b.Pos)
		default:
			fmt.Fprintf(&w.text, " %d %d %d", w.bytes(b.Data), b.Size, b.Pos)
		}
	}
	side := func(count int, t *Type) {
		if t == nil {
			w.text.WriteString(" 0 -")
			return
		}
		fmt.Fprintf(&w.text, " %d %s", count, w.name(t))
	}
	op := string(a.Op)
	if op == "" || a.Op == opSwap {
		op = "-"
	}
	fmt.Fprintf(&w.text, " %d %d %d %s %d %d %d", a.ID, a.Form, a.Times, op, a.Target, a.Region, a.Disp)
	buffer(a.Origin)
	side(a.OCount, a.OType)
	buffer(a.Compare)
	buffer(a.Result)
	side(a.RCount, a.RType)
	side(a.TCount, a.TType)
	w.text.WriteByte('\n')
}

// outputs returns the number of bytes of memory and of results that rank r of the phase's window writes after the
// phase.
func (p *Program) outputs(ph *Phase, r int) (memory, results int) {
	memory = len(p.Windows[ph.Win].Members[r].Init)
	for _, a := range ph.Ranks[r] {
		if a.Result != nil {
			results += a.Times * a.Result.Size
		}
	}
	return memory, results
}
