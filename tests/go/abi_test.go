package gotest

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/version"
	"gompirma/tests/go/harness"
)

// TestExports checks the library's dynamic symbols. Every function of the standard, including the Fortran handle
// conversions, has the names MPI_X and PMPI_X. MPI_X is weak, so that a profiling library can replace it. The library
// also exports the functions of mpix_gompirma.h, and no other name, in particular none of the C library's. Symbols have
// no version, because a program linked with another library of the standard ABI requests none.
func TestExports(t *testing.T) {
	library, err := elf.Open(filepath.Join(built(t), "lib/libgompirma.so"))
	require.NoError(t, err)
	defer library.Close()
	symbols, err := library.DynamicSymbols()
	require.NoError(t, err)

	defined := map[string]elf.SymBind{}
	address := map[string]uint64{}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF {
			continue
		}
		require.Regexp(t, `^(P?MPI|MPIX)_`, s.Name, "the library exports a name that is not MPI_, PMPI_ or MPIX_")
		require.Equal(t, elf.STT_FUNC, elf.ST_TYPE(s.Info), s.Name)
		defined[s.Name] = elf.ST_BIND(s.Info)
		address[s.Name] = s.Value
	}
	var names []string
	for _, f := range abi.Functions() {
		names = append(names, f.Name)
	}
	for _, c := range abi.FortranConversions() {
		names = append(names, c.Name)
	}
	for _, name := range names {
		require.Equal(t, elf.STB_WEAK, defined[name], "%s is not a weak symbol of the library", name)
		require.Contains(t, defined, "P"+name)
		require.Equal(t, elf.STB_GLOBAL, defined["P"+name], "P%s is not a global symbol of the library", name)
		require.Equal(t, address["P"+name], address[name], "%s and P%s are not the same function", name, name)
		delete(defined, name)
		delete(defined, "P"+name)
	}
	// The remaining exports are exactly the extensions that mpix_gompirma.h declares.
	header, err := os.ReadFile(filepath.Join(built(t), "include/mpix_gompirma.h"))
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m)^int (MPIX_\w+)\(`).FindAllStringSubmatch(string(header), -1)
	require.NotEmpty(t, declared)
	for _, m := range declared {
		require.Contains(t, defined, m[1])
		delete(defined, m[1])
	}
	require.Empty(t, defined)
	soname, err := library.DynString(elf.DT_SONAME)
	require.NoError(t, err)
	require.Equal(t, []string{"libgompirma.so." + version.Major()}, soname)
	require.Nil(t, library.Section(".gnu.version_d"), "the library's names have versions")
}

// TestLibraryVersion checks that the library, its header and gompi-info report the same version.
func TestLibraryVersion(t *testing.T) {
	const source = `
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major, minor, patch;

    MPI_Get_library_version(text, &length); /* before MPI_Init */
    if (sscanf(text, "gompirma %d.%d.%d,", &major, &minor, &patch) != 3)
        return 1;
    if (major != GOMPIRMA_VERSION_MAJOR || minor != GOMPIRMA_VERSION_MINOR || patch != GOMPIRMA_VERSION_PATCH)
        return 2;
    puts(text);
    return 0;
}
`
	said := harness.Output(t, exec.Command(compile(t, source)))
	info := filepath.Join(built(t), "bin/gompi-info")
	out, err := exec.Command(info, "--json").Output()
	require.NoError(t, err)
	var fields struct {
		LibraryVersion string `json:"library_version"`
	}
	require.NoError(t, json.Unmarshal(out, &fields))
	require.Equal(t, said, fields.LibraryVersion+"\n")
	out, err = exec.Command(info).Output()
	require.NoError(t, err)
	require.Contains(t, string(out), said)
	out, err = exec.Command(info, "--version").Output()
	require.NoError(t, err)
	require.Equal(t, "gompirma "+version.String+"\n", string(out))
}

// TestProgramOfOtherMPI checks a program that was linked with another MPI's library of the standard ABI and is not
// relinked. It must use gompirma if LD_LIBRARY_PATH names lib/gompirma/abi.
func TestProgramOfOtherMPI(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	run := func(name string, args ...string) {
		harness.Output(t, exec.Command(name, args...))
	}
	include := "-I" + filepath.Join(built(t), "include")
	other := write("other.c", "#include <mpi.h>\nint MPI_Comm_toint(MPI_Comm comm) { (void)comm; return -1; }\n")
	main := write("main.c",
		"#include <mpi.h>\nint main(void) { return MPI_Comm_toint(MPI_COMM_WORLD) != 0x101; }\n")
	for _, soname := range []string{"libmpi_abi.so", "libmpi_abi.so.0", "libmpi_abi.so.1"} {
		program := filepath.Join(dir, "program")
		run("gcc", include, "-shared", "-fPIC", "-Wl,-soname,"+soname, "-o", filepath.Join(dir, soname), other)
		run("gcc", include, "-o", program, main, filepath.Join(dir, soname))

		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir)
		require.Error(t, cmd.Run(), "the program did not use the other library")

		cmd = exec.Command(program)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Join(built(t), "lib/gompirma/abi"))
		harness.Output(t, cmd)
	}
}

// eachCompiler runs the function `do` as a subtest for each compiler.
func eachCompiler(t *testing.T, compilers []string, do func(t *testing.T, compiler string)) {
	for _, compiler := range compilers {
		t.Run(compiler, func(t *testing.T) {
			if strings.HasPrefix(compiler, "clang") {
				harness.NeedCommand(t, "clang++")
			}
			do(t, compiler)
		})
	}
}

// TestHeaderCXX checks that the header compiles in every C++ standard with g++ and clang++. It also compiles if a
// program includes it inside extern "C".
func TestHeaderCXX(t *testing.T) {
	t.Parallel()
	asC := filepath.Join(t.TempDir(), "as_c.cc")
	require.NoError(t, os.WriteFile(asC,
		[]byte("extern \"C\" {\n#include <mpi.h>\n}\nMPI_Datatype type = MPI_INT;\n"), 0o644))
	eachCompiler(t, []string{"g++", "clang++"}, func(t *testing.T, compiler string) {
		for standard, files := range map[string][]string{
			"-std=c++98": {asC}, "-std=c++11": {asC, "abi/header_cxx.cc", "abi/generated/constants_cxx.cc"},
			"-std=c++17": {asC, "abi/header_cxx.cc", "abi/generated/constants_cxx.cc"},
			"-std=c++20": {asC, "abi/header_cxx.cc", "abi/generated/constants_cxx.cc"},
		} {
			for _, file := range files {
				command(t, filepath.Join(top, "tests/c"), nil, compiler, standard, "-I",
					"../../include", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", file)
			}
		}
	})
}

// TestHeaderRemoved checks that the header's declarations of names that MPI-3.0 removed cause no warning in any C and
// C++ standard, whether a program uses the names or not. A program may also redefine the names, by -D options or by its
// own definitions.
func TestHeaderRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unused := filepath.Join(dir, "unused.c")
	require.NoError(t, os.WriteFile(unused, []byte("#include <mpi.h>\nint unused;\n"), 0o644))
	ported := filepath.Join(dir, "ported.c")
	require.NoError(t, os.WriteFile(ported, []byte(`
