// Package suite reads the programs of tests/c/check: what a checker must find in each of them, and where.
// tests/c/check/README.md describes the format. The package does not depend on how a checker is built or run.
package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kinds lists the kinds of findings, with the keys that each finding of the kind must have besides lines.
var Kinds = map[string][]string{
	"race":       {"window", "target", "needs"},
	"buffer":     {"rank", "needs"},
	"epoch":      {"window"},
	"leak":       {"object"},
	"freed":      {"object"},
	"signature":  nil,
	"collective": {"argument"},
	"assertion":  {"name", "window", "needs"},
	"hint":       {"name"},
	"memory":     {"window"},
	"buffering":  nil,
}

// optional lists the keys that a finding of any kind may have.
var optional = []string{"lines", "needs", "rank", "target"}

// Program is one source file.
type Program struct {
	Path  string // path from which it was loaded
	Name  string // file name without directory and extension: lock_put_put_race
	Pair  string // beginning of the name, shared with the counterpart
	Ranks int    // number of ranks
	// Reference says how another MPI, which does not check, runs the program: "mpich", or "none (why)".
	Reference string
	Hangs     bool      // it may hang without a checker
	Findings  []Finding // empty: the program is clean
	// Needs says what a checker must see to know that a clean program is clean: Calls, or Accesses as well.
	Needs Needs
}

// Needs is what a checker must see of a program.
type Needs string

// Calls: what the library sees of any program. Accesses: what is visible only if the program is recompiled.
const (
	Calls    Needs = "calls"
	Accesses Needs = "accesses"
)

// Finding is an error that a checker must report once. A report of the same lines for further ranks or bytes counts as
// the same finding.
type Finding struct {
	Kind    string
	Needs   Needs
	Marks   []string // names that mark the lines
	Lines   []int    // of both accesses, in any order; of one, if the other is not in the program's source
	Windows []string // names; any of them is correct
	Targets []int    // any of them is correct; empty: not reported
	Rank    int      // owner of the memory or object; -1: any
	Object  string   // of leak and freed: datatype, communicator, group, info, op, window, request; message
	Name    string   // of an assertion or hint
	// Argument is the argument that differs between members of a collective call: root, op, length, name.
	Argument string
}

var (
	headLine = regexp.MustCompile(`^(?: \*|!) (np|ref|plain|find): *(.*)$`)
	// reference matches a reason why no other MPI serves as reference.
	reference = regexp.MustCompile(`^none \(.+\)$`)

	mark   = regexp.MustCompile(`(?:/\* @(\w+) \*/|! @(\w+)$)`)
	ending = regexp.MustCompile(`^(\w+)_(race|error|clean)$`)
)

