package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"gompirma/core/insight"
	"gompirma/core/shm"
)

// This file finds the source locations of the calls in which ranks wait. It unwinds the stack of each waiting thread
// from gompirun's process, so the ranks' calls need not record their locations.

// Bounds of a report. They limit the time to read files with debug information, which may be large.
const (
	maxTracedRanks   = 64 // maximum number of ranks whose stacks are read
	maxFrames        = 64
	maxProgramFrames = 8 // frames of the program that are reported
)

// callSites finds the source locations of calls. It caches the data that it has read from files.
type callSites struct {
	lines  insight.Locator
	frames map[string]*frameInfo
}

// objects returns the files that a process has mapped as executable, with the load bias of each.
func (s *callSites) objects(proc string, pid int) (all []insight.Object) {
	for _, m := range memoryOf(fmt.Sprintf("%s/%d/maps", proc, pid)) {
		if bias, ok := biasOf(&m); ok {
			all = append(all, insight.Object{Low: m.low, High: m.high, Bias: bias, Name: m.name})
		}
	}
	return all
}

func biasOf(m *memoryRange) (bias uint64, ok bool) {
	if !m.executable || !strings.HasPrefix(m.name, "/") {
		return 0, false
	}
	e, err := elf.Open(m.name)
	if err != nil {
		return 0, false
	}
	defer e.Close()
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && m.offset >= p.Off&^0xfff &&
			m.offset < p.Off+p.Filesz {
			return m.low - m.offset + p.Off - p.Vaddr, true
		}
	}
	return 0, false
}

// isLibraryObject reports whether an object belongs to this library and not to the program.
func isLibraryObject(name string) bool { return strings.HasPrefix(filepath.Base(name), "libgompirma") }

// isSystemObject reports whether an object belongs to the C library or the loader, which run before and after main.
func isSystemObject(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, "libc.so") || strings.HasPrefix(base, "libpthread.so") ||
		strings.HasPrefix(base, "ld-linux")
}

// callStack returns the source locations of the program's functions on the stack of a thread that sleeps in MPI,
// beginning with the function that called MPI. If the thread has entered Go, `crossing` is the address of the stack
// frame of this entry; otherwise it is 0. The frames of Go cannot be unwound, so callStack skips them and continues at
// `crossing`.
func (s *callSites) callStack(proc string, pid, thread int, crossing uint64) (places []string) {
	text, err := os.ReadFile(fmt.Sprintf("%s/%d/task/%d/syscall", proc, pid, thread))
	if err != nil {
		return nil
	}
	words := strings.Fields(string(text))
	call, pc, ok := parseCall(string(text))
	if !ok || call.number != unix.SYS_FUTEX {
		return nil // the thread does not wait on a futex
	}
	var regs registers
	var sp uint64
	if _, err := fmt.Sscanf(words[7], "0x%x", &sp); err != nil {
		return nil
	}
	regs.set(regSP, sp)
	regs.set(regRA, pc)
	word := func(at uint64) (uint64, bool) { return readWord(pid, at) }
	objects := s.objects(proc, pid)
	inside := true // all frames so far belong to gompirma's or the system's libraries
	for range maxFrames {
		pc := regs.value[regRA]
		i := slices.IndexFunc(objects, func(o insight.Object) bool { return pc >= o.Low && pc < o.High })
		if i < 0 {
			break
		}
		o := objects[i]
		inside = inside && (isLibraryObject(o.Name) || isSystemObject(o.Name))
		if !inside && !isLibraryObject(o.Name) {
			if isSystemObject(o.Name) || len(places) == maxProgramFrames {
				break
			}
			places = append(places, s.place(objects, pc))
			if s.lines.Function(objects, pc) == "main" {
				break
			}
		}
		entry := s.framesOf(o.Name).at(pc - o.Bias - 1)
		next, ok := registers{}, false
		if entry != nil {
			next, ok = entry.caller(pc-o.Bias-1, &regs, word)
		}
		if !ok && inside && crossing != 0 {
			next, ok = callerOfGo(crossing, word)
			crossing = 0
		}
		if !ok || next.value[regSP] <= regs.value[regSP] {
			break
		}
		regs = next
	}
	return places
}

// callerOfGo returns the registers of the function that called Go. It reads them from the frame with which the thread
// entered Go. That frame has a frame pointer.
func callerOfGo(frame uint64, word func(uint64) (uint64, bool)) (regs registers, ok bool) {
	bp, first := word(frame)
	ra, second := word(frame + 8)
	regs.set(regBP, bp)
	regs.set(regRA, ra)
	regs.set(regSP, frame+16)
	return regs, first && second
}

func (s *callSites) framesOf(name string) *frameInfo {
	f := s.frames[name]
	if f == nil {
		if s.frames == nil {
			s.frames = map[string]*frameInfo{}
		}
		f = readFrames(name)
		s.frames[name] = f
	}
	return f
}

// place returns the source location of a call as text.
func (s *callSites) place(objects []insight.Object, pc uint64) string {
	p := s.lines.Location(objects, pc)
	text := p.String()
	if name := s.lines.Function(objects, pc); name != "" && p.Line > 0 {
		text += " in " + name
	}
	return text
}

// traces returns a line for each waiting thread of each rank, with the source locations of its calls.
func (j *job) traces(p snapshot) map[int][]string {
	all := map[int][]string{}
	for r := range p {
		if len(all) == maxTracedRanks {
			break
		}
		if p[r].text != "" {
			continue
		}
		node := j.nodeOf(r)
		pid := node.memory.Pid(r - node.first)
		for i := range p[r].waits {
			w := &p[r].waits[i]
			if places := j.sites.callStack("/proc", pid, w.Thread, w.Crossing); len(places) > 0 {
				all[r] = append(all[r], traceLine(w, places))
			}
		}
	}
	return all
}

func traceLine(w *shm.Waiting, places []string) string {
	return printable(w.Call) + " was called at " + strings.Join(places, ", from ")
}
