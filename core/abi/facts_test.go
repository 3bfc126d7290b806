package abi

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The directory with the facts of the standard as data: the names, values and parameters that the standard's text
// defines. It exists only on the machines on which the project is developed.
const facts = "../../../shared/facts"

// TestFacts compares the table with the facts of the standard, if their directory exists. If the directory does not
// exist, TestDigest still checks that the table is unchanged since an earlier comparison.
func TestFacts(t *testing.T) {
	if _, err := os.Stat(facts); os.IsNotExist(err) {
		return
	}
	t.Run("constants", factsConstants)
	t.Run("functions", factsFunctions)
	t.Run("callbacks", factsCallbacks)
}

func openFacts(t *testing.T, name string) *bufio.Scanner {
	f, err := os.Open(filepath.Join(facts, name))
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	return s
}

func factsConstants(t *testing.T) {
	s := openFacts(t, "constants.tsv")
	all := Constants()
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		f := strings.Split(s.Text(), "\t")
		require.NotEmpty(t, all, "%s is missing", f[0])
		c := all[0]
		all = all[1:]
		require.Equal(t, f, []string{c.Name, c.Type, c.Value})
	}
	require.NoError(t, s.Err())
	require.Empty(t, all)
}

type factParam struct {
	Name, Kind, Dir, Func, Array string
	Length                       any
	Const, Async, Optional       any
	HiddenIn                     string `json:"hidden_in"`
	LargeOnly                    bool   `json:"large_only"`
}

func yes(v any) bool { return v != nil && v != false }

// hidden converts the fact hidden_in, a list of the bindings that omit a parameter, to a Form. The list may also name
// the standard's language-independent text. hidden ignores this name, because that text is no binding.
func hidden(s string) (form Form) {
	for _, w := range strings.Fields(s) {
		switch w {
		case "c_parameter":
			form |= C
		case "f08_parameter":
			form |= F08
		case "f90_parameter":
			form |= F90
		case "f08_intent":
			form |= F08Intent
		}
	}
	return form
}

func factsFunctions(t *testing.T) {
	s := openFacts(t, "functions.jsonl")
	seen := 0
	for s.Scan() {
		var fact struct {
			Name, Returns, Note string
			C                   []string
			Params              []factParam
			F08, F90            bool
		}
		require.NoError(t, json.Unmarshal(s.Bytes(), &fact))
		f := FunctionByName(fact.Name)
		require.NotNil(t, f, fact.Name)
		seen++
		require.Equal(t, fact.Returns, f.Returns, fact.Name)
		decls := []string{}
		for _, p := range f.CParams() {
			decls = append(decls, p.C)
		}
		require.Equal(t, fact.C, decls, fact.Name)
		if since, ok := strings.CutPrefix(fact.Note, "deprecated: "); ok {
			require.Equal(t, since, f.Deprecated, fact.Name)
		} else {
			require.Empty(t, f.Deprecated, fact.Name)
		}
		if fact.Params == nil {
			continue // the source of the facts, the binding tables of MPI 4.0, lacks this function
		}
		require.Equal(t, []bool{fact.F08, fact.F90}, []bool{f.F08, f.F90}, fact.Name)
		params := f.Params
		for _, want := range fact.Params {
			if want.LargeOnly && !f.Large || want.Name == "ierror" && !fact.F08 && !fact.F90 {
				continue
			}
			require.NotEmpty(t, params, "%s: %s", fact.Name, want.Name)
			p := params[0]
			params = params[1:]
			var length []string
			switch l := want.Length.(type) {
			case string:
				length = []string{l}
			case []any:
				for _, x := range l {
					length = append(length, x.(string))
				}
			}
			require.Equal(t,
				Param{Name: want.Name, Dir: Dir(want.Dir), Const: yes(want.Const),
					Async: yes(want.Async), Optional: yes(want.Optional),
					Length: length, Array: want.Array, Func: want.Func,
					Hidden: hidden(want.HiddenIn)},
				Param{Name: p.Name, Dir: p.Dir, Const: p.Const, Async: p.Async, Optional: p.Optional,
					Length: p.Length, Array: p.Array, Func: p.Func, Hidden: p.Hidden}, fact.Name)
			require.Equal(t, want.Kind, p.Kind.Name, "%s: %s", fact.Name, p.Name)
		}
		require.Empty(t, params, fact.Name)
	}
	require.NoError(t, s.Err())
	require.Len(t, Functions(), seen)
}

func factsCallbacks(t *testing.T) {
	s := openFacts(t, "callbacks.jsonl")
	seen := 0
	for s.Scan() {
		var fact struct {
			Name   string
			Params []factParam
		}
		require.NoError(t, json.Unmarshal(s.Bytes(), &fact))
		seen++
		var callback *Callback
		for _, c := range Callbacks() {
			if c.Name == fact.Name {
				callback = c
			}
		}
		require.NotNil(t, callback, fact.Name)
		params := callback.Params
		for _, want := range fact.Params {
			if hidden(want.HiddenIn)&C != 0 {
				continue
			}
			require.NotEmpty(t, params, fact.Name)
			require.Equal(t, []string{want.Name, want.Kind}, []string{params[0].Name, params[0].Kind.Name},
				fact.Name)
			params = params[1:]
		}
		require.Empty(t, params, fact.Name)
	}
	require.NoError(t, s.Err())
	large := 0
	for _, c := range Callbacks() {
		if c.Large {
			large++
			require.Regexp(t, regexp.MustCompile(`^MPI_(User_function|Datarep_conversion_function)_c$`),
				c.Name)
		}
	}
	require.Len(t, Callbacks(), seen+large)
}
