package abi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func prototype(f *Function) string {
	var list []string
	for _, p := range f.CParams() {
		list = append(list, p.C)
	}
	return f.Returns + " " + f.Name + "(" + strings.Join(list, ", ") + ")"
}

// details returns the properties of a function that its C prototype does not show. TestDigest includes them in its
// digest.
func details(f *Function) string {
	said := []any{f.Name, f.Deprecated, f.F08, f.F90, f.Large}
	for _, p := range f.Params {
		said = append(said, p.Name, p.Kind.Name, p.Dir, p.Const, p.Async, p.Optional, p.Length, p.Array, p.Func,
			p.Hidden)
	}
	return fmt.Sprintf("%q", said)
}

// TestDigest compares names, values, prototypes and parameters with a stored digest, since the standard defines them
// and they never change. If this test fails, the table is wrong, not the digest.
func TestDigest(t *testing.T) {
	digest := func(lines []string) string {
		sort.Strings(lines)
		sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
		return hex.EncodeToString(sum[:8])
	}
	var constants, functions, callbacks []string
	for _, c := range Constants() {
		kind := c.Type
		if kind == "alias" {
			kind = c.Value
		}
		constants = append(constants, c.Name+" "+kind+" "+strconv.FormatInt(c.Number(), 10))
	}
	var parameters []string
	for _, f := range Functions() {
		functions = append(functions, prototype(f))
		parameters = append(parameters, details(f))
	}
	for _, c := range Callbacks() {
		f := &Function{Name: c.Name, Returns: c.Returns, Params: c.Params}
		callbacks = append(callbacks, prototype(f))
		parameters = append(parameters, details(f))
	}
	require.Len(t, constants, 365)
	require.Len(t, functions, 664)
	require.Len(t, callbacks, 23)
	require.Equal(t, "988082442cc9893b", digest(constants))
	require.Equal(t, "395d4c01c204b662", digest(functions))
	require.Equal(t, "eddff740ec79e52f", digest(callbacks))
	require.Equal(t, "7c8f2960c7a4e170", digest(parameters))
}

func TestFunctions(t *testing.T) {
	used := map[string]bool{}
	for _, f := range Functions() {
		require.Same(t, f, FunctionByName(f.Name))
		require.Regexp(t, `^MPI_[A-Z]\w+$`, f.Name)
		require.Regexp(t, `^[A-Z].*[.]$`, f.Purpose, f.Name)
		require.Contains(t, Chapters(), f.Chapter, f.Name)
		if f.Section != "" {
			require.Regexp(t, `^`+strconv.Itoa(f.Chapter)+`(\.\d+)*$`, f.Section,
				"%s: section outside of its chapter", f.Name)
		}
		if f.Large {
			require.Equal(t, f.Name, f.OtherForm.Name+"_c")
			require.Same(t, f, f.OtherForm.OtherForm)
		}
		names := map[string]bool{}
		for _, p := range f.Params {
			used[p.Kind.Name] = true
			require.False(t, names[p.CName], "%s: %s twice", f.Name, p.CName)
			names[p.CName] = true
			require.NotEmpty(t, p.Meaning+map[bool]string{true: "-"}[p.Name == "ierror"], "%s: %s", f.Name,
				p.Name)
			if p.Hidden&C != 0 {
				require.Equal(t, "ierror", p.Name)
				continue
			}
			require.NotEmpty(t, p.C)
			if p.C != "..." {
				require.Regexp(t, `\b`+p.CName+`(\[\d*\])*$`, p.C, f.Name)
			}
			for _, l := range p.Length {
				require.True(t, l == "*" || l == "3" || strings.HasPrefix(l, "MPI_MAX_") ||
					hasParam(f, l), "%s: length %s", f.Name, l)
			}
			if p.Func != "" {
				require.True(t, hasCallback(p.Func), "%s: callback %s", f.Name, p.Func)
			}
		}
		fortran := f.F08 || f.F90
		returned := f.Returns != "int" || f.Name == "MPI_Pcontrol"
		require.Equal(t, fortran && !returned, names["ierror"], "%s: ierror", f.Name)
		if fortran {
			for _, p := range f.Params {
				require.True(t, p.Kind.Fortran != "none" || p.Hidden&F08 != 0,
					"%s: %s has no type in Fortran", f.Name, p.Name)
			}
		}
	}
	for _, c := range Callbacks() {
		require.NotEmpty(t, c.Purpose, c.Name)
		for _, p := range c.Params {
			used[p.Kind.Name] = true
		}
	}
	for name := range Kinds() {
		require.True(t, used[name], "kind %s is not used", name)
	}
}

