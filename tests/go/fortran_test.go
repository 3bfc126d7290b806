package gotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/tests/go/harness"
)

// needFortran returns the path of the bindings' library in build/. It skips the test if gfortran is not installed.
func needFortran(t *testing.T) string {
	t.Helper()
	library := filepath.Join(built(t), "lib/libgompirma_fortran.so")
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("gfortran is not installed")
	}
	require.FileExists(t, library)
	return library
}

// TestWithoutFortran checks a build without a suitable Fortran compiler. The build script must report in one line what
// it omits, must succeed, and must leave no Fortran files in the prefix.
func TestWithoutFortran(t *testing.T) {
	old := filepath.Join(t.TempDir(), "gfortran")
	script := "#!/bin/sh\ncase $1 in -dumpversion) echo 11 ;; *) echo 'GNU Fortran (Debian) 11.3.0' ;; esac\n"
	require.NoError(t, os.WriteFile(old, []byte(script), 0o755))
	for _, c := range []struct{ name, fc, cc, want string }{
		{"no compiler", "/nonexistent/gfortran", "gcc",
			"gompirma: the Fortran bindings are not built: no Fortran compiler (/nonexistent/gfortran); " +
				"Debian's package is gfortran\n"},
		{"an old compiler", old, "gcc", "gompirma: the Fortran bindings are not built: " + old +
			" is older than version 12\n"},
		{"no header", "echo", "false",
			"gompirma: the Fortran bindings are not built: false does not find ISO_Fortran_binding.h " +
				"of echo\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := t.TempDir()
			// files that an earlier build with Fortran has left
			for _, name := range []string{"lib/libgompirma_fortran.so.0.1.0", "include/mpif.h",
				"lib/gompirma/fortran/mpi.mod", "lib/pkgconfig/gompirma-fortran.pc",
				"lib/libgompirma_fortran_i8.so.0.1.0", "lib/gompirma/fortran/i8/mpi.mod",
				"lib/pkgconfig/gompirma-fortran-i8.pc"} {
				path := filepath.Join(out, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, nil, 0o644))
			}
			cmd := exec.Command("scripts/fortran.sh", out, "0.1.0")
			cmd.Dir = top
			cmd.Env = append(os.Environ(), "FC="+c.fc, "CC="+c.cc)
			said := harness.Output(t, cmd)
			require.Equal(t, c.want, said)
			require.NoError(t, filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
				require.False(t, err == nil && !d.IsDir(), "the build has left %s", path)
				return err
			}))
		})
	}
}

// TestFortranNeedsTheABIAlone checks that the Fortran bindings for any MPI library use only the C ABI. The undefined
// symbols of their library are MPI_X and PMPI_X or belong to the C library, and the library exports only the names of
// the bindings. The bindings for gompirma also use and export the functions of core/abi/table/extensions.txt.
func TestFortranNeedsTheABIAlone(t *testing.T) {
	var extensions []string
	for _, f := range abi.Extensions() {
		extensions = append(extensions, f.Name)
	}
	require.NotEmpty(t, extensions)
	names := "(" + strings.Join(extensions, "|") + ")"
	library := needFortran(t)
	for _, suffix := range []string{"", "_i8"} {
		needsTheABIAlone(t, filepath.Join(filepath.Dir(library), "gompirma/abi/libmpifort_abi"+suffix+".so"),
			"^P?MPI_", "^p?mpi_")
		needsTheABIAlone(t, strings.Replace(library, "fortran.so", "fortran"+suffix+".so", 1),
			"^(P?MPI_|"+names+"$)", "^(p?mpi_|"+strings.ToLower(names)+"(_f08)?_$)")
	}
}

// needsTheABIAlone checks the undefined symbols of a library, and the exported ones except those of modules.
func needsTheABIAlone(t *testing.T, library, undefined, exported string) {
	out, err := exec.Command("nm", "-D", "--undefined-only", library).Output()
	require.NoError(t, err)
	for _, line := range strings.Split(string(out), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.Contains(line, "@GLIBC") || fields[0] == "w" {
			continue
		}
		require.Regexp(t, undefined, fields[1])
	}
	out, err = exec.Command("nm", "-D", "--defined-only", library).Output()
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		require.Regexp(t, exported+"|^(gompi_f(08)?_|MPI_F(08)?_STATUS|__(gompi|mpi)_?[a-z0-9_]*_MOD_)",
			fields[2])
	}
}

