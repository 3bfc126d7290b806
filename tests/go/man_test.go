package gotest

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/tests/go/harness"
)

// manualPages returns the paths of all manual pages of the build.
func manualPages(t *testing.T) []string {
	pages, err := filepath.Glob(filepath.Join(built(t), "share/man/man*/*"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 600)
	return pages
}

// TestManFunctions checks that section 3 of the manual has a page for each function that the library exports, and for
// each function that the header defines.
func TestManFunctions(t *testing.T) {
	library, err := elf.Open(filepath.Join(built(t), "lib/libgompirma.so"))
	require.NoError(t, err)
	defer library.Close()
	symbols, err := library.DynamicSymbols()
	require.NoError(t, err)
	var functions []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && strings.HasPrefix(s.Name, "MPI") {
			functions = append(functions, s.Name)
		}
	}
	require.Greater(t, len(functions), 600)
	for _, f := range abi.Removed() {
		functions = append(functions, f.Name)
	}
	for _, c := range abi.FortranConversions() {
		functions = append(functions, c.Name)
	}
	for _, name := range functions {
		page, err := os.ReadFile(filepath.Join(built(t), "share/man/man3", name+".3"))
		require.NoError(t, err, "%s has no page: add it to a file in man/text", name)
		_, names, _ := strings.Cut(string(page), "\n.SH NAME\n")
		names, _, _ = strings.Cut(names, ".SH")
		require.Regexp(t, `\b`+name+`\b`, names)
	}
}

// TestManLint checks all manual pages with mandoc.
func TestManLint(t *testing.T) {
	harness.NeedCommand(t, "mandoc")
	out, err := exec.Command("mandoc", append([]string{"-Tlint"}, manualPages(t)...)...).Output()
	messages := strings.Split(strings.TrimSpace(string(out)), "\n")
	messages = slices.DeleteFunc(messages, func(m string) bool {
		return m == "" || strings.Contains(m, "STYLE: lower case character in document title")
	})
	require.Empty(t, messages)
	if _, failed := err.(*exec.ExitError); err != nil {
		require.True(t, failed, err) // mandoc fails because of the messages about titles
	}
}

var mpiName = regexp.MustCompile(`\bP?MPIX?_\w+`)

// TestManNames checks that the pages name only functions, constants and types that exist.
func TestManNames(t *testing.T) {
	exist := map[string]bool{}
	var all strings.Builder
	for _, name := range []string{"include/mpi_rma.h", "include/mpix_gompirma.h", "fortran/generated/mpi_f08.F90",
		"fortran/generated/constants.F90", "fortran/generated/mpi.F90"} {
		content, err := os.ReadFile(filepath.Join(top, name))
		require.NoError(t, err)
		for _, word := range mpiName.FindAllString(string(content), -1) {
			exist[word] = true
			all.WriteString(word + "\n")
		}
	}
	for _, page := range manualPages(t) {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, word := range mpiName.FindAllString(strings.ReplaceAll(string(content), `\-`, "-"), -1) {
			if !exist[word] && word != "MPI_LOCALRANKID" && word != "MPI_LOCALNRANKS" {
				require.True(t, strings.HasSuffix(word, "_") && strings.Contains(all.String(), word),
					"%s: %s does not exist", page, word)
			}
		}
	}
}

// TestManExamples compiles and runs the examples of the manual.
func TestManExamples(t *testing.T) {
	t.Parallel()
	build, dir := built(t), t.TempDir()
	compilers := map[string][]string{".c": {"gompicc", "-Wextra"}, ".f90": {"gompifort", "-J", dir}}
	if _, err := os.Stat(filepath.Join(build, "bin/gompifort")); err != nil {
		t.Log("without the examples in Fortran, because its bindings are not built")
		delete(compilers, ".f90")
	}
	var examples []string
	for suffix := range compilers {
		found, err := filepath.Glob(filepath.Join(top, "man/examples/*"+suffix))
		require.NoError(t, err)
		examples = append(examples, found...)
	}
	require.Greater(t, len(examples), 80)
	var wait sync.WaitGroup
	limit := make(chan bool, runtime.NumCPU())
	for _, path := range examples {
		compiler := compilers[filepath.Ext(path)]
		wait.Add(1)
		go func() {
			defer wait.Done()
			limit <- true
			defer func() { <-limit }()
			program := filepath.Join(dir, filepath.Base(path)+".exe")
			args := append(compiler[1:len(compiler):len(compiler)], "-Wall", "-Werror", path, "-o", program)
			out, err := exec.Command(filepath.Join(build, "bin", compiler[0]), args...).CombinedOutput()
			if err == nil {
				cmd := exec.Command(filepath.Join(build, "bin/gompirun"), "--timeout", "60", "-n",
					"4", program)
				cmd.Dir = dir
				out, err = cmd.CombinedOutput()
			}
			if err != nil || len(out) == 0 {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
		}()
	}
	wait.Wait()
}

// TestManInstalled checks that man finds the pages of an installation.
func TestManInstalled(t *testing.T) {
	harness.NeedCommand(t, "man")
	t.Parallel()
	prefix := filepath.Join(t.TempDir(), "prefix")
	command(t, top, nil, "scripts/install.sh", "install", built(t), prefix)
	for _, page := range []string{"MPI_Put", "MPI_Put_c", "MPI_Iallreduce", "gompirun", "gompicc_abi", "gompirma"} {
		out := command(t, top, []string{"MANWIDTH=100", "LC_ALL=C"}, "man", "-M",
			filepath.Join(prefix, "share/man"), page)
		require.Contains(t, out, page)
		require.Contains(t, out, "SEE ALSO")
	}
}