func hasParam(f *Function, name string) bool {
	for _, p := range f.Params {
		if p.Name == name {
			return true
		}
	}
	return false
}

func hasCallback(name string) bool {
	for _, c := range Callbacks() {
		if c.Name == name {
			return true
		}
	}
	return false
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		function, param string
		decl, ctype     string
		dir             Dir
		handle, pointer bool
	}{
		{"MPI_Put", "origin_addr", "const void *origin_addr", "const void *", In, false, true},
		{"MPI_Put", "target_disp", "MPI_Aint target_disp", "MPI_Aint", In, false, false},
		{"MPI_Put", "target_count", "int target_count", "int", In, false, false},
		{"MPI_Put_c", "target_count", "MPI_Count target_count", "MPI_Count", In, false, false},
		{"MPI_Put", "win", "MPI_Win win", "MPI_Win", In, true, false},
		{"MPI_Win_free", "win", "MPI_Win *win", "MPI_Win *", InOut, true, true},
		{"MPI_Win_allocate_c", "disp_unit", "MPI_Aint disp_unit", "MPI_Aint", In, false, false},
		{"MPI_Win_allocate", "baseptr", "void *baseptr", "void *", Out, false, true},
		{"MPI_Alltoallw_c", "sdispls", "const MPI_Aint sdispls[]", "const MPI_Aint *", In, false, true},
		{"MPI_Alltoallw", "sendtypes", "const MPI_Datatype sendtypes[]", "const MPI_Datatype *", In, true,
			true},
		{"MPI_Group_range_incl", "ranges", "int ranges[][3]", "int (*)[3]", In, false, true},
		{"MPI_Comm_spawn", "argv", "char *argv[]", "char **", In, false, true},
		{"MPI_Op_create_c", "user_fn", "MPI_User_function_c *user_fn", "MPI_User_function_c *", In, false,
			true},
		{"MPI_Waitall", "array_of_requests", "MPI_Request array_of_requests[]", "MPI_Request *", InOut, true,
			true},
		{"MPI_Testall", "array_of_statuses", "MPI_Status *array_of_statuses", "MPI_Status *", Out, false, true},
		{"MPI_Get_count", "status", "const MPI_Status *status", "const MPI_Status *", In, false, true},
		{"MPI_Waitany", "index", "int *indx", "int *", Out, false, true},
	} {
		f := FunctionByName(c.function)
		require.NotNil(t, f, c.function)
		var p *Param
		for _, q := range f.Params {
			if q.Name == c.param {
				p = q
			}
		}
		require.NotNil(t, p, "%s: %s", c.function, c.param)
		require.Equal(t, c.decl, p.C)
		require.Equal(t, c.ctype, p.CType())
		require.Equal(t, c.dir, p.Dir, "%s: %s", c.function, c.param)
		is, pointer := p.Handle()
		require.Equal(t, c.handle, is, "%s: %s", c.function, c.param)
		require.Equal(t, c.pointer, p.Pointer(), "%s: %s", c.function, c.param)
		if is {
			require.Equal(t, c.pointer, pointer)
		}
	}
}

func TestCanWiden(t *testing.T) {
	for name, want := range map[string]bool{
		"MPI_Put": true, "MPI_Put_c": false, "MPI_Win_allocate": true, "MPI_Win_fence": false,
		"MPI_Bcast": true, "MPI_Type_vector": true,
		"MPI_Get_count": false, "MPI_Alltoallv": false, "MPI_Win_shared_query": false, "MPI_Op_create": false,
		"MPI_Type_get_envelope": false,
	} {
		require.Equal(t, want, FunctionByName(name).CanWiden(), name)
	}
}

