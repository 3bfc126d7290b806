package main

import (
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// This file detects programs that are linked to another MPI library. Gompirun can start programs of MPICH, which use
// PMI-1. It cannot start programs of Open MPI, since their processes do not recognize gompirun as their launcher. Each
// process would become a job with one rank. The options that observe calls work only with gompirma, since other
// libraries have different values of handles and constants.

// foreign describes another MPI library that a program loads.
type foreign struct {
	mpi    string // "Open MPI", "MPICH"
	file   string
	direct bool // the program itself is linked to the MPI library, not only a library that the program uses
}

// checkForeign returns an error if a program with n processes cannot work because it is linked to another MPI library.
// It returns a warning instead if only a library that the program uses is linked to that MPI library. `listened` is
// true if an option observes the calls of the ranks.
func checkForeign(p *program, n int, listened bool) (warning string, err error) {
	f, found := findForeign(within(p.wdir, p.path), p.env)
	problem := ""
	switch {
	case !found:
	case listened:
		problem = "whose calls gompirun cannot observe: compile the program with gompicc, or run it without " +
			"--stats, --trace and --check"
	case f.mpi == "Open MPI" && n > 1:
		problem = fmt.Sprintf("so its %d processes would be %d jobs of one process each: compile it with "+
			"gompicc, or start it with Open MPI's mpirun", n, n)
	}
	if problem == "" {
		return "", nil
	}
	if !f.direct {
		return fmt.Sprintf("%s uses a library that is linked to %s (%s), %s", p.argv[0], f.mpi, f.file,
			problem), nil
	}
	return "", fmt.Errorf("%s is linked to %s (%s), %s", p.argv[0], f.mpi, f.file, problem)
}

// findForeign searches for another MPI library among the libraries that the dynamic loader would load for a program.
// It returns ok = false for a program that is not an ELF file, and for a program that is linked to gompirma or to
// another library with the standard ABI.
func findForeign(path string, env []string) (found foreign, ok bool) {
	needed, loader := linkage(path)
	if loader == "" || isGompirma(needed) || !slices.ContainsFunc(needed, mayUseMPI) {
		return foreign{}, false
	}
	loaded := libraries(loader, path, env)
	var names []string
	for name := range loaded {
		names = append(names, name)
	}
	slices.Sort(names)
	mpi := slices.IndexFunc(names, func(name string) bool { return isLibrary(name, "libmpi", "libmpich") })
	switch {
	case mpi < 0 || isGompirma(names):
		return foreign{}, false
	case slices.ContainsFunc(names, func(name string) bool { return isLibrary(name, "libopen-pal") }):
		found.mpi = "Open MPI"
	default:
		found.mpi = "MPICH"
	}
	found.file = filepath.Clean(loaded[names[mpi]])
	found.direct = slices.ContainsFunc(needed, func(name string) bool {
		return isLibrary(name, "libmpi", "libmpi_cxx", "libmpi_mpifh", "libmpi_usempif08", "libmpich",
			"libmpichcxx", "libmpichfort", "libmpicxx", "libmpifort")
	})
	return found, true
}

// linkage returns the names of the libraries that an ELF file is linked to, and its dynamic loader; "" if it has none.
func linkage(path string) (needed []string, loader string) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	needed, _ = f.ImportedLibraries()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			text, _ := io.ReadAll(io.LimitReader(p.Open(), 4096))
			loader = strings.TrimRight(string(text), "\x00")
		}
	}
	return needed, loader
}

// isLibrary reports whether a file name is one of the given libraries, of any version.
func isLibrary(file string, names ...string) bool {
	name, _, ok := strings.Cut(file, ".so")
	return ok && slices.Contains(names, name)
}

// isGompirma reports whether one of the libraries is gompirma or another library of the standard ABI.
func isGompirma(files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool {
		return strings.HasPrefix(file, "libgompirma") || strings.HasPrefix(file, "libmpi_abi")
	})
}

// mayUseMPI reports whether a library may be linked to an MPI library. It returns false for the usual system libraries.
// Most programs without MPI need only these, and findForeign then does not run the loader.
func mayUseMPI(file string) bool {
	return !isLibrary(file, "libc", "libm", "libdl", "librt", "libpthread", "libgcc_s", "libstdc++", "libtinfo",
		"libselinux", "ld-linux-x86-64")
}

// libraries returns the files that the dynamic loader would load for a program, by the names of the libraries. It does
// not run the program.
func libraries(loader, path string, env []string) map[string]string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, loader, "--list", path)
	cmd.Env = env
	out, _ := cmd.Output()
	files := map[string]string{}
	for line := range strings.Lines(string(out)) { // "libm.so.6 => /lib/libm.so.6 (0x00007f48d2bed000)"
		if name, file, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			file, _, _ = strings.Cut(file, " (0x")
			files[name] = file
		}
	}
	return files
}

// checkPrograms returns an error if a program of a job cannot work with gompirun, and warns of a program that may not.
func checkPrograms(programs []program, o *options) error {
	for i := range programs {
		warning, err := checkForeign(&programs[i], o.size(), len(o.listeners) > 0)
		if err != nil {
			return err
		}
		if warning != "" && !o.quiet {
			fmt.Fprintln(os.Stderr, "gompirun:", warning)
		}
	}
	return nil
}
