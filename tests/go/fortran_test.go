package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without a Fortran compiler that fits, one line says what is left out, the script succeeds, and nothing of Fortran is in the prefix.
func TestFortranLeftOut(t *testing.T) {
	old := filepath.Join(t.TempDir(), "gfortran")
	require.NoError(t, os.WriteFile(old, []byte("#!/bin/sh\ncase $1 in -dumpversion) echo 11 ;; *) echo 'GNU Fortran (Debian) 11.3.0' ;; esac\n"), 0o755))
	for _, c := range []struct{ name, fc, cc, want string }{
		{"no compiler", "/nonexistent/gfortran", "gcc", "gompirma: Fortran is left out: no Fortran compiler (/nonexistent/gfortran); Debian's package is gfortran\n"},
		{"an old compiler", old, "gcc", "gompirma: Fortran is left out: " + old + " is older than version 12\n"},
		{"no header", "echo", "false", "gompirma: Fortran is left out: false does not find ISO_Fortran_binding.h of echo\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := t.TempDir()
			for _, name := range []string{"lib/libgompirma_fortran.so.0.1.0", "include/mpif.h", "lib/gompirma/fortran/mpi.mod", "lib/pkgconfig/gompirma-fortran.pc"} { // of an earlier build
				path := filepath.Join(out, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, nil, 0o644))
			}
			cmd := exec.Command("scripts/fortran.sh", out, "0.1.0")
			cmd.Dir = top
			cmd.Env = append(os.Environ(), "FC="+c.fc, "CC="+c.cc)
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", said)
			require.Equal(t, c.want, string(said))
			require.NoError(t, filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
				require.False(t, err == nil && !d.IsDir(), "%s is left", path)
				return err
			}))
		})
	}
}

// The bindings are written on the C ABI alone: their library needs nothing but libgompirma by its public names, the C library and threads.
func TestFortranNeedsTheABIAlone(t *testing.T) {
	library := filepath.Join(built(t), "lib/libgompirma_fortran.so")
	if _, err := os.Stat(library); err != nil {
		t.Skip("Fortran is left out")
	}
	out, err := exec.Command("nm", "-D", "--undefined-only", library).Output()
	require.NoError(t, err)
	for _, line := range strings.Split(string(out), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.Contains(line, "@GLIBC") || fields[0] == "w" {
			continue
		}
		require.Regexp(t, "^P?MPI_", fields[1])
	}
	out, err = exec.Command("nm", "-D", "--defined-only", library).Output()
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		require.Regexp(t, "^(p?mpi_|gompi_f_|MPI_F(08)?_STATUS|__(gompi|mpi)_?[a-z0-9_]*_MOD_)", fields[2])
	}
}