func TestConstants(t *testing.T) {
	byName := map[string]*Constant{}
	for _, c := range Constants() {
		require.Nil(t, byName[c.Name], "%s twice", c.Name)
		byName[c.Name] = c
		require.NotEmpty(t, c.Group, c.Name)
		require.Regexp(t, `^MPIX?_[A-Z0-9_]+$`, c.Name)
	}
	require.EqualValues(t, MPI_LONG_LONG, byName["MPI_LONG_LONG_INT"].Number())
	require.EqualValues(t, -32766, byName["MPI_UNDEFINED"].Number())
	require.EqualValues(t, 0x2eb, byName["MPI_COMPLEX32"].Number())

	// Predefined handles: no two have the same value, and all are below 0x1000, where the handles of handle.Table
	// begin.
	seen := map[int64]string{}
	for _, c := range Constants() {
		if regexp.MustCompile(`^MPI_(Op|Comm|Group|Win|File|Session|Message|Info|Errhandler|Request|Datatype)$`).MatchString(c.Type) {
			require.Empty(t, seen[c.Number()], "%s and %s are the same", c.Name, seen[c.Number()])
			seen[c.Number()] = c.Name
			require.Positive(t, c.Number())
			require.Less(t, c.Number(), int64(0x1000))
		}
	}
}

func TestErrorClasses(t *testing.T) {
	texts := map[string]string{}
	classes := 0
	for _, c := range Constants() {
		if !strings.HasPrefix(c.Name, "MPI_ERR_") && !strings.HasPrefix(c.Name, "MPI_T_ERR_") &&
			c.Name != "MPI_SUCCESS" || c.Name == "MPI_ERR_LASTCODE" {
			continue
		}
		classes++
		text := c.Text
		require.NotEmpty(t, text, c.Name)
		require.Less(t, len(text), MPI_MAX_ERROR_STRING)
		require.Empty(t, texts[text], "%s and %s have the same text", c.Name, texts[text])
		texts[text] = c.Name
	}
	require.Equal(t, 63+18, classes)
}

// TestRemoved checks the functions and constants that MPI-3.0 removed: ten functions with the prototypes of MPI-2.2,
// and three combiners that no datatype has. They must not be in the table of the ABI.
func TestRemoved(t *testing.T) {
	var prototypes []string
	for _, f := range Removed() {
		require.Nil(t, FunctionByName(f.Name), f.Name)
		require.NotNil(t, FunctionByName(f.ReplacedBy), "%s: by %s", f.Name, f.ReplacedBy)
		require.Regexp(t, `^[A-Z].*[.]$`, f.Purpose, f.Name)
		require.False(t, f.F08, f.Name)
		require.True(t, f.F90, f.Name)
		prototypes = append(prototypes, prototype(f))
	}
	require.Equal(t, []string{
		"int MPI_Address(void *location, MPI_Aint *address)",
		"int MPI_Errhandler_create(MPI_Handler_function *handler_fn, MPI_Errhandler *errhandler)",
		"int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)",
		"int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)",
		"int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)",
		"int MPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], " +
			"MPI_Datatype oldtype, MPI_Datatype *newtype)",
		"int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, " +
			"MPI_Datatype *newtype)",
		"int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *lb)",
		"int MPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], " +
			"MPI_Datatype array_of_types[], MPI_Datatype *newtype)",
		"int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub)",
	}, prototypes)
	require.Len(t, RemovedConstants(), 3)
	for _, r := range RemovedConstants() {
		require.Regexp(t, `^MPI_COMBINER_(HVECTOR|HINDEXED|STRUCT)_INTEGER$`, r.Name)
		for _, c := range Constants() {
			require.NotEqual(t, c.Name, r.Name)
			if strings.HasPrefix(c.Name, "MPI_COMBINER_") {
				require.NotEqual(t, c.Number(), r.Number(), "%s and %s are the same", c.Name, r.Name)
			}
		}
	}
}
