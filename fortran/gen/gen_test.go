package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/abi/genfile"
)

// TestFresh fails if a generated file differs from the generator's output.
func TestFresh(t *testing.T) {
	require.NoError(t, generator.Check())
}

// TestByHand checks that fortran/*.c defines exactly the functions in byHand.
func TestByHand(t *testing.T) {
	root, err := genfile.Root()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "fortran", "*.c"))
	require.NoError(t, err)
	var text string
	for _, name := range files {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		text += string(content)
	}
	for name := range byHand {
		if f := abi.FunctionByName("MPI_" + strings.ToUpper(name[:1]) + name[1:]); f == nil {
			require.Contains(t, []string{"f_sync_reg", "sizeof", "status_f2f08", "status_f082f"}, name)
		}
		for _, part := range []string{"create_errhandler", "create_keyval", "get_attr",
			"set_attr"} { // defined by macros
			if strings.HasSuffix(name, part) {
				name = "type##_" + part
			}
		}
		if strings.HasPrefix(name, "register_datarep") {
			continue
		}
		require.Regexp(t, `NAME\(`+name+`(_f08|_f08ts)?\)`, text)
	}
	for _, name := range extensionsByHand {
		require.Contains(t, text, "EXTENSION("+name+")")
	}
	for _, f := range abi.Removed() {
		require.Regexp(t, `NAME\(`+base(f)+`\)`, text)
	}
}

func TestRoles(t *testing.T) {
	for name, want := range map[string]string{
		"MPI_Put origin_addr":              "0 origin_count origin_datatype",
		"MPI_Get_accumulate result_addr":   "0 result_count result_datatype",
		"MPI_Sendrecv recvbuf":             "0 recvcount recvtype",
		"MPI_Gather sendbuf":               "0 sendcount sendtype",
		"MPI_Gather recvbuf":               "1",
		"MPI_Iscatterv sendbuf":            "1",
		"MPI_Iscatterv recvbuf":            "0 recvcount recvtype",
		"MPI_Reduce_scatter_block sendbuf": "1",
		"MPI_Allreduce recvbuf":            "1",
		"MPI_Bcast buffer":                 "0 count datatype",
		"MPI_Pack inbuf":                   "0 incount datatype",
		"MPI_Pack outbuf":                  "1",
		"MPI_Unpack_external_c outbuf":     "0 outcount datatype",
		"MPI_Win_create base":              "2",
		"MPI_File_read_all_end buf":        "3",
		"MPI_Get_address location":         "3",
		"MPI_Fetch_and_op origin_addr":     "4 datatype",
		"MPI_Psend_init buf":               "5 count datatype",
	} {
		function, param, _ := strings.Cut(name, " ")
		f := abi.FunctionByName(function)
		for _, p := range f.Params {
			if p.Name != param {
				continue
			}
			role, count, datatype := roleOf(f, p)
			got := string(rune('0' + role))
			for _, q := range []*abi.Param{count, datatype} {
				if q != nil {
					got += " " + q.Name
				}
			}
			require.Equal(t, want, got, name)
		}
	}
}

// TestAmbiguous checks which large-count forms have separate names in mpi_f08, because Fortran cannot distinguish them
// from the small-count forms.
func TestAmbiguous(t *testing.T) {
	var names []string
	for _, f := range abi.Functions() {
		if f.Large && f.F08 && ambiguous(f, 4) {
			names = append(names, f.Name)
		}
	}
	require.ElementsMatch(t, []string{"MPI_Op_create_c", "MPI_Register_datarep_c", "MPI_Type_create_resized_c",
		"MPI_Type_get_extent_c",
		"MPI_Type_get_true_extent_c", "MPI_File_get_type_extent_c"}, names)
}

// TestAmbiguousEight checks that with INTEGERs of 8 bytes a large-count form has the generic name only if it has at
// least two arguments more than the small-count form.
func TestAmbiguousEight(t *testing.T) {
	var names []string
	for _, f := range abi.Functions() {
		if f.Large && f.F08 && !ambiguous(f, 8) {
			names = append(names, f.Name)
		}
	}
	require.ElementsMatch(t, []string{"MPI_Type_get_contents_c"}, names)
}

// TestWide checks that no generated conversion of an INTEGER to an int can lose bits. Either the code checks the value,
// or it calls the large-count form if the value does not fit, or the value comes from an int.
func TestWide(t *testing.T) {
	for _, content := range shims() {
		text := string(content)
		for _, function := range strings.Split(text, "\nENTRY ")[1:] {
			if strings.Contains(function, "NAME(pcontrol)") { // has no ierror; the library ignores `level`
				continue
			}
			for _, m := range regexp.MustCompile(`\(int\)\*(\w+)`).FindAllStringSubmatch(function, -1) {
				require.Regexp(t,
					`fits\("\w+",\s+"`+m[1]+`"|wide\(\*`+m[1]+`\)|wide\(s_\w+\.count\)|if \(EIGHT\)`,
					function)
			}
		}
	}
}

func TestLines(t *testing.T) {
	files, err := generate("")
	require.NoError(t, err)
	for path, content := range files {
		for i, line := range strings.Split(string(content), "\n") {
			switch {
			case strings.HasSuffix(path, "mpif.h"):
				require.LessOrEqual(t, len(line), 132, "%s:%d", path, i+1)
				if !strings.HasPrefix(line, "!") {
					require.LessOrEqual(t, len(line), 72, "%s:%d: fixed form", path, i+1)
				}
			case strings.HasSuffix(path, ".F90"):
				require.LessOrEqual(t, len(line), 132, "%s:%d", path, i+1)
			}
			require.Equal(t, strings.TrimRight(line, " \t"), line, "%s:%d", path, i+1)
		}
	}
}
