// Package census reads rows.txt, a table with a measurement for each implemented function of the ABI. It generates a C
// loop for each row of the table; bench/census.c includes these loops. bench/compare measures the rows.
package census

import (
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gompirma/core/abi"
)

//go:embed rows.txt
var text string

// A Row is one line of the table: calls that are measured together.
type Row struct {
	Name   string   // unique, without blanks: the functions and the measured case
	Label  string   // description for readers
	Covers []string // MPI functions that the row measures
	Needs  []string // functions in Covers, and functions that the code of `open` and `close` calls
	Ranks  int      // number of processes of the launch
	Alone  bool     // only rank 0 makes the measured calls
	Reason string   // why gompirma is slower than MPICH or Open MPI; "" if it is not

	loops             string
	body, open, close string // C code
}

// A table is the parsed contents of rows.txt.
type table struct {
	arguments map[string]string // C code of the usual argument, by the parameter's name, kind or type
	rows      []Row
	covered   map[string]bool   // functions that rows measure
	none      map[string]string // functions that are not measured, with the reason
}

// Rows returns all rows.
func Rows() []Row { return parsed().rows }

// Unmeasured returns the functions that no row can measure, each with the reason.
func Unmeasured() map[string]string { return parsed().none }

// parsed returns the parsed table. It panics on a malformed table, which is embedded and which a test reads completely.
var parsed = sync.OnceValue(func() *table {
	t := &table{arguments: map[string]string{}, covered: map[string]bool{}, none: map[string]string{}}
	section := ""
	for _, line := range strings.Split(strings.ReplaceAll(text, "\n ", " "), "\n") {
		if name, ok := strings.CutPrefix(line, "== "); ok {
			section = name
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					panic(fmt.Sprintf("bench/census/rows.txt: %s: %v", line, p))
				}
			}()
			t.line(section, line)
		}()
	}
	return t
})

func (t *table) line(section, line string) {
	switch section {
	case "arguments":
		for _, argument := range strings.Split(line, "; ") {
			key, value, _ := strings.Cut(argument, " = ")
			t.arguments[key] = value
		}
	case "none":
		names, reason, _ := strings.Cut(line, ": ")
		for _, name := range strings.Fields(names) {
			t.none["MPI_"+name] = reason
		}
	default:
		line, names, each := strings.Cut(line, " | @=")
		for _, name := range strings.Fields(names) {
			t.addAll(section, at.ReplaceAllStringFunc(line, func(found string) string {
				if len(found) == 1 { // at the beginning of a word
					return strings.ToUpper(name[:1]) + name[1:]
				}
				return found[:1] + name
			}))
		}
		if !each {
			t.addAll(section, line)
		}
	}
}

var at = regexp.MustCompile(`\w?@`)

func (t *table) addAll(section, line string) {
	fields := strings.Split(line, " | ")
	for _, calls := range strings.Split(fields[0], "; ") {
		t.add(section, calls, fields[1:])
	}
}

// add adds a row for the calls in `calls`, and a second row for their _c forms if no row measures these yet.
func (t *table) add(section, calls string, fields []string) {
	for _, large := range []bool{false, true} {
		what := ""
		r := Row{Ranks: 2, Alone: section != "both"}
		if section == "local" {
			r.Ranks = 1
		}
		r.body, r.Covers = t.calls(calls, large)
		r.Needs = slices.Clone(r.Covers)
		for _, field := range fields {
			key, value, _ := strings.Cut(field, "=")
			var more []string
			switch key {
			case "open":
				r.open, more = t.calls(value, false)
			case "close":
				r.close, more = t.calls(value, false)
			case "loops":
				r.loops = value
			case "reason":
				r.Reason = value
			default:
				what = " " + field
			}
			r.Needs = append(r.Needs, more...)
		}
		r.Label = strings.Join(r.Covers, ", ") + what
		r.Name = strings.ReplaceAll(strings.ReplaceAll(strings.Join(r.Covers, "+")+what, "MPI_", ""), " ", "-")
		if !large || slices.ContainsFunc(r.Covers, func(f string) bool {
			return strings.HasSuffix(f, "_c") && !t.covered[f]
		}) {
			t.rows = append(t.rows, r)
		}
		for _, f := range r.Covers {
			t.covered[f] = true
		}
	}
}

// call matches one call in rows.txt: literal C code in backquotes, or a function's name, optionally followed by
// arguments in parentheses.
var call = regexp.MustCompile("`([^`]*)`|(\\w+)(?:\\(([^`]*?)\\)(?: |$))?")

