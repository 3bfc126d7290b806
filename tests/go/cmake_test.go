package gotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// pathWithout makes a directory with links to all commands in PATH except those whose names match the regular
// expression `names`. It returns a PATH=... string for this directory.
func pathWithout(t *testing.T, names string) string {
	bin, refused := t.TempDir(), regexp.MustCompile(names)
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		commands, _ := os.ReadDir(folder)
		for _, c := range commands {
			if !refused.MatchString(c.Name()) {
				// ignores the error if an earlier directory of PATH has the command
				_ = os.Symlink(filepath.Join(folder, c.Name()), filepath.Join(bin, c.Name()))
			}
		}
	}
	return "PATH=" + bin
}

// TestCMakeFindsNewCompilers checks that CMake finds a compiler that is installed after the build directory was made,
// although CMake's cache says that no compiler exists. It also checks that `make demo` needs neither Fortran nor C++.
func TestCMakeFindsNewCompilers(t *testing.T) {
	t.Parallel()
	harness.NeedCommand(t, "cmake")
	harness.NeedCommand(t, "g++")
	harness.NeedCommand(t, "gfortran")
	build := t.TempDir()
	ofOthers := []string{"abi/header_cxx", "fortran/rma.f08.n2"}
	for _, c := range []struct {
		env     []string
		leftOut bool
	}{
		{[]string{pathWithout(t, `(gfortran|f77|f9[05]|g\+\+|c\+\+|clang\+\+|flang)`)}, true},
		{nil, false},
	} {
		out := command(t, top, c.env, "cmake", "-S", ".", "-B", build)
		tests := command(t, build, nil, "ctest", "-N")
		for _, name := range ofOthers {
			require.Equal(t, c.leftOut, !strings.Contains(tests, name), "%s\n%s", name, out)
		}
		require.Equal(t, map[bool]int{true: len(ofOthers)}[c.leftOut], strings.Count(out, "-- left out: "), out)
	}
}
