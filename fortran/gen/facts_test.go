package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/abi/genfile"
)

// fact holds the properties of one dummy argument, as the standard's tables state them.
type fact struct {
	Name, Kind, Dir string
	Const, Optional any
	Length          any
	Func            string
	HiddenIn        string `json:"hidden_in"`
	LargeOnly       bool   `json:"large_only"`
}

func yes(v any) bool { return v != nil && v != false }

type function struct {
	Name, Returns string
	Params        []fact
	F08, F90      bool
}

// facts returns the standard's tables for each function. It reads the standard's own files if they are next to the
// repository. Otherwise it reads the table of core/abi; a test of core/abi compares this table with the standard's
// files.
func facts(t *testing.T) map[string]function {
	root, err := genfile.Root()
	require.NoError(t, err)
	all := map[string]function{}
	for _, f := range abi.Functions() {
		g := function{Name: f.Name, Returns: f.Returns, F08: f.F08, F90: f.F90}
		for _, p := range f.Params {
			var hidden string
			for form, word := range map[abi.Form]string{abi.F08: " f08_parameter",
				abi.F90: " f90_parameter", abi.F08Intent: " f08_intent"} {
				if p.Hidden&form != 0 {
					hidden += word
				}
			}
			q := fact{Name: p.Name, Kind: p.Kind.Name, Dir: string(p.Dir), Const: p.Const,
				Optional: p.Optional, Func: p.Func, HiddenIn: hidden}
			if len(p.Length) > 0 {
				q.Length = p.Length
			}
			g.Params = append(g.Params, q)
		}
		all[f.Name] = g
	}
	file, err := os.Open(filepath.Join(root, "../shared/facts/functions.jsonl"))
	if os.IsNotExist(err) {
		return all
	}
	require.NoError(t, err)
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var f function
		require.NoError(t, json.Unmarshal(s.Bytes(), &f))
		if f.Params != nil { // nil if the standard's tables do not have the function
			all[f.Name] = f
		}
	}
	require.NoError(t, s.Err())
	return all
}

// body is an interface body as it appears in a module.
type body struct {
	name, result string
	args         []string
	decl         map[string]declaration // declaration of each dummy argument, by name
}

// declaration is "attributes :: NAME shape".
type declaration struct{ attributes, shape string }

var (
	head = regexp.MustCompile(`^(.*)\b(subroutine|function) (\w+)\((.*?)\)( bind\(C, name="\w+"\))?$`)
	decl = regexp.MustCompile(`^(.*) :: (\w+)(\(.*\))?$`)
)

