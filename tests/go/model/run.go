package model

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Launcher runs the compiled interp.c under an MPI library.
type Launcher struct {
	Interp  string   // the compiled interp.c
	Command []string // launch command; Run appends the number of ranks, Interp and a directory
	Env     []string // additional environment
	Timeout time.Duration
}

// Run executes the programs in one job. All programs must have the same number of ranks. It returns the output of each
// program that finished. The error describes a failure of the job, for example a crash in the first program without
// output.
func (l *Launcher) Run(programs []*Program) (outputs []*Output, err error) {
	dir, err := os.MkdirTemp("", "gompirma-model-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var w writer
	for _, p := range programs {
		w.program(p)
	}
	w.text.WriteString("end\n")
	if err := os.WriteFile(filepath.Join(dir, "program.txt"), w.text.Bytes(), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "program.bin"), w.data.Bytes(), 0o600); err != nil {
		return nil, err
	}
	n := programs[0].N
	ctx, cancel := context.WithTimeout(context.Background(), l.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.Command[0], append(l.Command[1:len(l.Command):len(l.Command)],
		strconv.Itoa(n), l.Interp, dir)...)
	cmd.Env = append(os.Environ(), l.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("the job exceeded its time limit of %v\n%s", l.Timeout, text.String())
	case err != nil:
		err = fmt.Errorf("%w\n%s", err, text.String())
	}
	files := make([]*bytes.Reader, n)
	for r := range files {
		b, rerr := os.ReadFile(filepath.Join(dir, fmt.Sprintf("out.%d", r)))
		if rerr != nil && err == nil {
			err = rerr
		}
		files[r] = bytes.NewReader(b)
	}
	for _, p := range programs {
		out, rerr := read(p, files)
		if rerr != nil {
			if err == nil {
				err = fmt.Errorf("program of seed %d: %w", p.Seed, rerr)
			}
			break
		}
		outputs = append(outputs, out)
	}
	return outputs, err
}

// read reads the output of p from the files of all ranks.
func read(p *Program, files []*bytes.Reader) (*Output, error) {
	out := &Output{}
	for _, ph := range p.Phases {
		memory, results := make([][]byte, p.N), make([][]byte, p.N)
		for r := range p.N {
			file := files[p.Windows[ph.Win].Order[r]]
			m, n := p.outputs(ph, r)
			memory[r], results[r] = make([]byte, m), make([]byte, n)
			if _, err := io.ReadFull(file, memory[r]); err != nil {
				return nil, fmt.Errorf("rank %d of the window: %w", r, err)
			}
			if _, err := io.ReadFull(file, results[r]); err != nil {
				return nil, fmt.Errorf("rank %d of the window: %w", r, err)
			}
		}
		out.Memory, out.Results = append(out.Memory, memory), append(out.Results, results)
	}
	for r, file := range files {
		var seed uint64
		if err := binary.Read(file, binary.LittleEndian, &seed); err != nil || seed != p.Seed {
			return nil, fmt.Errorf("the output of rank %d has the wrong length", r)
		}
	}
	return out, nil
}

// Try runs one program. It returns an error if the job fails or the output is not permitted.
func (l *Launcher) Try(p *Program) error {
	outputs, err := l.Run([]*Program{p})
	if len(outputs) == 1 {
		if failure, _ := Check(p, outputs[0]); failure != nil {
			return failure
		}
	}
	return err
}

// Only returns a copy of the program with all its synchronization, in which only the calls with the given numbers
// remain.
func (p *Program) Only(ids map[int]bool) *Program {
	q := *p
	q.Phases = nil
	for _, ph := range p.Phases {
		n := &Phase{Win: ph.Win, Sync: ph.Sync, Ranks: make([][]*Action, len(ph.Ranks))}
		for r, actions := range ph.Ranks {
			for _, a := range actions {
				if a.ID == 0 || ids[a.ID] {
					n.Ranks[r] = append(n.Ranks[r], a)
				}
			}
		}
		q.Phases = append(q.Phases, n)
	}
	return &q
}

// Calls returns the numbers of the program's calls.
func (p *Program) Calls() []int {
	var ids []int
	for _, ph := range p.Phases {
		for _, actions := range ph.Ranks {
			for _, a := range actions {
				if a.ID != 0 {
					ids = append(ids, a.ID)
				}
			}
		}
	}
	return ids
}

// Shrink searches, until the time `end`, for a small subset of p's calls with which the program still fails. The
// function `fails` reports if a program fails. Every subset of a correct program's calls is a correct program.
func Shrink(p *Program, fails func(*Program) bool, end time.Time) (*Program, []int) {
	keep := p.Calls()
	set := func(ids []int) map[int]bool {
		m := map[int]bool{}
		for _, id := range ids {
			m[id] = true
		}
		return m
	}
	for chunk := (len(keep) + 1) / 2; chunk > 0 && time.Now().Before(end); {
		shrunk := false
		for at := 0; at < len(keep) && time.Now().Before(end); {
			rest := append(append([]int{}, keep[:at]...), keep[min(len(keep), at+chunk):]...)
			if fails(p.Only(set(rest))) {
				keep, shrunk = rest, true
			} else {
				at += chunk
			}
		}
		if chunk == 1 && !shrunk {
			break
		}
		if !shrunk || chunk > len(keep) {
			chunk = max(1, chunk/2)
		}
	}
	small := p.Only(set(keep))
	// Remove phases without calls, which only synchronize, from the end.
	for i := len(small.Phases) - 1; i >= 0 && time.Now().Before(end); i-- {
		q := *small
		q.Phases = append(append([]*Phase{}, small.Phases[:i]...), small.Phases[i+1:]...)
		calls := false
		for _, actions := range small.Phases[i].Ranks {
			for _, a := range actions {
				calls = calls || a.ID != 0
			}
		}
		if !calls && fails(&q) {
			small = &q
		}
	}
	return small, keep
}

// Numbers formats a list of numbers as 3,5,8.
func Numbers(ids []int) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(id)
	}
	return strings.Join(words, ",")
}
