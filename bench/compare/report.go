package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
)

// results holds outcomes by measurement and library.
type results map[string]map[string][]outcome

// A report holds the results of a run. Its JSON form, which bench/chart reads, has a record for each measurement.
type report struct {
	Machine   string         `json:"machine"`
	Cores     int            `json:"cores"`
	Load      string         `json:"load"` // before the run
	Runs      int            `json:"runs"`
	Libraries []string       `json:"libraries"`
	Records   []record       `json:"measurements"`
	Sweeps    []sweepSummary `json:"sweeps,omitempty"`
	// duration of a call from C of an empty Go function, in ns; only with -census
	Empty float64 `json:"empty,omitempty"`

	results results
	part    string // heading of the table to which the method `line` printed last
}

// A record is one measurement in the report's JSON form.
type record struct {
	Name    string           `json:"name"`
	Label   string           `json:"label"`
	Part    string           `json:"part"`
	Unit    string           `json:"unit"`
	Ranks   int              `json:"ranks"`
	Goal    float64          `json:"goal,omitempty"`   // wanted value of Ratio
	Ratio   float64          `json:"ratio,omitempty"`  // time of the better peer divided by gompirma's
	Series  string           `json:"series,omitempty"` // name of the sweep; "" for a main measurement
	X       int              `json:"x,omitempty"`      // bytes, ranks or threads
	Results map[string]found `json:"results"`          // results by library
}

// found holds the results of the launches with one library.
type found struct {
	Values  []float64 `json:"values"`
	Median  float64   `json:"median,omitempty"`
	Failure string    `json:"failure,omitempty"`
}

func newReport(libraries []library, runs int) *report {
	load, _, _ := strings.Cut(readFile("/proc/loadavg"), " ")
	r := &report{Machine: processor(), Cores: runtime.NumCPU(), Load: load, Runs: runs, results: results{}}
	for _, l := range libraries {
		r.Libraries = append(r.Libraries, l.name)
	}
	return r
}

func readFile(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

func processor() string {
	for _, line := range strings.Split(readFile("/proc/cpuinfo"), "\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// head prints the conditions of the measurements.
func (all *report) head(out io.Writer) {
	fmt.Fprintf(out, "%s, %d cores, load before the run %s, median of %d launches.\n", all.Machine, all.Cores,
		all.Load, all.Runs)
	all.part = ""
}

// line prints the table row of a measurement. If the previous measurement belongs to another table, it first prints the
// head of the new table.
func (all *report) line(out io.Writer, m measurement) {
	if m.part != all.part {
		all.part = m.part
		heading(out, m.part, append(append([]string{"operation"}, all.Libraries...), "ratio", "goal"))
	}
	fmt.Fprintln(out, row(m, all.Libraries, all.results))
}

func (all *report) save(path string) error {
	all.Records = nil
	for _, m := range measurements {
		if all.results[m.name] == nil {
			continue
		}
		r := record{Name: m.name, Label: m.label, Part: m.part, Unit: m.unit(), Ranks: m.ranks, Goal: m.goal,
			Series: m.series, X: m.x, Results: map[string]found{}}
		for _, l := range all.Libraries {
			var f found
			for _, o := range all.results[m.name][l] {
				if o.failure != "" {
					f.Failure = o.failure
				} else {
					f.Values = append(f.Values, o.value)
				}
			}
			f.Median = median(all.results[m.name][l]).value
			r.Results[l] = f
		}
		mine, best := median(all.results[m.name]["gompirma"]), best(m, all.Libraries, all.results)
		if mine.failure == "" && best.failure == "" && !m.percent {
			r.Ratio = best.value / mine.value
		}
		all.Records = append(all.Records, r)
	}
	all.Sweeps = all.summaries(sweeps)
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// load reads a report that save has written.
func load(path string) (*report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := &report{results: results{}}
	if err := json.Unmarshal(data, all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, r := range all.Records {
		all.results[r.Name] = map[string][]outcome{}
		for l, f := range r.Results {
			for _, v := range f.Values {
				all.results[r.Name][l] = append(all.results[r.Name][l], outcome{value: v})
			}
			if f.Failure != "" {
				all.results[r.Name][l] = append(all.results[r.Name][l], outcome{failure: f.Failure})
			}
		}
	}
	return all, nil
}

// Marks in a document. The text between a pair of them is generated: the main tables, or the tables of the sweeps.
const (
	begin, end             = "<!-- written by make measured -->\n", "<!-- end of what make measured writes -->\n"
	beginSweeps, endSweeps = "<!-- sweeps, written by make measured -->\n", "<!-- end of the sweeps -->\n"
)

// document replaces the text between two marks of the file `into` by the main tables of the report in the file `from`.
// For sweeps, it writes the tables to the file sweeps.txt next to the document instead. The text between the marks also
// shows the charts of the tables, which are in the directory charts next to the document.
func document(from, into string, sweeps bool) error {
	all, err := load(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(into)
	if err != nil {
		return err
	}
	words, first, last := all.main(), begin, end
	if sweeps {
		if err := os.WriteFile(filepath.Join(filepath.Dir(into), "sweeps.txt"), aligned(all.swept()),
			0o644); err != nil {
			return err
		}
		words, first, last = "", beginSweeps, endSweeps
	}
	charts, err := filepath.Glob(filepath.Join(filepath.Dir(into), "charts", "*.svg"))
	if err != nil {
		return err
	}
	head := "\n### Charts\n"
	for _, c := range charts {
		name := strings.TrimSuffix(filepath.Base(c), ".svg")
		if strings.HasPrefix(name, "sweeps") != sweeps {
			continue
		}
		words += head + fmt.Sprintf("\n![%s](charts/%s.svg)\n", name, name)
		head = ""
	}
	changed, err := replaced(string(text), words, first, last)
	if err != nil {
		return fmt.Errorf("%s: %w", into, err)
	}
	return os.WriteFile(into, []byte(changed), 0o644)
}

// main returns all tables except those of the sweeps.
func (all *report) main() string {
	var tables strings.Builder
	all.head(&tables)
	for _, m := range measurements {
		if m.series == "" && all.results[m.name] != nil {
			all.line(&tables, m)
		}
	}
	return tables.String()
}

// swept returns the tables of the sweeps.
func (all *report) swept() string {
	var tables strings.Builder
	all.head(&tables)
	all.tables(&tables)
	return tables.String()
}

// aligned returns the tables of a Markdown text as text with aligned columns.
func aligned(text string) []byte {
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "|--"):
		case strings.HasPrefix(line, "| "):
			cells := strings.Split(strings.Trim(line, "|\n"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			fmt.Fprintln(table, "  "+strings.TrimRight(strings.Join(cells, "\t"), "\t"))
		default:
			table.Flush()
			out.WriteString(strings.TrimPrefix(line, "### "))
		}
	}
	table.Flush()
	return out.Bytes()
}

// replaced returns `text` with `words` in place of the text between the marks `begin` and `end`.
func replaced(text, words, begin, end string) (string, error) {
	before, rest, ok := strings.Cut(text, begin)
	if !ok {
		return "", errors.New("there is no line " + begin)
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", errors.New("there is no line " + end)
	}
	return before + begin + words + end + after, nil
}
