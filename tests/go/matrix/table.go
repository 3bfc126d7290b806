package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// cell is a position in the matrix.
type cell struct{ kind, sync, op, typ string }

// table holds the output of the programs: the four axes in order, the value of each cell (ok, FAIL or the letter of a
// reason), and the reasons for cells without a result.
type table struct {
	kinds, syncs, ops, types []string
	cells                    map[cell]string
	reasons                  []reason
	notes                    []string
}

type reason struct{ letter, text string }

func newTable() *table { return &table{cells: map[cell]string{}} }

// addKind adds a window kind, which gets its own table, if it is not in t.kinds.
func (t *table) addKind(kind string) { add(&t.kinds, kind) }

func add(axis *[]string, name string) {
	if !slices.Contains(*axis, name) {
		*axis = append(*axis, name)
	}
}

// read parses the output of a program: lines that begin with axis, reason, note or cell. It ignores all other lines.
func (t *table) read(r io.Reader) error {
	for s := bufio.NewScanner(r); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) == 0 {
			continue
		}
		switch {
		case words[0] == "axis" && len(words) == 3:
			axis := map[string]*[]string{"op": &t.ops, "type": &t.types, "sync": &t.syncs,
				"kind": &t.kinds}[words[1]]
			if axis == nil {
				return fmt.Errorf("there is no axis %q: %s", words[1], s.Text())
			}
			add(axis, words[2])
		case words[0] == "reason" && len(words) > 2:
			t.reasons = append(t.reasons, reason{words[1], strings.Join(words[2:], " ")})
		case words[0] == "note" && len(words) > 1:
			add(&t.notes, strings.Join(words[1:], " "))
		case words[0] == "cell" && len(words) == 6:
			t.cells[cell{words[1], words[2], words[3], words[4]}] = words[5]
		case slices.Contains([]string{"axis", "reason", "note", "cell"}, words[0]):
			return fmt.Errorf("invalid line: %s", s.Text())
		}
	}
	return nil
}

// missing is the value of a cell without a result, and of a cell whose letter stands for no known reason.
const missing = "?"

func (t *table) show(c cell) string {
	said := t.cells[c]
	if said == "ok" || said == "FAIL" ||
		slices.ContainsFunc(t.reasons, func(r reason) bool { return r.letter == said }) {
		return said
	}
	return missing
}

// counts holds the number of cells by outcome. `reasoned` counts cells that have a reason instead of a result. `holes`
// counts cells that have neither a reason nor a result. `strange` counts cells that are not on the axes.
type counts struct{ ok, failed, reasoned, holes, strange int }

func (c counts) good() bool {
	return c.ok > 0 && c.failed == 0 && c.holes == 0 && c.strange == 0
}

func (c counts) String() string {
	s := fmt.Sprintf("%d cells: %d ok, %d failed, %d left out for a reason, %d holes without one", c.ok+c.failed+
		c.reasoned+c.holes, c.ok, c.failed,
		c.reasoned, c.holes)
	if c.strange > 0 {
		s += fmt.Sprintf("; %d cells that are on no axis", c.strange)
	}
	return s
}

func (t *table) each(f func(c cell)) {
	for _, k := range t.kinds {
		for _, o := range t.ops {
			for _, y := range t.types {
				for _, s := range t.syncs {
					f(cell{k, s, o, y})
				}
			}
		}
	}
}

func (t *table) count() counts {
	var n counts
	known := 0
	t.each(func(c cell) {
		if _, there := t.cells[c]; there {
			known++
		}
		switch t.show(c) {
		case "ok":
			n.ok++
		case "FAIL":
			n.failed++
		case missing:
			n.holes++
		default:
			n.reasoned++
		}
	})
	n.strange = len(t.cells) - known
	return n
}

// print writes a table for each window kind, and then the reasons. The rows are pairs of operation and datatype class;
// the columns are the synchronizations.
func (t *table) print(w io.Writer) {
	opWidth, typeWidth := longest(t.ops), longest(t.types)
	for _, k := range t.kinds {
		fmt.Fprintf(w, "%-*s", opWidth+typeWidth+3, "window: "+k)
		for _, s := range t.syncs {
			fmt.Fprintf(w, " %-*s", max(len(s), 4), s)
		}
		fmt.Fprintln(w)
		for _, o := range t.ops {
			label := o
			for _, y := range t.types {
				line := fmt.Sprintf("%-*s  %-*s ", opWidth, label, typeWidth, y)
				for _, s := range t.syncs {
					line += fmt.Sprintf(" %-*s", max(len(s), 4), t.show(cell{k, s, o, y}))
				}
				fmt.Fprintln(w, strings.TrimRight(line, " "))
				label = ""
			}
		}
		fmt.Fprintln(w)
	}
	for _, note := range t.notes {
		fmt.Fprintln(w, note)
	}
	for _, r := range t.reasons {
		fmt.Fprintf(w, "%s  %s\n", r.letter, r.text)
	}
	fmt.Fprintf(w, "%s  a hole: nobody said why\n", missing)
}

func longest(names []string) int {
	n := 0
	for _, name := range names {
		n = max(n, len(name))
	}
	return n
}