#include <mpi.h>
int ported(void *memory, MPI_Errhandler handler, MPI_Aint *address);
int ported(void *memory, MPI_Errhandler handler, MPI_Aint *address)
{
    return MPI_Address(memory, address) + MPI_Errhandler_set(MPI_COMM_SELF, handler);
}
`), 0o644))
	eachCompiler(t, []string{"gcc", "g++", "clang", "clang++"}, func(t *testing.T, compiler string) {
		language, standards := "c", []string{"c99", "c11", "c17"}
		if strings.HasSuffix(compiler, "++") {
			language, standards = "c++", []string{"c++98", "c++11", "c++14", "c++17", "c++20"}
		}
		for _, standard := range standards {
			for file, more := range map[string][]string{
				unused: nil, "abi/removed.c": nil,
				ported: {"-DMPI_Address=MPI_Get_address",
					"-DMPI_Errhandler_set=MPI_Comm_set_errhandler",
					"-DMPI_Handler_function=MPI_Comm_errhandler_function"},
			} {
				args := append([]string{"-std=" + standard, "-O1", "-Wall", "-Wextra", "-Wpedantic",
					"-Wconversion", "-Wshadow", "-Wunused", "-Werror",
					"-I../../include", "-S", "-o", os.DevNull, "-x", language}, more...)
				command(t, filepath.Join(top, "tests/c"), nil, compiler, append(args, file)...)
			}
		}
	})
}
