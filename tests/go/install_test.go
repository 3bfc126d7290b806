package gotest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// ringProgram is a program that uses a window in a ring of ranks. It is valid in C and in C++.
const ringProgram = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size;
    long *mine, me;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    me = rank;
    MPI_Win_fence(0, win);
    MPI_Put(&me, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    printf("rank %d of %d got %ld\n", rank, size, *mine);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
`

// command runs a program with additional environment, fails the test if the program fails, and returns its output.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	return harness.Output(t, cmd)
}

// TestInstall checks an installation that was moved to another directory: its files, all ways to build and run programs
// with it, and its removal.
func TestInstall(t *testing.T) {
	t.Parallel()
	build := built(t)
	dir := t.TempDir()
	first, prefix := filepath.Join(dir, "first"), filepath.Join(dir, "moved")
	command(t, top, nil, "scripts/install.sh", "install", build, first)
	require.NoError(t, os.Rename(first, prefix))
	bin, usual := filepath.Join(prefix, "bin"), filepath.Join(prefix, "libexec/gompirma/bin")
	write := func(t *testing.T, name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	runs := func(t *testing.T, env []string, program string) {
		t.Helper()
		out := command(t, dir, env, filepath.Join(bin, "gompirun"), "-n", "2", program)
		require.Contains(t, out, "rank 0 of 2 got 1\n")
		require.Contains(t, out, "rank 1 of 2 got 0\n")
	}

	t.Run("layout", func(t *testing.T) {
		var files []string
		require.NoError(t, filepath.WalkDir(prefix, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				name, _ := filepath.Rel(prefix, path)
				// TestManFunctions checks that all functions have a page.
				if !strings.HasPrefix(name, "share/man/man3/") {
					files = append(files, name)
				}
				_, err = os.Stat(path) // fails for a dangling symbolic link
			}
			return err
		}))
		want := strings.Fields(`
			bin/gompirun bin/gompicc bin/gompicxx bin/gompifort bin/gompi-info bin/gompicc_abi bin/gompicxx_abi bin/gompifort_abi
			include/mpi.h include/mpi_rma.h include/mpix_gompirma.h include/mpi-ext.h
			lib/libgompirma-insight.so lib/libgompirma.so lib/libgompirma.so.0 lib/libgompirma.so.0.1.0
			lib/pkgconfig/gompirma.pc lib/pkgconfig/gompirma-abi.pc
			lib/cmake/gompirma/gompirmaConfig.cmake lib/cmake/gompirma/gompirmaConfigVersion.cmake
			lib/gompirma/abi/libmpi_abi.so lib/gompirma/abi/libmpi_abi.so.0 lib/gompirma/abi/libmpi_abi.so.1 lib/gompirma/manifest
			lib/gompirma/abi/libgompirma.so.0
			lib/libgompirma-access.so lib/gompirma/abi/libgompirma-access.so lib/gompirma/check/libtsan.so
			libexec/gompirma/gompi-fabric libexec/gompirma/remote-shell
			libexec/gompirma/bin/mpicc libexec/gompirma/bin/mpicxx libexec/gompirma/bin/mpic++ libexec/gompirma/bin/mpiCC
			libexec/gompirma/bin/mpifort libexec/gompirma/bin/mpif90 libexec/gompirma/bin/mpif77
			libexec/gompirma/bin/mpicc_abi libexec/gompirma/bin/mpicxx_abi libexec/gompirma/bin/mpifort_abi
			libexec/gompirma/bin/mpiexec libexec/gompirma/bin/mpirun share/gompirma/valgrind.supp
			share/modulefiles/gompirma/0.1.0
			share/bash-completion/completions/gompi-info share/bash-completion/completions/gompicc
			share/bash-completion/completions/gompicc_abi share/bash-completion/completions/gompicxx
			share/bash-completion/completions/gompicxx_abi share/bash-completion/completions/gompifort
			share/bash-completion/completions/gompifort_abi share/bash-completion/completions/gompirun share/zsh/site-functions/_gompi-info
			share/zsh/site-functions/_gompicc share/zsh/site-functions/_gompicxx share/zsh/site-functions/_gompifort
			share/zsh/site-functions/_gompirun share/man/man1/gompi-fabric.1 share/man/man1/gompi-info.1 share/man/man1/gompicc.1
			share/man/man1/gompicc_abi.1 share/man/man1/gompicxx.1 share/man/man1/gompicxx_abi.1 share/man/man1/gompifort.1
			share/man/man1/gompifort_abi.1 share/man/man1/gompirun-report.1 share/man/man1/gompirun.1 share/man/man7/gompirma.7`)
		if _, err := exec.LookPath("gfortran"); err == nil {
			want = append(want, strings.Fields(`
				include/mpif.h include/mpif-ext.h lib/gompirma/abi/libgompirma_fortran.so.0 lib/libgompirma_fortran.so lib/libgompirma_fortran.so.0 lib/libgompirma_fortran.so.0.1.0
				lib/gompirma/fortran/mpi.mod lib/gompirma/fortran/mpi_f08.mod lib/gompirma/fortran/gompi_types.mod
				lib/gompirma/fortran/gompi_constants.mod lib/gompirma/fortran/gompi_f08_constants.mod lib/gompirma/fortran/gompi_callbacks.mod
				lib/gompirma/fortran/mpi_ext.mod lib/gompirma/fortran/mpi_f08_ext.mod
				lib/gompirma/fortran/gompi_extensions.mod lib/gompirma/fortran/i8/mpi_ext.mod
				lib/gompirma/fortran/i8/mpi_f08_ext.mod lib/gompirma/fortran/i8/gompi_extensions.mod
				lib/gompirma/fortran/flags lib/pkgconfig/gompirma-fortran.pc
				lib/gompirma/abi/libmpifort_abi.so lib/gompirma/abi/libmpifort_abi.so.1 lib/pkgconfig/gompirma-abi-fortran.pc
				lib/gompirma/abi/libgompirma_fortran_i8.so.0 lib/libgompirma_fortran_i8.so lib/libgompirma_fortran_i8.so.0
				lib/libgompirma_fortran_i8.so.0.1.0 lib/gompirma/fortran/i8/mpif.h
				lib/gompirma/fortran/i8/mpi.mod lib/gompirma/fortran/i8/mpi_f08.mod lib/gompirma/fortran/i8/gompi_types.mod
				lib/gompirma/fortran/i8/gompi_constants.mod lib/gompirma/fortran/i8/gompi_f08_constants.mod
				lib/gompirma/fortran/i8/gompi_callbacks.mod lib/pkgconfig/gompirma-fortran-i8.pc
				lib/gompirma/abi/libmpifort_abi_i8.so lib/gompirma/abi/libmpifort_abi_i8.so.1
				lib/pkgconfig/gompirma-abi-fortran-i8.pc`)...)
		}
		require.ElementsMatch(t, want, files)
	})

	needsStandard := func(t *testing.T, program string) {
		t.Helper()
		libraries, _ := dynamicSymbols(t, program)
		require.Equal(t, []string{"libmpi_abi.so.1"}, libraries)
	}

	t.Run("wrappers for the standard ABI", func(t *testing.T) {
		for wrapper, name := range map[string]string{filepath.Join(bin, "gompicc_abi"): "p.c",
			filepath.Join(usual, "mpicxx_abi"): "p.cc"} {
			program := filepath.Join(t.TempDir(), "p")
			command(t, dir, nil, wrapper, "-Wall", "-Werror", "-o", program, write(t, name, ringProgram))
			needsStandard(t, program)
			runs(t, nil, program)
			require.Contains(t, command(t, dir, nil, program), "rank 0 of 1 got 0\n", "without gompirun")
		}
	})

	t.Run("wrappers", func(t *testing.T) {
		for wrapper, name := range map[string]string{"gompicc": "p.c", "gompicxx": "p.cc"} {
			source := write(t, name, ringProgram)
			program := filepath.Join(t.TempDir(), "p")
			command(t, dir, nil, filepath.Join(bin, wrapper), "-Wall", "-Werror", "-o", program, source)
			runs(t, nil, program)
		}
	})

	t.Run("wrappers compile and link apart", func(t *testing.T) {
		here := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(here, "p.c"), []byte(ringProgram), 0o644))
		cc := filepath.Join(bin, "gompicc")
		require.Contains(t, command(t, here, nil, cc, "-E", "p.c"), "MPI_Win_fence")
		require.Contains(t, command(t, here, nil, cc, "-M", "p.c"), filepath.Join(prefix, "include/mpi.h"))
		command(t, here, nil, cc, "-c", "p.c")
		command(t, here, nil, cc, "p.o", "-o", "p")
		require.Contains(t, command(t, here, nil, cc, "--version"), "gcc")
		runs(t, nil, filepath.Join(here, "p"))
	})

	t.Run("usual names", func(t *testing.T) {
		here := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(here, "p.c"), []byte(ringProgram), 0o644))
		path := []string{"PATH=" + usual + ":" + os.Getenv("PATH")}
		out := command(t, here, path, "sh", "-c",
			"mpicc -o p p.c && mpiexec -n 2 ./p && mpirun -n 2 ./p && mpicxx -show && mpif90 -show")
		require.Equal(t, 2, strings.Count(out, "rank 0 of 2 got 1\n"), out)
		require.Contains(t, out, "g++ -I"+prefix)
		require.Contains(t, out, "gfortran -I"+prefix)
	})

	t.Run("show", func(t *testing.T) {
		out := command(t, dir, nil, filepath.Join(bin, "gompicc"), "-show")
		lib := filepath.Join(prefix, "lib")
		require.Equal(t, "gcc -I"+prefix+"/include -L"+lib+" -Wl,-rpath,"+lib+
			" -Wl,--enable-new-dtags -lgompirma\n", out)
	})

	t.Run("pkg-config", func(t *testing.T) {
		harness.NeedCommand(t, "pkg-config")
		source := write(t, "p.c", ringProgram)
		program := filepath.Join(t.TempDir(), "p")
		env := []string{"PKG_CONFIG_PATH=" + filepath.Join(prefix, "lib/pkgconfig")}
		command(t, dir, env, "sh", "-c", `gcc -o "$0" "$1" $(pkg-config --cflags --libs gompirma)`, program,
			source)
		runs(t, nil, program)
		require.Equal(t, "0.1.0\n", command(t, dir, env, "pkg-config", "--modversion", "gompirma"))
		command(t, dir, env, "sh", "-c", `gcc -o "$0" "$1" $(pkg-config --cflags --libs gompirma-abi)`, program,
			source)
		needsStandard(t, program)
		runs(t, nil, program)
	})

	// cmake builds a C or C++ project with one program, and returns the path of the program.
	cmake := func(t *testing.T, language, source, lists string, options ...string) string {
		harness.NeedCommand(t, "cmake")
		here := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(here, source), []byte(ringProgram), 0o644))
		lists = "cmake_minimum_required(VERSION 3.18)\nproject(p " + language + ")\n" + lists
		require.NoError(t, os.WriteFile(filepath.Join(here, "CMakeLists.txt"), []byte(lists), 0o644))
		command(t, here, nil, "cmake", append([]string{"-S", ".", "-B", "b"}, options...)...)
		command(t, here, nil, "cmake", "--build", "b")
		return filepath.Join(here, "b/p")
	}
	t.Run("CMake find_package(gompirma)", func(t *testing.T) {
		runs(t, nil, cmake(t, "C", "p.c", `
			find_package(gompirma 0.1 REQUIRED)
			find_package(gompirma 0.2 QUIET)
			if(gompirma_FOUND)
				message(FATAL_ERROR "0.1 passes for 0.2")
			endif()
			add_executable(p p.c)
			target_link_libraries(p gompirma::gompirma)
			if(NOT TARGET gompirma::gompirun)
				message(FATAL_ERROR "no target gompirma::gompirun")
			endif()`, "-DCMAKE_PREFIX_PATH="+prefix))
	})
	t.Run("CMake find_package(gompirma) for the standard ABI", func(t *testing.T) {
		program := cmake(t, "C", "p.c",
			"find_package(gompirma REQUIRED)\nadd_executable(p p.c)\n"+
				"target_link_libraries(p gompirma::abi)", "-DCMAKE_PREFIX_PATH="+prefix)
		needsStandard(t, program)
		runs(t, nil, program)
	})
	t.Run("CMake find_package(MPI) with mpicc_abi", func(t *testing.T) {
		program := cmake(t, "C", "p.c",
			"find_package(MPI REQUIRED)\nadd_executable(p p.c)\ntarget_link_libraries(p MPI::MPI_C)",
			"-DMPI_C_COMPILER="+filepath.Join(usual, "mpicc_abi"))
		needsStandard(t, program)
		runs(t, nil, program)
	})
	t.Run("CMake find_package(MPI) in C", func(t *testing.T) {
		runs(t, nil, cmake(t, "C", "p.c",
			"find_package(MPI REQUIRED)\nadd_executable(p p.c)\ntarget_link_libraries(p MPI::MPI_C)",
			"-DMPI_C_COMPILER="+filepath.Join(bin, "gompicc")))
	})
	t.Run("CMake find_package(MPI) in C++", func(t *testing.T) {
		harness.NeedCommand(t, "g++")
		runs(t, nil, cmake(t, "CXX", "p.cc",
			"find_package(MPI REQUIRED)\nadd_executable(p p.cc)\ntarget_link_libraries(p MPI::MPI_CXX)",
			"-DMPI_CXX_COMPILER="+filepath.Join(bin, "gompicxx")))
	})
	t.Run("CMake with the wrapper as compiler", func(t *testing.T) {
		runs(t, nil, cmake(t, "C", "p.c", "add_executable(p p.c)", "-DCMAKE_C_COMPILER="+
			filepath.Join(usual, "mpicc")))
	})

	// Fortran programs with mpi_f08, with the module mpi and with mpif.h. Some are the examples of
	// fortran/examples.
	fortranSource := func(t *testing.T, name string) string {
		text, err := os.ReadFile(filepath.Join(top, "fortran/examples", name))
		require.NoError(t, err)
		return write(t, name, string(text))
	}
	fortranRuns := func(t *testing.T, program, want string) {
		t.Helper()
		require.Contains(t, command(t, dir, nil, filepath.Join(bin, "gompirun"), "-n", "3", program), want)
	}
	const sameAsSerial = "largest difference from the serial solution:  0.00E+00"
	t.Run("gompifort", func(t *testing.T) {
		harness.NeedCommand(t, "gfortran")
		for name, want := range map[string]string{"heat_f08.f90": sameAsSerial,
			"counter_mpi.f90": "as counted serially", "stencil_f77.f": sameAsSerial,
			"matmul_coarray.f90": "\n0 wrong elements"} {
			program := filepath.Join(t.TempDir(), "p")
			command(t, t.TempDir(), nil, filepath.Join(usual, "mpif90"), "-o", program,
				fortranSource(t, name))
			fortranRuns(t, program, want)
		}
	})
	t.Run("Fortran by a plain Makefile", func(t *testing.T) {
		harness.NeedCommand(t, "gfortran")
		harness.NeedCommand(t, "make")
		here := t.TempDir()
		text := "FC = gompifort\nFFLAGS = -O2 -Wall\n\nall: heat counter\n\nheat: heat.o\n\t$(FC) $(FFLAGS) " +
			"-o $@ heat.o\n" +
			"counter: counter.o\n\t$(FC) $(FFLAGS) -o $@ counter.o\n\n%.o: %.f90\n\t$(FC) $(FFLAGS) -c $<\n"
		require.NoError(t, os.WriteFile(filepath.Join(here, "Makefile"), []byte(text), 0o644))
		require.NoError(t, os.Rename(fortranSource(t, "heat_f08.f90"), filepath.Join(here, "heat.f90")))
		require.NoError(t, os.Rename(fortranSource(t, "counter_mpi.f90"), filepath.Join(here, "counter.f90")))
		command(t, here, []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, "make")
		fortranRuns(t, filepath.Join(here, "heat"), sameAsSerial)
		fortranRuns(t, filepath.Join(here, "counter"), "as counted serially")
	})
	// fortranCMake builds the examples for mpi_f08 and mpif.h as a CMake project. It links them with the given
	// CMake target.
	fortranCMake := func(t *testing.T, find, target string, options ...string) {
		harness.NeedCommand(t, "gfortran")
		harness.NeedCommand(t, "cmake")
		here := t.TempDir()
		require.NoError(t, os.Rename(fortranSource(t, "heat_f08.f90"), filepath.Join(here, "heat.f90")))
		require.NoError(t, os.Rename(fortranSource(t, "stencil_f77.f"), filepath.Join(here, "stencil.f")))
		lists := "cmake_minimum_required(VERSION 3.18)\nproject(p Fortran)\n" + find +
			"\nforeach(name heat.f90 stencil.f)\n" +
			"get_filename_component(p ${name} NAME_WE)\nadd_executable(${p} " +
			"${name})\ntarget_link_libraries(${p} " + target + ")\nendforeach()\n"
		require.NoError(t, os.WriteFile(filepath.Join(here, "CMakeLists.txt"), []byte(lists), 0o644))
		command(t, here, nil, "cmake", append([]string{"-S", ".", "-B", "b"}, options...)...)
		command(t, here, nil, "cmake", "--build", "b")
		fortranRuns(t, filepath.Join(here, "b/heat"), sameAsSerial)
		fortranRuns(t, filepath.Join(here, "b/stencil"), sameAsSerial)
	}
	t.Run("CMake find_package(gompirma) in Fortran", func(t *testing.T) {
		fortranCMake(t, "find_package(gompirma REQUIRED)", "gompirma::fortran", "-DCMAKE_PREFIX_PATH="+prefix)
	})
	t.Run("CMake find_package(gompirma) in Fortran for the standard ABI", func(t *testing.T) {
		fortranCMake(t, "find_package(gompirma REQUIRED)", "gompirma::abi_fortran", "-DCMAKE_PREFIX_PATH="+
			prefix)
	})
	t.Run("CMake find_package(MPI) in Fortran", func(t *testing.T) {
		fortranCMake(t, "find_package(MPI REQUIRED)\nif(NOT MPI_Fortran_HAVE_F08_MODULE OR NOT "+
			"MPI_Fortran_HAVE_F90_MODULE OR NOT MPI_Fortran_HAVE_F77_HEADER)\n"+
			"message(FATAL_ERROR \"CMake does not see all bindings\")\nendif()", "MPI::MPI_Fortran",
			"-DMPI_Fortran_COMPILER="+filepath.Join(bin, "gompifort"))
	})
	t.Run("pkg-config in Fortran", func(t *testing.T) {
		harness.NeedCommand(t, "gfortran")
		harness.NeedCommand(t, "pkg-config")
		program := filepath.Join(t.TempDir(), "p")
		env := []string{"PKG_CONFIG_PATH=" + filepath.Join(prefix, "lib/pkgconfig")}
		for _, module := range []string{"gompirma-fortran", "gompirma-abi-fortran"} {
			command(t, t.TempDir(), env, "sh", "-c",
				`gfortran -o "$0" "$1" $(pkg-config --cflags --libs $2)`, program,
				fortranSource(t, "heat_f08.f90"), module)
			fortranRuns(t, program, sameAsSerial)
		}
	})

	// The program is linked against another MPI's library of the standard ABI, so it contains only the name
	// libmpi_abi.so.0. The moved gompirun sets the path of gompirma's library.
	t.Run("standard ABI", func(t *testing.T) {
		here := t.TempDir()
		stub := "int " + strings.Join(
			strings.Fields(`MPI_Init MPI_Comm_rank MPI_Comm_size MPI_Win_allocate MPI_Win_fence
			MPI_Put MPI_Win_free MPI_Finalize`), "(void) { return 77; }\nint ") + "(void) { return 77; }\n"
		require.NoError(t, os.WriteFile(filepath.Join(here, "stub.c"), []byte(stub), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(here, "p.c"), []byte(ringProgram), 0o644))
		command(t, here, nil, "gcc", "-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.0", "-o", "libmpi_abi.so",
			"stub.c")
		command(t, here, nil, "gcc", "-I", filepath.Join(prefix, "include"), "-o", "p", "p.c", "-L.",
			"-lmpi_abi")
		runs(t, nil, filepath.Join(here, "p"))
		// Start the program without gompirun.
		command(t, here, []string{"LD_LIBRARY_PATH=" + filepath.Join(prefix, "lib/gompirma/abi")}, "./p")
	})

	t.Run("gompi-info", func(t *testing.T) {
		require.Contains(t, command(t, dir, nil, filepath.Join(bin, "gompi-info")),
			filepath.Join(prefix, "lib/libgompirma.so.0.1.0"))
	})

	t.Run("uninstall", func(t *testing.T) {
		command(t, top, nil, "scripts/install.sh", "install", build, prefix) // replaces the installation
		foreign := filepath.Join(prefix, "lib/pkgconfig/foreign.pc")
		require.NoError(t, os.WriteFile(foreign, nil, 0o644))
		command(t, top, nil, "scripts/install.sh", "uninstall", build, prefix)
		var left []string
		require.NoError(t, filepath.WalkDir(prefix, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				left = append(left, path)
			}
			return err
		}))
		require.Equal(t, []string{foreign}, left)
	})
}

// TestInstallDestdir checks that scripts/install.sh prepends DESTDIR to the prefix, and that no file remains after
// uninstallation.
func TestInstallDestdir(t *testing.T) {
	build, root := built(t), t.TempDir()
	env := []string{"DESTDIR=" + root}
	command(t, top, env, "scripts/install.sh", "install", build, "/opt/x")
	require.FileExists(t, filepath.Join(root, "opt/x/lib/libgompirma.so.0"))
	command(t, top, env, "scripts/install.sh", "uninstall", build, "/opt/x")
	require.NoDirExists(t, filepath.Join(root, "opt/x"))

	cmd := exec.Command("scripts/install.sh", "uninstall", build, "/opt/x")
	cmd.Dir, cmd.Env = top, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "nothing of gompirma is installed in "+root)
}
