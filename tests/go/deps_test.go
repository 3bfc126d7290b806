package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeps checks that scripts/deps.sh reports in one line what a machine lacks. A directory in PATH simulates the
// commands of the machine; some of them are fakes.
func TestDeps(t *testing.T) {
	const apt = "exit 0"
	// `with` returns the commands that the tests need, except those for MPI and Fortran, with the changes in
	// `more`. An entry "name" adds an empty command, "name: script" a command that runs the script; "name: -"
	// removes a command.
	with := func(more ...string) map[string]string {
		has := map[string]string{"go": "echo go1.24", "gcc": "", "g++": "", "clang": "", "clang++": "",
			"clang-format": "",
			"cmake":        "", "ctest": "", "pkg-config": "", "gdb": "", "mandoc": "",
			"man": "", "zsh": "", "apt-get": apt}
		for _, m := range more {
			name, script, _ := strings.Cut(m, ": ")
			if has[name] = script; script == "-" {
				delete(has, name)
			}
		}
		return has
	}
	for _, c := range []struct {
		name, level string
		// shell script of each command in PATH, except the few commands that deps.sh itself uses
		has  map[string]string
		env  string
		want string // the only line of output; "" means success
	}{
		{"all there", "demo", map[string]string{"go": "echo go1.25.0", "gcc": "exit 0", "cmake": "exit 0"}, "",
			""},
		{"development version of Go", "build", map[string]string{"go": "echo devel go1.99-abc Tue",
			"gcc": "exit 0"}, "", ""},
		{"no Go", "build", map[string]string{"gcc": "exit 0"}, "",
			"Go 1.24 or newer is needed, but no 'go' is in PATH"},
		{"old Go", "build", map[string]string{"go": "echo go1.19.8", "gcc": "exit 0"}, "",
			"go is version 1.19.8"},
		{"another system", "build", map[string]string{"uname": "echo Plan9"}, "",
			"only Linux on x86-64 and arm64 is supported; this system is Plan9"},
		{"no apt", "demo", map[string]string{"go": "echo go1.24", "gcc": "exit 0"}, "",
			"missing: cmake (names of Debian's packages"},
		{"no C library", "build", map[string]string{"go": "echo go1.24", "gcc": "exit 1", "apt-get": apt},
			"GOMPIRMA_NO_APT=1", "missing: libc6-dev libfabric-dev libpmix-dev libucx-dev; run: " +
				"sudo apt-get install -y --no-install-recommends libc6-dev libfabric-dev libpmix-dev " +
				"libucx-dev"},
		{"no compiler", "build", map[string]string{"go": "echo go1.24", "apt-get": apt}, "GOMPIRMA_NO_APT=1",
			"missing: gcc libc6-dev libfabric-dev libpmix-dev libucx-dev; run: sudo apt-get install -y " +
				"--no-install-recommends gcc libc6-dev libfabric-dev libpmix-dev libucx-dev"},
		{"no headers of MPICH", "test", with("mpiexec.mpich", "mpicc.mpich: exit 1", "gfortran",
			"mpirun.openmpi", "ip"),
			"GOMPIRMA_NO_APT=1", "missing: libmpich-dev; run: "},
		{"no headers of Open MPI", "bench", with("mpiexec.mpich", "mpicc.mpich", "gfortran", "valgrind",
			"mpirun.openmpi", "mpicc.openmpi: exit 1", "ip"), "GOMPIRMA_NO_APT=1",
			"missing: libopenmpi-dev; run: "},
		{"no MPI", "bench", with("gfortran", "valgrind", "ip"), "GOMPIRMA_NO_APT=1",
			"missing: libmpich-dev libopenmpi-dev mpich openmpi-bin; run: "},
		{"nothing for a bare root", "fresh", map[string]string{"go": "echo go1.24", "gcc": "", "apt-get": apt},
			"GOMPIRMA_NO_APT=1",
			"missing: git mmdebstrap util-linux; run: "},
		{"no browser", "browser", map[string]string{"go": "echo go1.24", "gcc": "", "apt-get": apt},
			"GOMPIRMA_NO_APT=1", "missing: chromium; run: "},
		{"no root", "ref", map[string]string{"go": "echo go1.24", "gcc": "exit 0", "apt-get": apt,
			"id": "echo 1000", "sudo": "exit 1"}, "",
			"run: sudo apt-get install -y --no-install-recommends clang clang-format cmake g++ " +
				"gdb-minimal gfortran iproute2 libmpich-dev man-db mandoc mpich openmpi-bin " +
				"pkg-config zsh"},
		{"no Fortran", "test", with("mpiexec.mpich", "mpicc.mpich", "mpirun.openmpi", "ip", "id: echo 1000",
			"sudo: exit 1"), "",
			"the Fortran bindings are not built; missing: gfortran; run: sudo apt-get install -y " +
				"--no-install-recommends gfortran"},
		{"no Fortran and no apt", "test", with("mpiexec.mpich", "mpicc.mpich", "mpirun.openmpi",
			"ip", "apt-get: -"), "",
			"the Fortran bindings are not built; missing: gfortran (names of Debian's packages"},
		{"apt fails", "demo", map[string]string{"go": "echo go1.24", "gcc": "exit 0", "apt-get": "exit 1",
			"id": "echo 0"}, "",
			"apt-get could not install the missing packages; run: sudo apt-get install"},
		{"apt works", "demo", map[string]string{"go": "echo go1.24", "gcc": "exit 0", "apt-get": "exit 0",
			"id": "echo 0"}, "", "installing cmake"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin := t.TempDir()
			for _, name := range strings.Fields("sh env dirname sed sort head tail tr mktemp rm uname id") {
				path, err := exec.LookPath(name)
				require.NoError(t, err)
				require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
			}
			for name, script := range c.has {
				_ = os.Remove(filepath.Join(bin, name))
				require.NoError(t, os.WriteFile(filepath.Join(bin, name),
					[]byte("#!/bin/sh\n"+script+"\n"), 0o755))
			}
			cmd := exec.Command(filepath.Join(top, "scripts/deps.sh"), c.level)
			cmd.Env = []string{"PATH=" + bin, c.env}
			out, err := cmd.CombinedOutput()
			if c.want == "" {
				require.NoError(t, err, "%s", out)
				require.Empty(t, string(out))
				return
			}
			require.Equal(t, c.name == "apt works" || strings.HasPrefix(c.name, "no Fortran"), err == nil,
				"%s", out)
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			require.Contains(t, lines[len(lines)-1], c.want)
			require.True(t, strings.HasPrefix(lines[len(lines)-1], "gompirma: "), lines)
			if c.name != "apt fails" {
				require.Len(t, lines, 1, "%s", out)
			}
		})
	}
}

// TestDepsOfTests checks that deps.sh looks for every command without which a test skips itself. So the user learns
// which packages to install to run all tests.
func TestDepsOfTests(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(top, "scripts/deps.sh"))
	require.NoError(t, err)
	needs := regexp.MustCompile(`NeedCommand\(t, "([^"]+)"\)`)
	found := 0
	eachTextFile(t, func(path, content string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, m := range needs.FindAllStringSubmatch(content, -1) {
			found++
			if m[1] != "make" { // make itself runs the tests
				require.Regexp(t, `(?m)^\s*(need|have) .*\b`+regexp.QuoteMeta(m[1])+`(\s|$)`,
					string(script), "%s needs %s", path, m[1])
			}
		}
	})
	require.Greater(t, found, 10)
}