// sized returns the lines of a source that the preprocessor keeps for INTEGERs of the given size.
func sized(t *testing.T, source string, bytes int) string {
	var lines []string
	keep := true
	for _, line := range strings.Split(source, "\n") {
		switch {
		case line == "#ifdef GOMPI_F_INTEGER_8":
			keep = bytes == 8
		case line == "#else":
			keep = !keep
		case line == "#endif":
			keep = true
		case strings.HasPrefix(line, "#"):
			t.Fatalf("unexpected %q", line)
		case keep:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// bodies parses all interface bodies of a module, for INTEGERs of the given size. It does not use code of the
// generator.
func bodies(t *testing.T, path, module string, bytes int) map[string]body {
	root, err := genfile.Root()
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	text := strings.ReplaceAll(sized(t, string(source), bytes), "&\n", "")
	_, text, found := strings.Cut(text, "\nmodule "+module+"\n")
	require.True(t, found)
	all := map[string]body{}
	var b *body
	for _, line := range strings.Split(text, "\n") {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case strings.HasPrefix(line, "end subroutine"), strings.HasPrefix(line, "end function"):
			require.Len(t, b.decl, len(b.args), b.name)
			require.NotContains(t, all, b.name)
			all[b.name], b = *b, nil
		case b == nil && head.MatchString(line):
			m := head.FindStringSubmatch(line)
			b = &body{name: m[3], result: strings.TrimSpace(m[1]), decl: map[string]declaration{}}
			for _, a := range strings.Split(m[4], ",") {
				if a = strings.TrimSpace(a); a != "" {
					b.args = append(b.args, a)
				}
			}
		case b != nil && decl.MatchString(line) && !strings.HasPrefix(line, "!"):
			m := decl.FindStringSubmatch(line)
			require.Contains(t, b.args, m[2], b.name)
			b.decl[m[2]] = declaration{m[1], m[3]}
		}
	}
	return all
}

const (
	aintType   = "integer(kind=MPI_ADDRESS_KIND)"
	countType  = "integer(kind=MPI_COUNT_KIND)"
	offsetType = "integer(kind=MPI_OFFSET_KIND)"
)

// typeOf returns the Fortran type of a kind, in the small-count and the large-count form. Handles have the types of
// mpi_f08. The type of a kind that is not listed is INTEGER.
func typeOf(kind string) (small, large string) {
	switch kind {
	case "ALLOC_MEM_NUM_BYTES", "ATTRIBUTE_VAL", "DISPLACEMENT", "DISPOFFSET_SMALL", "EXTRA_STATE",
		"LOCATION_SMALL", "RMA_DISPLACEMENT_NNI", "WINDOW_SIZE",
		"WIN_ATTACH_SIZE":
		return aintType, aintType
	case "POLYDISPLACEMENT_AINT_COUNT", "POLYDISPOFFSET", "POLYDTYPE_PACK_SIZE", "POLYDTYPE_STRIDE_BYTES",
		"POLYLOCATION":
		return aintType, countType
	case "POLYDISPLACEMENT", "POLYRMA_DISPLACEMENT":
		return "integer", aintType
	case "POLYDISPLACEMENT_COUNT", "POLYDTYPE_NUM_ELEM", "POLYDTYPE_NUM_ELEM_NNI", "POLYDTYPE_NUM_ELEM_PI",
		"POLYNUM_BYTES", "POLYNUM_BYTES_NNI",
		"POLYNUM_PARAM_VALUES", "POLYXFER_NUM_ELEM", "POLYXFER_NUM_ELEM_NNI", "XFER_NUM_ELEM_NNI",
		"XFER_NUM_ELEM_SMALL":
		return "integer", countType
	case "GENERIC_DTYPE_COUNT", "NUM_BYTES", "XFER_NUM_ELEM":
		return countType, countType
	case "OFFSET":
		return offsetType, offsetType
	case "LOGICAL":
		return "logical", "logical"
	case "STRING", "STRING_ARRAY", "STRING_2DARRAY":
		return "character", "character"
	case "BUFFER":
		return "choice", "choice"
	case "C_BUFFER", "C_BUFFER2":
		return "type(C_PTR)", "type(C_PTR)"
	case "FUNCTION", "POLYFUNCTION":
		return "procedure", "procedure"
	case "STATUS":
		return "type(MPI_Status)", "type(MPI_Status)"
	case "LOGICAL_VOID":
		return "type(*)", "type(*)"
	}
	for handle, of := range map[string]string{"COMMUNICATOR": "Comm", "DATATYPE": "Datatype",
		"ERRHANDLER": "Errhandler", "FILE": "File", "GROUP": "Group",
		"INFO": "Info", "MESSAGE": "Message", "OPERATION": "Op", "REQUEST": "Request", "SESSION": "Session",
		"WINDOW": "Win"} {
		if kind == handle {
			return "type(MPI_" + of + ")", "type(MPI_" + of + ")"
		}
	}
	return "integer", "integer"
}

// arguments returns the facts of a function's dummy arguments in a binding.
func arguments(f function, hidden string) []fact {
	var list []fact
	for _, p := range f.Params {
		if !strings.Contains(p.HiddenIn, hidden) && p.Kind != "VARARGS" &&
			(!p.LargeOnly || strings.HasSuffix(f.Name, "_c")) {
			list = append(list, p)
		}
	}
	return list
}

func names(args []fact) []string {
	list := []string{}
	for _, a := range args {
		list = append(list, a.Name)
	}
	return list
}

// resultOf returns the result type of the few procedures that are functions.
func resultOf(f function) string {
	return map[string]string{"int": "", "double": "double precision", "MPI_Aint": aintType}[f.Returns]
}

// compareDeclaration checks the type, kind, rank, INTENT and OPTIONAL of a declaration. It ignores ASYNCHRONOUS and
// TARGET.
func compareDeclaration(t *testing.T, f function, p fact, inF08 bool, got declaration) {
	t.Helper()
	at := f.Name + " " + p.Name
	want, large := typeOf(p.Kind)
	if strings.HasSuffix(f.Name, "_c") {
		want = large
	}
	words := strings.Split(got.attributes, ", ")
	has := func(attribute string) bool {
		for _, w := range words[1:] {
			if w == attribute {
				return true
			}
		}
		return false
	}
	intent := ""
	for _, w := range words[1:] {
		if s, ok := strings.CutPrefix(w, "intent("); ok {
			intent = strings.TrimSuffix(s, ")")
		}
	}
	wantIntent := p.Dir
	switch {
	case want == "choice":
		shape := "dimension(*)"
		if inF08 {
			shape = "dimension(..)"
		}
		require.Equal(t, "type(*)", words[0], at)
		require.True(t, has(shape), at)
		// MPI writes the buffers of these functions after the call, although the tables list them as input
		memory := regexp.MustCompile(`^MPI_(Precv_init|Comm_attach_buffer|Session_attach_buffer)(_c)?$`)
		if !inF08 || p.Dir != "in" || memory.MatchString(f.Name) {
			wantIntent = ""
		}
	case want == "procedure":
		wantIntent = ""
		if !inF08 {
			require.Equal(t, "external", words[0], at)
			break
		}
		name := p.Func
		if p.Kind == "POLYFUNCTION" && strings.HasSuffix(f.Name, "_c") {
			name += "_c"
		}
		require.Equal(t, "procedure("+name+")", words[0], at)
	case want == "character":
		require.True(t, strings.HasPrefix(words[0], "character(len="), at)
		if !inF08 {
			wantIntent = ""
		}
	case want == "type(MPI_Status)":
		if p.Dir == "out" || !inF08 {
			wantIntent = ""
		}
		if !inF08 {
			want = "integer"
		}
		require.Equal(t, want, words[0], at)
	case want == "type(*)":
		wantIntent = ""
		require.Equal(t, want, words[0], at)
	case want == "type(C_PTR)" && !inF08 && p.Kind == "C_BUFFER2":
		wantIntent = ""
		require.Equal(t, "type(*)", words[0], at)
	case want == "type(C_PTR)" && !inF08:
		require.Equal(t, aintType, words[0], at)
	case strings.HasPrefix(want, "type(") && want != "type(C_PTR)" && !inF08:
		require.Equal(t, "integer", words[0], at)
	default:
		require.Equal(t, want, words[0], at)
	}
	if strings.Contains(p.HiddenIn, "f08_intent") {
		wantIntent = ""
	}
	require.Equal(t, wantIntent, intent, at)
	require.Equal(t, yes(p.Optional) && inF08, has("optional"), at)
	// The rank: the declaration of an array has a shape, that of a scalar has none.
	rank := 0
	if got.shape != "" {
		rank = 1 + strings.Count(got.shape, ",")
	}
	wantRank := 0
	switch {
	case p.Kind == "STRING_ARRAY":
		wantRank = 1
	case p.Kind == "STRING_2DARRAY":
		wantRank = 2
	case want == "character" || want == "choice":
	default:
		switch l := p.Length.(type) {
		case []any:
			wantRank = len(l)
		case []string:
			wantRank = len(l)
		case string:
			wantRank = 1
		}
		if p.Name == "array_of_errcodes" {
			wantRank = 1
		}
		if p.Kind == "STATUS" && !inF08 {
			wantRank++
		}
	}
	require.Equal(t, wantRank, rank, "%s%s", at, got.shape)
}

// named returns the name of a procedure. Procedures that start MPI have different names for INTEGERs of 8 bytes.
func named(name string, bytes int) string {
	switch strings.TrimPrefix(name, "P") {
	case "MPI_Init", "MPI_Init_thread", "MPI_Session_init":
		if bytes == 8 {
			return name + "_i8"
		}
	}
	return name
}

func TestFactsF08(t *testing.T) {
	for _, bytes := range []int{4, 8} {
		factsF08(t, bytes)
	}
}

func factsF08(t *testing.T, bytes int) {
	got := bodies(t, "fortran/generated/mpi_f08.F90", "mpi_f08", bytes)
	seen := 0
	for _, f := range facts(t) {
		if !f.F08 {
			continue
		}
		args := arguments(f, "f08_parameter")
		suffix := "_f08"
		for _, a := range args {
			if a.Kind == "BUFFER" {
				suffix = "_f08ts"
			}
		}
		name := named(f.Name, bytes) + suffix
		for _, prefix := range []string{"", "P"} {
			b, ok := got[prefix+name]
			require.True(t, ok, prefix+name)
			require.Equal(t, names(args), append([]string{}, b.args...), name)
			require.Equal(t, resultOf(f), b.result, name)
			for _, a := range args {
				compareDeclaration(t, f, a, true, b.decl[a.Name])
			}
			seen++
		}
	}
	others := 0 // predefined callbacks, and procedures that only Fortran has
	for name := range got {
		if !strings.Contains(name, "_f08") || strings.Contains(name, "Sizeof") ||
			strings.Contains(name, "sync_reg") || strings.Contains(name, "MPI_Status_f") {
			others++
		}
	}
	require.Equal(t, len(got), seen+others)
}

func TestFactsMPI(t *testing.T) {
	for _, bytes := range []int{4, 8} {
		factsMPI(t, bytes)
	}
}

func factsMPI(t *testing.T, bytes int) {
	got := bodies(t, "fortran/generated/mpi.F90", "mpi", bytes)
	for _, f := range facts(t) {
		if !f.F90 || strings.HasSuffix(f.Name, "_c") {
			continue
		}
		args := arguments(f, "f90_parameter")
		for _, prefix := range []string{"", "P"} {
			b, ok := got[named(prefix+f.Name, bytes)]
			require.True(t, ok, prefix+f.Name)
			require.Equal(t, names(args), append([]string{}, b.args...), f.Name)
			require.Equal(t, resultOf(f), b.result, f.Name)
			for _, a := range args {
				compareDeclaration(t, f, a, false, b.decl[a.Name])
			}
		}
	}
	// Functions that return an address have two forms.
	for _, name := range []string{"MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared",
		"MPI_Win_shared_query"} {
		require.Equal(t, aintType+", intent(out)", got[name].decl["baseptr"].attributes)
		require.Equal(t, "type(C_PTR), intent(out)", got[name+"_cptr"].decl["baseptr"].attributes)
	}
}
