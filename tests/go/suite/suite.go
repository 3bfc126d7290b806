// Package suite reads the programs of tests/c/check: the findings that a checker must report for each program, and on
// which lines. tests/c/check/README.md describes the format. The package does not depend on how a checker is built or
// run.
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

// Kinds lists the kinds of findings. The value of each kind is the list of keys, besides "lines", that a finding must
// have. A race on a file has the keys object and needs.
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

// Program is the clean or the wrong version of a source file.
type Program struct {
	Path  string // path of the source file
	Name  string // name of the pair, an underscore and the version: "clean", "race" or "error"
	Pair  string // file name without directory and extension, for example lock_put_put
	Wrong bool   // true for the wrong version, which is compiled with -DWRONG
	Ranks int    // number of ranks
	// Reference names the MPI library that runs the program without a checker: "mpich", or "none (reason)".
	Reference string
	Hangs     bool      // the program may hang without a checker
	Findings  []Finding // empty for a clean program
	// Needs is Accesses if the program is clean, but a checker that does not see loads and stores would report
	// something.
	Needs Needs
}

// Needs is what a checker must see of a program: Calls or Accesses.
type Needs string

// Calls are MPI calls, which a library sees. Accesses are MPI calls, loads and stores. A checker sees loads and stores
// only in a recompiled program.
const (
	Calls    Needs = "calls"
	Accesses Needs = "accesses"
)

// Finding is an error that a checker must report once. A report of the same lines for other ranks or bytes is the same
// finding.
type Finding struct {
	Kind    string
	Needs   Needs
	Marks   []string // names of the marks (@name) in the comments of the lines
	Lines   []int    // lines of both accesses, in any order; one line if the other access is not in the source
	Windows []string // names of windows; the report must have one of them
	Targets []int    // target ranks; the report must have one of them; empty if the report has none
	Rank    int      // owner of the memory or object; -1 for any rank
	// Object is the kind of the leaked or freed object: datatype, communicator, group, info, op, window, file,
	// request or message. For a race on a file it is "file".
	Object string
	Name   string // name of the assertion or hint that is not true
	// Argument is the argument of a collective call that differs between members: root, op, length or name; of a
	// call on a file also amode, etype, datarep, size, flag or offset.
	Argument string
}

var (
	headLine = regexp.MustCompile(`^(?:/\*| \*|!) (np|ref|plain|find|clean|race|error)( \w+)?: *(.*)$`)
	// reference matches the value of "ref:" that gives a reason why no other MPI library runs the program.
	reference = regexp.MustCompile(`^none \(.+\)$`)

	mark = regexp.MustCompile(`(?:/\* @(\w+) \*/|! @(\w+)$)`)
)

// Load reads all programs of a directory, ordered by name.
func Load(folder string) ([]*Program, error) {
	var all []*Program
	for _, end := range []string{".c", ".cc", ".F90"} {
		paths, err := filepath.Glob(filepath.Join(folder, "*"+end))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			pair, err := Parse(path, string(text))
			if err != nil {
				return nil, err
			}
			all = append(all, pair...)
		}
	}
	slices.SortFunc(all, func(a, b *Program) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Parse returns the clean and the wrong version of a source file. Its errors name the file.
func Parse(path, text string) ([]*Program, error) {
	lines := strings.Split(text, "\n")
	header, wrong, err := parseHeader(lines)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	base := filepath.Base(path)
	pair := strings.TrimSuffix(base, filepath.Ext(base))
	var both []*Program
	for _, version := range []string{"clean", wrong} {
		p := &Program{Path: path, Name: pair + "_" + version, Pair: pair, Wrong: version == wrong,
			Needs: Calls}
		if err := p.parse(header, version, lines); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, version, err)
		}
		both = append(both, p)
	}
	return both, nil
}

// parseHeader returns the values of each key in the first comment, and the name of the wrong version. A key may include
// the name of a version: "KEY VERSION" is a separate key.
func parseHeader(lines []string) (header map[string][]string, wrong string, err error) {
	header = map[string][]string{}
	for _, line := range lines {
		if !strings.HasPrefix(line, "/*") && !strings.HasPrefix(line, " *") && !strings.HasPrefix(line, "!") {
			break
		}
		if m := headLine.FindStringSubmatch(line); m != nil {
			header[m[1]+m[2]] = append(header[m[1]+m[2]], m[3])
		}
	}
	wrong = "error"
	if header["race"] != nil {
		wrong = "race"
	}
	if header["clean"] == nil || (header["race"] == nil) == (header["error"] == nil) {
		return nil, "", errors.New("the first comment must describe versions clean and race or error")
	}
	for key, values := range header {
		name, version, ok := strings.Cut(key, " ")
		if ok && version != "clean" && version != wrong {
			return nil, "", fmt.Errorf("%s: there is no such version", key)
		}
		if ok && !slices.Contains([]string{"np", "ref", "plain"}, name) && key != "find clean" {
			return nil, "", fmt.Errorf("%s: the line is not for one version", key)
		}
		if len(values) > 1 && key != "find" {
			return nil, "", fmt.Errorf("%s: there are %d lines", key, len(values))
		}
	}
	return header, wrong, nil
}

// parse sets the fields of p from those lines of the first comment that apply to the version.
func (p *Program) parse(header map[string][]string, version string, lines []string) error {
	value := func(key string) string {
		if own := header[key+" "+version]; own != nil {
			return own[0]
		}
		return strings.Join(header[key], " ")
	}
	var err error
	if p.Ranks, err = strconv.Atoi(value("np")); err != nil {
		return err
	}
	if p.Ranks < 2 || p.Ranks > 4 {
		return fmt.Errorf("np: %d must be 2, 3 or 4", p.Ranks)
	}
	if p.Reference = value("ref"); p.Reference != "mpich" && !reference.MatchString(p.Reference) {
		return fmt.Errorf("ref: %q", p.Reference)
	}
	plain := value("plain")
	if p.Hangs = plain == "may hang"; !p.Hangs && (plain != "" || header["plain"] != nil) {
		return fmt.Errorf("plain: %q", plain)
	}
	marks, err := marksOf(lines)
	if err != nil {
		return err
	}
	if !p.Wrong {
		return p.parseClean(header["find clean"])
	}
	if err := p.findings(header["find"], marks); err != nil {
		return err
	}
	return p.agrees(version, marks)
}

// parseClean sets p.Needs from the "find clean" lines of a clean version.
func (p *Program) parseClean(finds []string) error {
	switch {
	case len(finds) == 0:
		return nil
	case len(finds) == 1 && finds[0] == "nothing needs=accesses":
		p.Needs = Accesses
		return nil
	}
	return fmt.Errorf("find clean: %s", finds)
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
	if len(finds) == 0 {
		return errors.New("no line find:")
	}
	for _, line := range finds {
		f, err := p.finding(strings.Fields(line), marks)
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
	if f.Kind == "race" && slices.Contains(words, "object=file") {
		must = []string{"object", "needs"}
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

// set stores the value of a word KEY=VALUE of a finding to f.
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

// agrees returns an error if the name of the wrong version does not match its findings, or if no finding uses a mark.
func (p *Program) agrees(version string, marks map[string]int) error {
	is := "error"
	if k := p.Findings[0].Kind; k == "race" || k == "buffer" {
		is = "race"
	}
	if is != version {
		return fmt.Errorf("the findings are of kind %s", is)
	}
	for name := range marks {
		if !slices.ContainsFunc(p.Findings, func(f Finding) bool { return slices.Contains(f.Marks, name) }) {
			return fmt.Errorf("no finding has the line that is marked @%s", name)
		}
	}
	return nil
}
