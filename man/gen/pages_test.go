package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

func TestMerged(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"`a` is NULL.", "`b` is NULL.", "`a` or `b` is NULL."},
		{"`a` or `b` is NULL.", "`c` is NULL.", "`a`, `b` or `c` is NULL."},
		{"`a` is NULL.", "`a` is NULL.", "`a` is NULL."},
		{"`a` is wrong.", "An element of `b` is wrong.", "`a` or an element of `b` is wrong."},
		{"`a` is NULL.", "`b` is negative.", "`a` is NULL. `b` is negative."},
	} {
		require.Equal(t, c.want, merged(c.a, c.b))
	}
}

const source = `# A comment.
define order: In the order
  of the calls.

## Family
example: first
arg comm: The family's text.

== MPI_Send MPI_Recv

send or receive

A paragraph of
two lines.

- one
- two
use: order

    verbatim

    text
waits: Local.
err MPI_ERR_TAG: Text
  of an error.
noerr: MPI_ERR_RANK MPI_ERR_COMM
example: second
`

func TestParsePages(t *testing.T) {
	list, err := parsePages("file", source, nil)
	require.NoError(t, err)
	require.Len(t, list, 1)
	p := list[0]
	require.Equal(t, []string{"MPI_Send", "MPI_Recv"}, p.names)
	require.Equal(t, "send or receive", p.summary)
	require.Equal(t, []string{"A paragraph of two lines.", "- one\n- two", "In the order of the calls.",
		"    verbatim\n    \n    text"}, p.body)
	require.Equal(t, "Local.", p.waits)
	require.Equal(t, []entry{{"MPI_ERR_TAG", "Text of an error."}}, p.errs)
	require.Equal(t, []string{"MPI_ERR_RANK", "MPI_ERR_COMM"}, p.noErrs)
	require.Equal(t, "second", p.example)
	require.Equal(t, "first", p.family.example)
	require.Equal(t, map[string]string{"comm": "The family's text."}, p.family.args)

	for _, wrong := range []string{"== MPI_Send\n\nno family\n", "text outside of a page\n",
		"## Family\n\n== MPI_Send\n\nsummary\n\nuse: missing\n"} {
		_, err := parsePages("file", wrong, nil)
		require.Error(t, err, wrong)
	}
}

func TestLimits(t *testing.T) {
	p := &page{names: []string{"MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init"}}
	require.Equal(t, "", p.limits(p.all()))
	require.Equal(t, " Only in MPI_Allreduce_init.", p.limits([]string{"MPI_Allreduce_init",
		"MPI_Allreduce_init_c"}))
	require.Equal(t, " Not in MPI_Allreduce.", p.limits([]string{"MPI_Iallreduce", "MPI_Iallreduce_c",
		"MPI_Allreduce_init", "MPI_Allreduce_init_c"}))
}

func TestHandler(t *testing.T) {
	for name, want := range map[string]string{
		"MPI_Put":                    "of the window `win`",
		"MPI_Win_create":             "of the communicator `comm`",
		"MPI_Wait":                   "of the communicator, window or file of the request",
		"MPI_File_open":              "of MPI_FILE_NULL",
		"MPI_File_delete":            "of MPI_FILE_NULL",
		"MPI_File_read":              "of the file `fh`",
		"MPI_Session_init":           "`errhandler`",
		"MPI_Comm_create_from_group": "`errhandler`",
		"MPI_Errhandler_free":        "of MPI_COMM_SELF",
		"MPI_Type_commit":            "of MPI_COMM_SELF",
	} {
		require.Equal(t, want, handler(abi.FunctionByName(name)), name)
	}
}

// TestSections checks that each page has the usual sections, and the Fortran prototype of each of its functions that
// Fortran has.
func TestSections(t *testing.T) {
	f08, f90, err := readProcedures("../..")
	require.NoError(t, err)
	files, _, err := functionPages("../..", "2000-01-01")
	require.NoError(t, err)
	list, err := readPages("../..")
	require.NoError(t, err)
	for _, p := range list {
		page := string(files["man/man3/"+p.names[0]+".3"])
		for _, section := range []string{"SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "EXAMPLE", "SEE ALSO"} {
			require.Contains(t, page, "\n.SH "+section, p.names[0])
		}
		for _, name := range p.names {
			for _, module := range []map[string]*procedure{f08, f90} {
				if module[name] != nil {
					require.Regexp(t, `(CALL|FUNCTION) `+name+`\(`, page)
				}
			}
		}
	}
	for _, name := range []string{"MPI_Put", "MPIX_Comm_agree"} {
		require.NotNil(t, f08[name])
		require.NotNil(t, f90[name])
	}
	require.NotNil(t, f90["MPI_Type_struct"])
}
