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
	"text/tabwriter"

	"gompirma/bench/census"
)

// censusMeasurements returns the measurements of all rows of the census: the time and, only for gompirma, the number of
// instructions and of calls from C into Go.
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

// ratio returns the ratio of a row: the time of the better of MPICH and Open MPI divided by gompirma's time. It uses at
// most the first `launches` launches of each library. It returns 0 if gompirma has no time, or if neither MPICH nor
// Open MPI has one.
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

// notBelow returns true unless m is the time of a row that is faster with MPICH or Open MPI than with gompirma. The
// measurements for which it returns false are measured again.
func (all *report) notBelow(m measurement) bool {
	row, ok := strings.CutPrefix(m.name, "census.")
	ratio := all.ratio(row, math.MaxInt)
	return !ok || ratio == 0 || ratio >= 1
}

// inGo reports whether m counts instructions of a row that calls Go. Their number varies with the Go runtime's threads.
func (all *report) inGo(m measurement) bool {
	return m.count && median(all.results["calls."+m.row]["gompirma"]).value > 0
}

var functionName = regexp.MustCompile(`\b(MPI_\w+)\s*\(`)

// census determines which functions the library's mpi.h declares, and writes the C code of the rows that need no other
// functions.
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

// line is a line of docs/census.txt.
type line struct {
	census.Row
	mine, calls outcome // gompirma's time, and its number of calls from C into Go
	ratio       float64 // time of the better of MPICH and Open MPI divided by gompirma's; 0 if neither has a time
	first       float64 // ratio of the first launches; slow rows were then measured again
}

// census prints docs/CENSUS.md, a summary, to doc. It prints docs/census.txt to out: a table for each number of calling
// ranks, with a line for each measured row. Rows are ordered by ratio, worst first; rows without a ratio come last.
func (all *report) census(doc, out io.Writer) {
	var lines []line
	for _, r := range census.Rows() {
		times := all.results["census."+r.Name]
		if times == nil {
			continue
		}
		l := line{Row: r, mine: median(times["gompirma"]), ratio: all.ratio(r.Name, math.MaxInt),
			first: all.ratio(r.Name, all.Runs),
			calls: median(all.results["calls."+r.Name]["gompirma"])}
		l.Label = strings.ReplaceAll(l.Label, "MPI_", "")
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		if a.ratio == 0 || b.ratio == 0 {
			return cmp.Compare(b.ratio, a.ratio)
		}
		return cmp.Compare(a.ratio, b.ratio)
	})
	fmt.Fprint(doc, all.facts(lines))
	for i, part := range []struct {
		name  string
		ranks int
		alone bool
	}{{"One rank", 1, true}, {"Two ranks, only rank 0 calls", 2, true}, {"Two ranks, both call", 2, false}} {
		columns := append([]string{"ratio"}, all.Libraries...)
		if part.alone {
			columns = append(columns, "instructions")
		}
		fmt.Fprintf(out, "%s%s\n\n", strings.Repeat("\n", min(i, 1)), part.name)
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(table, "  \t%s\t  row\n", strings.Join(columns, "\t"))
		for _, l := range lines {
			if l.Ranks == part.ranks && l.Alone == part.alone {
				fmt.Fprintf(table, "  \t%s\t  %s\n", strings.Join(all.cells(l)[:len(columns)], "\t"),
					l.Label)
			}
		}
		table.Flush()
	}
}

// cells returns the cells of the line.
func (all *report) cells(l line) []string {
	cells := []string{""}
	if l.ratio > 0 {
		cells[0] = fmt.Sprintf("%.2f", l.ratio)
	}
	for _, name := range all.Libraries {
		o := median(all.results["census."+l.Name][name])
		cells = append(cells, cmp.Or(o.failure, threeDigits(o.value)))
	}
	return append(cells, show(median(all.results["count."+l.Name]["gompirma"]), "instructions"))
}