// TestFortranFlags checks that the examples give correct results with common compiler options. It also checks that they
// do not compile with the modules and mpif.h for the other size of INTEGER.
func TestFortranFlags(t *testing.T) {
	t.Parallel()
	needFortran(t)
	bin := filepath.Join(built(t), "bin")
	const asSerial = "largest difference from the serial solution: " // the status line includes its size
	examples := map[string]string{"heat_f08.f90": asSerial, "counter_mpi.f90": "\nas counted serially",
		"stencil_f77.f":      asSerial,
		"matmul_coarray.f90": "\n0 wrong elements"}
	for _, flags := range []string{
		"-O0", "-O3 -flto", "-Ofast -march=native -fopenmp", "-fcheck=all -finit-integer=-77 -finit-real=snan",
		"-std=f2018 -Wall -Wextra -Wimplicit-procedure -Werror",
		"-std=legacy -frecursive -fstack-arrays -static-libgfortran",
		"-g -fsanitize=address,undefined -fno-sanitize-recover",
		"-O2 -fdefault-integer-8",
	} {
		t.Run(flags, func(t *testing.T) {
			for name, want := range examples {
				if strings.Contains(flags, "-std=f2018") && name == "stencil_f77.f" {
					continue // not valid Fortran 2018: its DO loops end at labels
				}
				program := filepath.Join(t.TempDir(), "program")
				args := append(strings.Fields(flags), "-o", program,
					filepath.Join(top, "fortran/examples", name))
				runTool(t, "gompifort", args...)
				cmd := exec.Command(filepath.Join(bin, "gompirun"), "--timeout", "60", "-n", "3",
					program)
				// the leak checker would report objects of the library that live as long as the process
				cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
				cmd.Dir = t.TempDir()
				require.Contains(t, harness.Output(t, cmd), want, name)
			}
		})
	}
	// Call gfortran directly, with the modules and mpif.h for the other size of INTEGER.
	for name := range examples {
		for option, dirs := range map[string][]string{
			"-fdefault-integer-8":    {"include", "lib/gompirma/fortran"},
			"-fno-default-integer-8": {"lib/gompirma/fortran/i8", "lib/gompirma/fortran/i8"},
		} {
			cmd := exec.Command("gfortran", option, "-I"+filepath.Join(built(t), dirs[0]),
				"-I"+filepath.Join(built(t), dirs[1]), "-c",
				"-o", filepath.Join(t.TempDir(), "program.o"),
				filepath.Join(top, "fortran/examples", name))
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s with %s", name, option)
			require.Regexp(t, "mpif.h:6:.*\n*.*Division by zero|INTEGER\\(8\\)|no specific subroutine",
				string(out), name)
		}
	}
}