// Load reads all programs of a directory, in the order of their names.
func Load(folder string) ([]*Program, error) {
	var all []*Program
	for _, end := range []string{".c", ".cc", ".f90"} {
		paths, err := filepath.Glob(filepath.Join(folder, "*"+end))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			p, err := Parse(path, string(text))
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *Program) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// Parse parses one program. The error names the file.
func Parse(path, text string) (*Program, error) {
	base := filepath.Base(path)
	p := &Program{Path: path, Name: strings.TrimSuffix(base, filepath.Ext(base)), Needs: Calls}
	if err := p.parse(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func (p *Program) parse(text string) error {
	end := ending.FindStringSubmatch(p.Name)
	if end == nil {
		return errors.New("the name must end in _race, _error or _clean")
	}
	p.Pair = end[1]
	lines := strings.Split(text, "\n")
	marks, err := marksOf(lines)
	if err != nil {
		return err
	}
	var finds []string
	for _, line := range lines {
		if !strings.HasPrefix(line, "/*") && !strings.HasPrefix(line, " *") && !strings.HasPrefix(line, "!") {
			break
		}
		m := headLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch m[1] {
		case "np":
			if p.Ranks, err = strconv.Atoi(m[2]); err != nil {
				return err
			}
		case "ref":
			p.Reference = m[2]
		case "plain":
			if p.Hangs = m[2] == "may hang"; !p.Hangs {
				return fmt.Errorf("plain: %s", m[2])
			}
		case "find":
			finds = append(finds, m[2])
		}
	}
	if p.Ranks < 2 || p.Ranks > 4 {
		return fmt.Errorf("np: %d must be 2, 3 or 4", p.Ranks)
	}
	if p.Reference != "mpich" && !reference.MatchString(p.Reference) {
		return fmt.Errorf("ref: %q", p.Reference)
	}
	if len(finds) == 0 {
		return errors.New("no line find:")
	}
	if err := p.findings(finds, marks); err != nil {
		return err
	}
	return p.agrees(end[2], marks)
}

// marksOf returns the line number of each mark.
func marksOf(lines []string) (map[string]int, error) {
	marks := map[string]int{}
	for i, line := range lines {
		m := mark.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[1] + m[2]
		if marks[name] != 0 {
			return nil, fmt.Errorf("two lines are marked @%s", name)
		}
		marks[name] = i + 1
	}
	return marks, nil
}

func (p *Program) findings(finds []string, marks map[string]int) error {
	for _, line := range finds {
		words := strings.Fields(line)
		if words[0] == "nothing" {
			if len(finds) > 1 {
				return errors.New("find: nothing, and something")
			}
			if len(words) == 2 && words[1] == "needs=accesses" {
				p.Needs = Accesses
			} else if len(words) > 1 {
				return fmt.Errorf("find: %s", line)
			}
			return nil
		}
		f, err := p.finding(words, marks)
		if err != nil {
			return fmt.Errorf("find: %s: %w", line, err)
		}
		p.Findings = append(p.Findings, *f)
	}
	return nil
}

func (p *Program) finding(words []string, marks map[string]int) (*Finding, error) {
	f := &Finding{Kind: words[0], Needs: Calls, Rank: -1}
	must, ok := Kinds[f.Kind]
	if !ok {
		return nil, errors.New("no such kind")
	}
	seen := []string{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if value == "" || !slices.Contains(must, key) && !slices.Contains(optional, key) {
			return nil, fmt.Errorf("%q does not belong there", word)
		}
		seen = append(seen, key)
		if err := f.set(key, value, p.Ranks, marks); err != nil {
			return nil, err
		}
	}
	for _, key := range append([]string{"lines"}, must...) {
		if !slices.Contains(seen, key) {
			return nil, fmt.Errorf("%s= is missing", key)
		}
	}
	return f, nil
}

// set parses one word key=value of a finding.
func (f *Finding) set(key, value string, ranks int, marks map[string]int) error {
	list := strings.Split(value, ",")
	switch key {
	case "lines":
		for _, name := range list {
			if marks[name] == 0 {
				return fmt.Errorf("no line is marked @%s", name)
			}
			f.Lines = append(f.Lines, marks[name])
		}
		if f.Marks = list; len(list) > 2 {
			return errors.New("more than two lines")
		}
	case "target", "rank":
		for _, word := range list {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n >= ranks {
				return fmt.Errorf("%s=%s with %d ranks", key, word, ranks)
			}
			if key == "rank" {
				f.Rank = n
			} else {
				f.Targets = append(f.Targets, n)
			}
		}
	case "needs":
		if f.Needs = Needs(value); f.Needs != Calls && f.Needs != Accesses {
			return fmt.Errorf("needs=%s", value)
		}
	case "window":
		f.Windows = list
	case "object":
		f.Object = value
	case "name":
		f.Name = value
	case "argument":
		f.Argument = value
	}
	return nil
}

// agrees returns an error if the suffix of the program's name contradicts its findings, or if no finding uses a mark.
func (p *Program) agrees(end string, marks map[string]int) error {
	is := "clean"
	if len(p.Findings) > 0 {
		is = "error"
		if k := p.Findings[0].Kind; k == "race" || k == "buffer" {
			is = "race"
		}
	}
	if is != end {
		return fmt.Errorf("the name says %s, the findings %s", end, is)
	}
	for name := range marks {
		if !slices.ContainsFunc(p.Findings, func(f Finding) bool { return slices.Contains(f.Marks, name) }) {
			return fmt.Errorf("no finding has the line that is marked @%s", name)
		}
	}
	return nil
}