// facts returns docs/CENSUS.md: how to read docs/census.txt, and a summary of the results.
func (all *report) facts(lines []line) string {
	functions, reasons, calls := map[string]bool{}, map[string]string{}, map[string]string{}
	compared, below, first := 0, 0, 0
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	fastest := line{mine: outcome{value: math.Inf(1)}} // the fastest of gompirma's rows that call Go once
	for _, l := range lines {
		for _, f := range l.Covers {
			functions[f] = true
		}
		if l.Reason != "" {
			reasons[l.Label] = l.Reason
		}
		if l.calls.value > 0 {
			calls[l.Label] = fmt.Sprintf("%.3g", l.calls.value)
		}
		if l.calls.value == 1 && l.mine.failure == "" && l.mine.value < fastest.mine.value {
			fastest = l
		}
		count(&compared, l.ratio > 0)
		count(&below, l.ratio > 0 && l.ratio < 1)
		count(&first, l.first > 0 && l.first < 1)
	}
	return fmt.Sprintf(`# Census

[census.txt](census.txt) compares the time of each function of MPI in gompirma, Debian's MPICH 4.0.2 and Open MPI 4.1.4,
the worst ratio first. "make census" measures them and writes that file and this page. bench/census/rows.txt defines the
calls and arguments of each row, and lists the functions that are not measured.

- A row names its calls without "MPI_". Its time, in ns, is that of executing each of these calls once. It is the median
  of %d launches of each library; the libraries alternate on one machine. Each launch times up to nine loops. "-": the
  library lacks a function of the row.
- The ratio is the time of the faster one of MPICH and Open MPI divided by gompirma's time: above 1, gompirma is faster.
  It is computed for each pair of consecutive launches; the table shows the median.
- Rows with a ratio below 1.0 are measured again, and all launches count. This can only reduce the number of such rows,
  so compare censuses by the number before it. From one census to the next, ratios vary by a tenth, and those of two
  ranks by more.
- Instructions are those of gompirma's calls and of the loop around them (bench/icount.c). They are counted in rows in
  which only one rank calls and no call enters Go. "more": above 6,000. "uneven": no result, because a shorter loop
  executed more instructions than a longer one.

%d rows cover %d functions. In %d rows MPICH or Open MPI has all functions. Of these, %d have a ratio below 1.0
(%d before they were measured again).

| why MPICH or Open MPI is or may be faster | rows |
|---|---|
%s
%d rows call Go. An empty Go function in a library of its own takes %.0f ns when C calls it. The fastest row with one
call into Go takes %.0f ns (%s).

| calls into Go | number of rows |
|---|---|
%s
| why not measured | number of functions |
|---|---|
%s`, all.Runs, len(lines), len(functions), compared, below, first, grouped(reasons), len(calls), all.Empty,
		fastest.mine.value, fastest.Label, perReason(calls), perReason(census.Unmeasured()))
}

// grouped returns the lines of a table: each reason, and the names with this reason.
func grouped(reasons map[string]string) string {
	by := map[string][]string{}
	for name, reason := range reasons {
		by[reason] = append(by[reason], name)
	}
	var s strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[reason])
		fmt.Fprintf(&s, "| %s | %s |\n", reason, strings.Join(by[reason], "; "))
	}
	return s.String()
}

// perReason returns the lines of a table: each reason, and the number of names with this reason.
func perReason(reasons map[string]string) string {
	number := map[string]int{}
	for _, reason := range reasons {
		number[reason]++
	}
	var s strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(number)) {
		fmt.Fprintf(&s, "| %s | %d |\n", reason, number[reason])
	}
	return s.String()
}

// emptyGo is a Go library with an exported function that does nothing. callerC is a C program that calls the function
// in several loops, and prints the time of one call for each loop.
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

// emptyCallCost returns the time of a call from C of an exported Go function that does nothing, in ns.
func emptyCallCost(work string) (float64, error) {
	folder := filepath.Join(work, "empty")
	err := os.Mkdir(folder, 0o755)
	for name, text := range map[string]string{"empty.go": emptyGo, "caller.c": callerC} {
		err = cmp.Or(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	var output []byte
	for _, command := range []string{"go build -buildmode=c-shared -o libempty.so empty.go",
		"gcc -O2 -o caller caller.c ./libempty.so", "./caller"} {
		if err == nil {
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir = folder
			output, err = cmd.Output()
		}
	}
	if err != nil {
		return 0, err
	}
	var took []outcome
	for _, f := range strings.Split(strings.TrimSpace(string(output)), "\n") {
		took = append(took, parse(f)["empty"])
	}
	return median(took).value, nil
}
