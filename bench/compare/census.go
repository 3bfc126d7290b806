package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gompirma/bench/census"
)

// censusMeasurements returns the rows of the census: their times and, for gompirma, instructions and calls of Go.
func censusMeasurements() (all []measurement) {
	for _, kind := range []string{"census", "count", "calls"} {
		for _, r := range census.Rows() {
			m := measurement{name: kind + "." + r.Name, label: r.Label, part: kind, program: "census",
				row: r.Name, ranks: r.Ranks, batch: true, needs: r.Needs}
			switch kind {
			case "count":
				m.count, m.own, m.most = true, true, 1
				if !r.Alone {
					continue
				}
			case "calls":
				m.args, m.env = []string{"--calls"}, []string{"GOMPIRMA_SHOW_GO=1"}
				m.own, m.most = true, 1
			}
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b measurement) int { // all rows of a launch have the same number of ranks
		return cmp.Or(strings.Compare(a.part, b.part), cmp.Compare(a.ranks, b.ranks))
	})
	return all
}

// ratio returns the ratio of the better peer's time to gompirma's, from the given number of first launches of both. It
// returns 0 if one of them has no time.
func (all *report) ratio(row string, launches int) float64 {
	times, name := map[string][]outcome{}, "census."+row
	for l, o := range all.results[name] {
		times[l] = o[:min(len(o), launches)]
	}
	peer := bestName(measurement{name: name}, all.Libraries, results{name: times})
	if peer == "" || median(times["gompirma"]).failure != "" {
		return 0
	}
	return pairedRatio(times[peer], times["gompirma"])
}

// notBelow reports whether m is not a row's time for which a peer is faster.
func (all *report) notBelow(m measurement) bool {
	row, ok := strings.CutPrefix(m.name, "census.")
	ratio := all.ratio(row, math.MaxInt)
	return !ok || ratio == 0 || ratio >= 1
}

// inGo reports whether m counts instructions that the Go runtime executes: their number depends on its threads.
func (all *report) inGo(m measurement) bool {
	return m.count && median(all.results["calls."+m.row]["gompirma"]).value > 0
}

var functionName = regexp.MustCompile(`\b(MPI_\w+)\s*\(`)

// census determines which functions the library's mpi.h declares, and writes the rows of these.
func (l *library) census(work string) error {
	cmd := exec.Command(l.cc, "-E", "-dD", "-x", "c", "-")
	cmd.Stdin = strings.NewReader("#include <mpi.h>\n")
	header, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	l.has = map[string]bool{}
	for _, m := range functionName.FindAllSubmatch(header, -1) {
		l.has[string(m[1])] = true
	}
	return writeRows(l.folder(work), func(function string) bool { return l.has[function] })
}

func writeRows(folder string, there func(function string) bool) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, "census_rows.h"))
	if err != nil {
		return err
	}
	if err := census.Write(f, there); err != nil {
		return err
	}
	return f.Close()
}

// line is a line of the document.
type line struct {
	census.Row
	mine, calls outcome // mine: time; calls: number of calls of Go
	ratio       float64 // ratio of the better peer to gompirma; 0: no peer
	first       float64 // ratio before rows were measured again
}

// census prints the document: an introduction, and a line for each measured row. Rows are ordered by the ratio to the
// better peer, worst first; rows without a peer come last.
func (all *report) census(out io.Writer) {
	var lines []line
	for _, r := range census.Rows() {
		times := all.results["census."+r.Name]
		if times == nil {
			continue
		}
		l := line{Row: r, mine: median(times["gompirma"]), ratio: all.ratio(r.Name, math.MaxInt),
			first: all.ratio(r.Name, all.Runs),
			calls: median(all.results["calls."+r.Name]["gompirma"])}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		if a.ratio == 0 || b.ratio == 0 {
			return cmp.Compare(b.ratio, a.ratio)
		}
		return cmp.Compare(a.ratio, b.ratio)
	})
	fmt.Fprint(out, all.facts(lines), all.crossing(lines), unmeasured())
	heading(out, "Rows", slices.Concat([]string{"row", "ranks", "ratio"}, all.Libraries,
		[]string{"instructions", "Go", "reason"}))
	for _, l := range lines {
		cells := []string{l.Label, fmt.Sprint(l.Ranks), ""}
		if l.Alone && l.Ranks > 1 {
			cells[1] = "1 of 2"
		}
		if l.ratio > 0 {
			cells[2] = fmt.Sprintf("%.2f", l.ratio)
		}
		for _, name := range all.Libraries {
			cells = append(cells, show(median(all.results["census."+l.Name][name]), "ns"))
		}
		calls := ""
		if l.calls.failure != "" || l.calls.value > 0 {
			calls = cmp.Or(l.calls.failure, fmt.Sprintf("%.3g", l.calls.value))
		}
		count := show(median(all.results["count."+l.Name]["gompirma"]), "instructions")
		fmt.Fprintf(out, "| %s |\n", strings.Join(append(cells, count, calls, l.Reason), " | "))
	}
}