// TestFortranOldSources checks that gompifort compiles old code that gfortran rejects by default, as the compiler
// wrappers of other MPI libraries do. Such code passes buffers of several types to one procedure, or has BOZ constants
// in DATA statements.
func TestFortranOldSources(t *testing.T) {
	needFortran(t)
	source := filepath.Join(t.TempDir(), "old.f")
	require.NoError(t, os.WriteFile(source, []byte(`
      REAL X
      INTEGER I, IERR
      DATA X /Z'3F800000'/
      CALL MPI_SEND(X, 1, 10, 0, 0, 0, IERR)
      CALL MPI_SEND(I, 1, 10, 0, 0, 0, IERR)
      END
`), 0o666))
	out, err := exec.Command(filepath.Join(built(t), "bin/gompifort"), "-w", "-c", source, "-o", source+".o").
		CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestFortranMixedIntegers checks that a program that was compiled for one size of INTEGER and linked for the other
// size fails with an error that names the cause, at link time or when it runs.
func TestFortranMixedIntegers(t *testing.T) {
	needFortran(t)
	bin := filepath.Join(built(t), "bin")
	for _, c := range []struct{ source, compiled, linked, fails string }{
		{"stencil_f77.f", "-fdefault-integer-8", "", "parts with INTEGERs of 8 bytes"},
		{"stencil_f77.f", "-fdefault-integer-8", "-lgompirma_fortran", "FLIBS"},
		{"stencil_f77.f", "", "-fdefault-integer-8", "parts with INTEGERs of 4 bytes"},
		{"counter_mpi.f90", "-fdefault-integer-8", "", "undefined reference to `mpi_init_i8_'"},
		{"heat_f08.f90", "-fdefault-integer-8", "", "undefined reference to `mpi_init_i8_f08_'"},
		{"heat_f08.f90", "-fdefault-integer-8", "-fdefault-integer-8", ""},
		// These cases link as autoconf's FLIBS and libtool do.
		{"stencil_f77.f", "-fdefault-integer-8", "-fdefault-integer-8 -lgompirma_fortran", ""},
		{"stencil_f77.f", "-fdefault-integer-8", "-lgompirma_fortran_i8", ""},
		{"stencil_f77.f", "-fdefault-integer-8", "--abi -fdefault-integer-8 -lmpifort_abi", ""},
	} {
		name := fmt.Sprintf("%s compiled with %q, linked with %q", c.source, c.compiled, c.linked)
		dir := t.TempDir()
		object, program := filepath.Join(dir, "program.o"), filepath.Join(dir, "program")
		args := append(strings.Fields(c.compiled), "-c", "-J", dir, "-o", object,
			filepath.Join(top, "fortran/examples", c.source))
		runTool(t, "gompifort", args...)
		args = append(strings.Fields(c.linked), "-o", program, object)
		out, err := exec.Command(filepath.Join(bin, "gompifort"), args...).CombinedOutput()
		if err == nil {
			cmd := exec.Command(filepath.Join(bin, "gompirun"), "--timeout", "60", "-n", "2", program)
			cmd.Dir = dir
			out, err = cmd.CombinedOutput()
		}
		if c.fails == "" {
			require.NoError(t, err, "%s: %s", name, out)
			continue
		}
		require.Error(t, err, name)
		require.Contains(t, string(out), c.fails, name)
	}
}

// TestFortranProfiling checks that a profiling library in C sees the calls of programs in Fortran if it is preloaded,
// or linked as the manual page of MPI_Pcontrol says.
func TestFortranProfiling(t *testing.T) {
	needFortran(t)
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(in("tool.c"), []byte(`#include <mpi.h>
#include <stdio.h>
static int barriers;
int MPI_Barrier(MPI_Comm comm) {
	barriers++;
	return PMPI_Barrier(comm);
}
int MPI_Finalize(void) {
	printf("barriers: %d\n", barriers);
	return PMPI_Finalize();
}
`), 0o644))
	runTool(t, "gompicc", "-fPIC", "-c", "-o", in("tool.o"), in("tool.c"))
	runTool(t, "gompicc", "-shared", "-o", in("libtool.so"), in("tool.o"))
	harness.Output(t, exec.Command("ar", "rc", in("libtool.a"), in("tool.o")))
	for _, interfaces := range []string{"use mpi_f08", "use mpi", "include 'mpif.h'"} {
		source := "program p\n" + interfaces + "\ninteger :: ierror\ncall MPI_Init(ierror)\n" +
			"call MPI_Barrier(MPI_COMM_WORLD, ierror)\ncall MPI_Finalize(ierror)\nend program\n"
		require.NoError(t, os.WriteFile(in("program.f90"), []byte(source), 0o644))
		for _, c := range []struct{ link, run []string }{
			{nil, []string{"-x", "LD_PRELOAD=" + in("libtool.so")}},
			{[]string{"-Wl,--no-as-needed", "-L" + dir, "-ltool", "-Wl,-rpath," + dir}, nil},
			{[]string{"-Wl,--whole-archive", in("libtool.a"), "-Wl,--no-whole-archive"}, nil},
		} {
			runTool(t, "gompifort", append([]string{"-o", in("program"), in("program.f90")}, c.link...)...)
			out := runTool(t, "gompirun", append(append([]string{"-n", "1"}, c.run...), in("program"))...)
			require.Equal(t, "barriers: 1\n", out, "%s, linked with %q", interfaces, c.link)
		}
	}
}