// calls returns the C code of the calls in the text `source`, and the functions that they call. The argument `large`
// selects the _c forms.
func (t *table) calls(source string, large bool) (c string, functions []string) {
	var parts []string
	for _, m := range call.FindAllStringSubmatch(source, -1) {
		if m[2] == "" {
			parts = append(parts, m[1])
			continue
		}
		f := abi.FunctionByName("MPI_" + m[2])
		if f == nil {
			panic("there is no MPI_" + m[2])
		}
		given := map[string]string{}
		for _, argument := range strings.Split(m[3], ", ") {
			if key, value, ok := strings.Cut(argument, "="); ok {
				given[key] = value
			}
		}
		if large && f.OtherForm != nil {
			f = f.OtherForm
		}
		parts = append(parts, t.call(f, given))
		if !slices.Contains(functions, f.Name) {
			functions = append(functions, f.Name)
		}
	}
	return strings.Join(parts, " "), functions
}

// call returns the C code of a call of f, with the arguments in `given` and the usual arguments for all other
// parameters. The code stores a result that is no error code, since the compiler might otherwise remove the call.
func (t *table) call(f *abi.Function, given map[string]string) string {
	var arguments []string
	for _, p := range f.CParams() {
		if p.C == "..." {
			continue
		}
		value, ok := given[p.CName]
		if !ok {
			value = t.defaultArgument(p)
		}
		delete(given, p.CName)
		arguments = append(arguments, twin(value, p.CType()))
	}
	for name := range given {
		panic(f.Name + " has no parameter " + name)
	}
	keep := map[string]string{"double": "kept_double = ", "MPI_Aint": "kept_aint = "}[f.Returns]
	if strings.HasSuffix(f.Name, "_toint") {
		keep = "kept_int = "
	}
	return fmt.Sprintf("%s%s(%s);", keep, f.Name, strings.Join(arguments, ", "))
}

// defaultArgument returns the argument that a parameter has in most rows.
func (t *table) defaultArgument(p *abi.Param) string {
	keys := []string{p.CName, p.Kind.Name}
	if p.Dir != abi.In {
		keys = []string{p.CName + " out", p.Kind.Name + " out"}
	} else if p.Kind.Name == "STATUS" {
		return "&received"
	}
	kind, pointed := strings.CutSuffix(p.CType(), " *")
	switch array := len(p.Length) > 0; {
	case !pointed || p.Dir == abi.In:
	case kind == "MPI_Status" && array:
		return "statuses"
	case kind == "MPI_Status":
		return "&status"
	case kind == "MPI_Request" && array:
		return "requests"
	case kind == "MPI_Request":
		return "&request"
	case kind == "int" || kind == "MPI_Count" || kind == "MPI_Aint":
		keys = append(keys, map[bool]string{true: "ints out", false: "n out"}[array])
	default:
		keys = append(keys, kind+" out")
	}
	for _, key := range append(keys, p.CName, p.Kind.Name) {
		if value, ok := t.arguments[key]; ok {
			return value
		}
	}
	panic(fmt.Sprintf("%s needs a value: %s", p.C, strings.Join(keys, ", ")))
}

var twins = regexp.MustCompile(`^&?(n|ints|ones|steps|sides|sizes|reduce)$`)

// twin returns the variable that stands for `value` in a parameter of the given C type. For the variable n this is n_c
// if the type is MPI_Count, n_a if it is MPI_Aint, else n itself.
func twin(value, kind string) string {
	switch {
	case !twins.MatchString(value):
		return value
	case strings.Contains(kind, "MPI_Count"), strings.Contains(kind, "_c *"):
		return value + "_c"
	case strings.Contains(kind, "MPI_Aint"):
		return value + "_a"
	}
	return value
}

// Write writes the C code of the rows. It omits a row if `there` returns false for one of its functions, since the
// library that is measured may lack the function.
func Write(w io.Writer, there func(function string) bool) error {
	var loops, list strings.Builder
	for i, r := range Rows() {
		if slices.ContainsFunc(r.Needs, func(f string) bool { return !there(f) }) {
			continue
		}
		fmt.Fprintf(&loops, "static void body_%d(long loops) { for (long i = 0; i < loops; i++) { %s } }\n", i,
			r.body)
		hooks := [2]string{"NULL", "NULL"}
		for j, h := range []struct{ name, c string }{{"open", r.open}, {"close", r.close}} {
			if h.c != "" {
				hooks[j] = fmt.Sprintf("%s_%d", h.name, i)
				fmt.Fprintf(&loops, "static void %s(void) { %s }\n", hooks[j], h.c)
			}
		}
		how, times := "0", "0"
		if r.loops != "" {
			times = r.loops
		}
		if r.Alone {
			how = "ORIGIN | AWAY"
		}
		fmt.Fprintf(&list, "\tROW(%q, %s, body_%d, %s, %s, %d, %s)\\\n", r.Name, hooks[0], i, hooks[1], how,
			r.Ranks, times)
	}
	_, err := fmt.Fprintf(w, "%s\n#define ROWS \\\n%s\n", &loops, &list)
	return err
}