// facts returns the introduction of the document with a summary of its results.
func (all *report) facts(lines []line) string {
	functions, compared, below, reasons, first, went := map[string]bool{}, 0, 0, 0, 0, 0
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, l := range lines {
		for _, f := range l.Covers {
			functions[f] = true
		}
		count(&compared, l.ratio > 0)
		count(&below, l.ratio > 0 && l.ratio < 1)
		count(&reasons, l.ratio > 0 && l.ratio < 1 && l.Reason != "")
		count(&first, l.first > 0 && l.first < 1)
		count(&went, l.calls.value > 0)
	}
	return fmt.Sprintf(`# Census

What every function of MPI that is implemented costs, beside Debian's MPICH 4.0.2 and Open MPI 4.1.4. "make census"
(bench/compare -census) measures it and writes this; bench/census/rows.txt says what each row calls, and with what.

A row is the time of all its calls, once: median of %d launches with each library alternately, of up to nine loops each.
One rank calls, or one of two while the other waits in a barrier (1 of 2), or both do. The ratio is that of the better
peer to gompirma in the same turn, the median of all turns; rows below 1.0 are measured as often again, and all turns
count. Times are those of one machine. A peer without one of the functions has "-". Instructions are those of gompirma's
calls and of the loop (bench/icount.c), where one rank calls and no Go; "more" are 6,000 or so. Go is how often a row
calls Go.

To measure again only what is below can only make the rows below fewer; so the number before that is told, too, and it
is the one to compare with other censuses. Rows move by a tenth between censuses, those of two ranks by more.

%d rows cover %d functions. A peer has %d of the rows; %d of those are below 1.0, %d of them with a reason.
%d were below before they were measured again.
%d rows call Go.
`, all.Runs, len(lines), len(functions), compared, below, reasons, first, went)
}

// unmeasured returns a text that lists the functions without a row.
func unmeasured() string {
	by := map[string][]string{}
	for name, reason := range census.Unmeasured() {
		by[reason] = append(by[reason], name)
	}
	var s strings.Builder
	fmt.Fprint(&s, "\nNot measured:\n\n")
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[reason])
		fmt.Fprintf(&s, "- %s: %s\n", strings.Join(by[reason], ", "), reason)
	}
	return s.String()
}

// An exported function that does nothing, and a program that prints the time of one call for each of several loops.
const (
	emptyGo = "package main\n\nimport \"C\"\n\n//export empty\nfunc empty() {}\n\nfunc main() {}\n"
	callerC = `#include <stdio.h>
#include <time.h>
void empty(void);
int main(void) {
	enum { LOOPS = 9, CALLS = 100000 };
	for (int i = 0; i <= LOOPS; i++) {
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int k = 0; k < CALLS; k++)
			empty();
		clock_gettime(CLOCK_MONOTONIC, &b);
		if (i > 0)
			printf("empty %f\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / CALLS);
	}
}
`
)

// crossing returns a text about the cost of a call from C into Go: of an empty one, and of the fastest row that has
// one.
func (all *report) crossing(lines []line) string {
	quickest := line{mine: outcome{value: math.Inf(1)}}
	for _, l := range lines {
		if l.calls.value == 1 && l.mine.failure == "" && l.mine.value < quickest.mine.value {
			quickest = l
		}
	}
	return fmt.Sprintf("\nA call from C of an exported Go function that is empty, in a library of its own, takes "+
		"%.0f ns; the quickest\nrow with one such call takes %.0f ns (%s).\n", all.Empty, quickest.mine.value,
		quickest.Label)
}

// emptyCallCost measures a call of an exported Go function that does nothing.
func emptyCallCost(work string) (float64, error) {
	folder := filepath.Join(work, "empty")
	err := os.Mkdir(folder, 0o755)
	for name, text := range map[string]string{"empty.go": emptyGo, "caller.c": callerC} {
		err = cmp.Or(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	var said []byte
	for _, command := range []string{"go build -buildmode=c-shared -o libempty.so empty.go",
		"gcc -O2 -o caller caller.c ./libempty.so", "./caller"} {
		if err == nil {
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir = folder
			said, err = cmd.Output()
		}
	}
	if err != nil {
		return 0, err
	}
	var took []outcome
	for _, f := range strings.Split(strings.TrimSpace(string(said)), "\n") {
		took = append(took, parse(f)["empty"])
	}
	return median(took).value, nil
}
