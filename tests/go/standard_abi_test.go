package gotest

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/version"
)

// This file tests gompirma's library of the standard ABI (libmpi_abi) and programs linked to it. abi_test.go has the
// tests of programs linked to another MPI's library.

// systemLibraries lists libraries of the system that any program may need.
var systemLibraries = []string{"libc.so.6", "libm.so.6", "libgfortran.so.5", "libquadmath.so.0", "libgcc_s.so.1",
	"libstdc++.so.6"}

// dynamicSymbols returns the libraries that a program or library requires directly, and its undefined MPI symbols.
func dynamicSymbols(t *testing.T, path string) (libraries, undefined []string) {
	t.Helper()
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	libraries, err = file.ImportedLibraries()
	require.NoError(t, err)
	libraries = slices.DeleteFunc(libraries,
		func(name string) bool {
			return slices.Contains(systemLibraries, name) || strings.HasPrefix(name, "ld-linux")
		})
	symbols, err := file.ImportedSymbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if strings.Contains(strings.ToUpper(s.Name), "MPI") {
			undefined = append(undefined, s.Name)
		}
	}
	return libraries, undefined
}

// standard reports whether the standard ABI has a function of this name.
func standard(name string) bool {
	name, _ = strings.CutPrefix(name, "P")
	return abi.FunctionByName(name) != nil
}

// scratch is a temporary directory in which a test creates files and runs commands.
type scratch struct {
	t   *testing.T
	dir string
}

func newScratch(t *testing.T) scratch { return scratch{t, t.TempDir()} }

func (s scratch) write(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
}

// run runs a command of build/bin or of the system in the temporary directory, and returns its output. The line may
// begin with environment variables in the form NAME=VALUE.
func (s scratch) run(line string) string {
	s.t.Helper()
	words := strings.Fields(line)
	var env []string
	for strings.Contains(words[0], "=") {
		env, words = append(env, words[0]), words[1:]
	}
	if here := filepath.Join(built(s.t), "bin", words[0]); fileExists(here) {
		words[0] = here
	}
	return command(s.t, s.dir, env, words[0], words[1:]...)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestStandardABILibrary(t *testing.T) {
	folder := filepath.Join(built(t), "lib/gompirma/abi")
	library, err := elf.Open(filepath.Join(folder, "libmpi_abi.so.1"))
	require.NoError(t, err)
	defer library.Close()
	for tag, want := range map[elf.DynTag][]string{elf.DT_SONAME: {"libmpi_abi.so.1"},
		elf.DT_NEEDED:  {"libgompirma.so." + version.Major()},
		elf.DT_RUNPATH: {"$ORIGIN/../.."}, elf.DT_RPATH: nil} {
		got, err := library.DynString(tag)
		require.NoError(t, err)
		require.Equal(t, want, got, tag)
	}
	symbols, err := library.DynamicSymbols()
	require.NoError(t, err)
	var names, want []string
	for _, s := range symbols {
		require.NotEqual(t, elf.SHN_UNDEF, s.Section, s.Name)
		require.Equal(t, elf.STT_FUNC, elf.ST_TYPE(s.Info), s.Name)
		require.Equal(t, s.Name[0] == 'M', elf.ST_BIND(s.Info) == elf.STB_WEAK, s.Name)
		names = append(names, s.Name)
	}
	for _, f := range abi.Functions() {
		want = append(want, f.Name, "P"+f.Name)
	}
	require.ElementsMatch(t, want, names)
	for _, name := range []string{"libmpi_abi.so", "libmpi_abi.so.0"} {
		to, err := os.Readlink(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, "libmpi_abi.so.1", to)
	}
}

// TestStandardABIFunctions checks that libmpi_abi adds no cost to a call: in a program linked to it, every function is
// libgompirma's function. The test compares addresses of functions and results of dlsym.
func TestStandardABIFunctions(t *testing.T) {
	s := newScratch(t)
	var source strings.Builder
	source.WriteString("#define _GNU_SOURCE\n#include <mpi.h>\n#include <dlfcn.h>\n#include <stdio.h>\n" +
		"static const struct { const char *name; void (*f)(void); } all[] = {\n")
	for _, f := range abi.Functions() {
		for _, name := range []string{f.Name, "P" + f.Name} {
			fmt.Fprintf(&source, "{\"%s\", (void (*)(void))%s},\n", name, name)
		}
	}
	source.WriteString(`};
int main(void)
{
    void *library = dlopen("libgompirma.so.` + version.Major() + `", RTLD_NOW | RTLD_NOLOAD);
    void *standard = dlopen("libmpi_abi.so.1", RTLD_NOW | RTLD_NOLOAD);
    int wrong = library == NULL || standard == NULL;
    for (unsigned i = 0; !wrong && i < sizeof all / sizeof *all; i++) {
        void *f = dlsym(library, all[i].name);
        int other = f == NULL || f != dlsym(standard, all[i].name);
#ifndef PLT /* a program that is no PIE has addresses of its own for functions */
        other = other || f != (void *)all[i].f || f != dlsym(RTLD_DEFAULT, all[i].name);
#endif
        if (other) {
            printf("%s is another function\n", all[i].name);
            wrong = 1;
        }
    }
    return wrong;
}
`)
	s.write("p.c", source.String())
	ways := []string{"", "-no-pie -fno-pie -DPLT", "-Wl,-z,now", "-fno-plt", "-Wl,-z,lazy -Wl,--as-needed"}
	for _, linker := range []string{"gold", "lld", "mold"} {
		if _, err := exec.LookPath("ld." + linker); err == nil {
			ways = append(ways, "-fuse-ld="+linker)
		}
	}
	for _, flags := range ways {
		s.run("gompicc --abi -w " + flags + " -o p p.c")
		libraries, undefined := dynamicSymbols(t, filepath.Join(s.dir, "p"))
		require.Equal(t, []string{"libmpi_abi.so.1"}, libraries, flags)
		require.Len(t, undefined, 2*len(abi.Functions()))
		s.run("./p")
	}
}

// TestStandardABIPrograms checks that programs built by the wrappers for the standard ABI need only libraries and
// functions of the standard ABI. They run with gompirma, with and without gompirun, and with another MPI library if
// LD_LIBRARY_PATH names its directory.
func TestStandardABIPrograms(t *testing.T) {
	s := newScratch(t)
	usual := filepath.Join(built(t), "libexec/gompirma/bin")
	ringF08 := `
program ring
  use mpi_f08
  use, intrinsic :: iso_c_binding
  integer :: rank, size, sum
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Allreduce(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ': the sum is ', sum
  call MPI_Finalize()
end program
`
	s.write("p.c", ringProgram)
	s.write("p.cc", ringProgram)
	s.write("p.f90", ringF08)
	s.write("m.f90", strings.Replace(ringF08, "mpi_f08", "mpi", 1))
	s.write("h.f90", strings.Replace(strings.Replace(ringF08, "  use mpi_f08\n", "", 1), "  integer",
		"  include 'mpif.h'\n  integer", 1))
	for _, file := range []string{"m.f90", "h.f90"} {
		text, err := os.ReadFile(filepath.Join(s.dir, file))
		require.NoError(t, err)
		s.write(file, strings.NewReplacer("Init()", "Init(ierr)", "rank)", "rank, ierr)", "size)",
			"size, ierr)", "WORLD)", "WORLD, ierr)", "Finalize()", "Finalize(ierr)",
			":: rank", ":: ierr, rank").Replace(string(text)))
	}
	other := filepath.Join(s.dir, "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	adapter, err := filepath.Abs("testdata/other_mpi.c")
	require.NoError(t, err)
	s.run("gcc -I" + filepath.Join(built(t), "include") +
		" -shared -fPIC -Wall -Werror -Wl,-soname,libmpi_abi.so.1 -o other/libmpi_abi.so.1 " + adapter)
	mpich := fileExists("/usr/bin/mpiexec.mpich")

	for _, c := range []struct{ compiler, source, library string }{
		{"gompicc --abi", "p.c", "libmpi_abi.so.1"},
		{usual + "/mpicc_abi", "p.c", "libmpi_abi.so.1"},
		{usual + "/mpicxx_abi", "p.cc", "libmpi_abi.so.1"},
		{usual + "/mpifort_abi", "p.f90", "libmpifort_abi.so.1"},
		{"gompifort_abi", "m.f90", "libmpifort_abi.so.1"},
		{"gompifort --abi", "h.f90", "libmpifort_abi.so.1"},
	} {
		fortran := strings.HasSuffix(c.source, ".f90")
		if fortran && !fileExists(filepath.Join(built(t), "include/mpif.h")) {
			t.Log("not tested: build/ has no Fortran bindings")
			continue
		}
		s.run(c.compiler + " -o p " + c.source)
		libraries, undefined := dynamicSymbols(t, filepath.Join(s.dir, "p"))
		require.Contains(t, libraries, c.library, c.compiler)
		// A Fortran program may or may not list libmpi_abi itself: some linkers omit a library that only
		// another library (libmpifort_abi) needs.
		require.Subset(t, []string{c.library, "libmpi_abi.so.1"}, libraries, c.compiler)
		said, alone := []string{"rank 0 of 2 got 1\n", "rank 1 of 2 got 0\n"}, "rank 0 of 1 got 0\n"
		if fortran {
			said, alone = []string{"rank 0 of 2: the sum is 3\n", "rank 1 of 2: the sum is 3\n"},
				"rank 0 of 1: the sum is 1\n"
		} else {
			for _, name := range undefined {
				require.True(t, standard(name), "%s: %s is not in the standard ABI", c.compiler, name)
			}
		}
		require.Equal(t, alone, s.run("./p"), c.compiler)
		out := s.run("gompirun -n 2 ./p")
		for _, line := range said {
			require.Contains(t, out, line, c.compiler)
		}
		if !mpich {
			t.Log("not tested with another MPI: MPICH is not installed")
			continue
		}
		out = s.run("LD_LIBRARY_PATH=" + other + " mpiexec.mpich -n 2 ./p")
		// Compare lines only up to " got ". The value after it depends on when MPICH makes progress with the
		// put, which may be late on a busy machine.
		for _, line := range said {
			who, _, _ := strings.Cut(line, " got ")
			require.Contains(t, out, who, c.compiler)
		}
		require.NotContains(t, out, "gompirma", c.compiler)
		if fortran {
			for _, line := range []string{"mpi_integer_size 4 5000", "mpi_double_precision_size 8 5000",
				"mpi_real2_supported false 5000",
				"mpi_integer8_supported true 5000", "mpi_complex16_supported true 5000",
				"booleans 4 1 0"} {
				require.Equal(t, 2, strings.Count(out, "told: "+line+"\n"), "%s in %s", line, out)
			}
			require.Equal(t, 2, strings.Count(out, "told all: 5000\n"))
		}
	}
	for _, size := range []string{"", "_i8"} {
		library := filepath.Join(built(t), "lib/gompirma/abi/libmpifort_abi"+size+".so.1")
		if !fileExists(library) {
			continue
		}
		libraries, undefined := dynamicSymbols(t, library)
		require.Equal(t, []string{"libmpi_abi.so.1"}, libraries)
		for _, name := range undefined {
			require.True(t, standard(name), "%s: %s is not in the standard ABI", library, name)
		}
	}
}

// TestStandardABIMixed checks that all MPI calls of a process reach a single libgompirma. The program may have linked,
// loaded or preloaded libgompirma and libmpi_abi in any form and order.
func TestStandardABIMixed(t *testing.T) {
	s := newScratch(t)
	s.write("part.c", `
#include <mpi.h>
void *part_put(void) { return (void *)MPI_Put; }
int part_initialized(void) { int flag; MPI_Initialized(&flag); return flag; }
`)
	// checks is C code that all test programs contain. The programs obtain MPI_Init and the two functions of
	// libpart in different ways, and then call this code.
	const checks = `
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int libraries(void)
{
    char line[1000], *name;
    unsigned long inode, first = 0;
    int different = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) {
        if ((name = strstr(line, "/libgompirma.so")) == NULL || sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
            continue;
        if (first != inode)
            different++;
        first = inode;
    }
    fclose(maps);
    return different;
}
static int check(int ok, const char *what)
{
    if (!ok)
        printf("wrong: %s\n", what);
    return !ok;
}
`
	s.write("linked.c", checks+`
void *part_put(void);
int part_initialized(void);
int main(int argc, char **argv)
{
    int wrong = check(!part_initialized(), "initialized before");
    Dl_info info = {0};
    MPI_Init(&argc, &argv);
    wrong += check(part_initialized(), "one is initialized, the other not");
    wrong += check(part_put() == (void *)MPI_Put, "two MPI_Put");
    wrong += check(libraries() == 1, "not one library");
    wrong += check(dladdr(dlsym(RTLD_DEFAULT, "sigaction"), &info) && !strstr(info.dli_fname, "gompirma"), "sigaction");
    MPI_Finalize();
    return wrong;
}
`)
	s.write("loaded.c", checks+`
int main(int argc, char **argv)
{
    int wrong = 0;
    void *put[4] = {0};
    /* loaded local|global FILE...: libraries of MPI or parts that are linked to one */
    for (int i = 2; i < argc; i++) {
        void *library = dlopen(argv[i], (strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL) | (i % 2 ? RTLD_LAZY : RTLD_NOW));
        if (library == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
        void *(*part_put)(void) = (void *(*)(void))dlsym(library, "part_put");
        int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
        int (*initialized)(int *) = (int (*)(int *))dlsym(library, "MPI_Initialized");
        int flag = -1;
        if (i == 2)
            init(&argc, &argv);
        initialized(&flag);
        wrong += check(flag == 1, argv[i]);
        put[0] = part_put != NULL ? part_put() : dlsym(library, "MPI_Put");
        if (put[1] == NULL)
            put[1] = put[0];
        wrong += check(put[0] != NULL && put[0] == put[1], "another MPI_Put");
        wrong += check(libraries() == 1, "not one library");
        if (i == argc - 1)
            ((int (*)(void))dlsym(library, "MPI_Finalize"))();
    }
    return wrong;
}
`)
	folder := filepath.Join(built(t), "lib/gompirma/abi")
	include := " -I" + filepath.Join(built(t), "include")
	for _, kind := range []string{"", "--abi"} {
		s.run("gompicc " + kind + " -shared -fPIC -Wall -Werror -o libpart" + strings.TrimLeft(kind, "-") +
			".so part.c")
	}
	// libpartbare has no rpath and finds libmpi_abi only by its name, like a language binding in a separate
	// package.
	s.run("gcc -shared -fPIC" + include + " -o libpartbare.so part.c -L" + folder + " -lmpi_abi")
	for _, program := range []string{"", "--abi"} {
		for _, part := range []string{"part", "partabi"} {
			for _, first := range []string{"-L. -l" + part + " -Wl,-rpath," + s.dir, ""} {
				last := "-L. -l" + part + " -Wl,-rpath," + s.dir
				if first != "" {
					last = ""
				}
				s.run("gompicc " + program + " -Wall -o linked " + first + " linked.c " + last +
					" -Wl,--no-as-needed -l" + part)
				s.run("./linked")
				s.run("gompirun -n 2 ./linked")
			}
		}
	}
	s.run("gcc" + include + " -Wall -o loaded loaded.c")
	standard, library := folder+"/libmpi_abi.so.1", filepath.Join(built(t), "lib/libgompirma.so."+version.Major())
	for _, scope := range []string{"local", "global"} {
		for _, order := range []string{standard, standard + " ./libpartbare.so", standard + " " + library +
			" ./libpart.so ./libpartbare.so ./libpartabi.so",
			library + " " + standard + " ./libpartbare.so", "./libpart.so ./libpartabi.so " + standard,
			"./libpartabi.so ./libpartbare.so ./libpart.so",
			folder + "/libmpi_abi.so ./libpartbare.so " + folder + "/libmpi_abi.so.0"} {
			s.run("gompirun -n 2 ./loaded " + scope + " " + order)
		}
	}
}

// TestStandardABIMixedFortran links a Fortran program to one of the two Fortran libraries, and a library of the program
// to the other. It checks that each side can use objects that the other has created, and that both sides recognize
// special addresses such as MPI_IN_PLACE.
func TestStandardABIMixedFortran(t *testing.T) {
	if !fileExists(filepath.Join(built(t), "include/mpif.h")) {
		t.Skip("build/ has no Fortran bindings")
	}
	s := newScratch(t)
	s.write("part.f90", `
module part
  use mpi_f08
contains
  subroutine add(in, out, len, type)
    use, intrinsic :: iso_c_binding
    type(C_PTR), value :: in, out
    integer :: len
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [len])
    call c_f_pointer(out, b, [len])
    b = a + b + 100
  end subroutine
  subroutine forget(comm, keyval, value, extra, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    print *, 'forgotten', value
    ierror = MPI_SUCCESS
  end subroutine
  subroutine make(op, keyval)
    type(MPI_Op) :: op
    integer :: keyval
    call MPI_Op_create(add, .true., op)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, keyval, 0_MPI_ADDRESS_KIND)
  end subroutine
  subroutine total(value, op)
    integer :: value
    type(MPI_Op) :: op
    call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    call MPI_Sendrecv_replace(value, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine
end module
`)
	s.write("main.f90", `
program main
  use part
  type(MPI_Op) :: op
  integer :: rank, key, value
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call make(op, key)
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, 7_MPI_ADDRESS_KIND + rank)
  value = rank
  call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call MPI_Sendrecv_replace(value, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call total(value, op)
  print *, 'total', value
  call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
  call MPI_Finalize()
end program
`)
	for _, kinds := range [][2]string{{"", "--abi"}, {"--abi", ""}, {"--abi", "--abi"}} {
		s.run("gompifort " + kinds[0] + " -shared -fPIC -o libpart.so part.f90")
		for _, order := range []string{"main.f90 -L. -lpart", "-L. -Wl,--no-as-needed -lpart main.f90"} {
			s.run("gompifort " + kinds[1] + " -o main -Wl,-rpath," + s.dir + " " + order +
				" -Wl,--no-as-needed")
			lines := strings.Split(s.run("gompirun -n 2 ./main"), "\n")
			for i, line := range lines {
				lines[i] = strings.Join(strings.Fields(line), " ")
			}
			require.ElementsMatch(t, []string{"total 302", "total 302", "forgotten 7", "forgotten 8", ""},
				lines, "%q %s", kinds, order)
		}
	}
}

// TestStandardABIProfiling checks that a profiling library, which defines MPI_X and calls PMPI_X, works if it is
// preloaded or linked before MPI. The profiling library itself is linked to libgompirma, to libmpi_abi or to no MPI
// library.
func TestStandardABIProfiling(t *testing.T) {
	s := newScratch(t)
	sources, err := filepath.Abs(filepath.Join(top, "tests/c/abi"))
	require.NoError(t, err)
	for name, compiler := range map[string]string{"own": "gompicc", "abi": "gompicc --abi", "none": "gcc -I" +
		filepath.Join(built(t), "include")} {
		s.run(compiler + " -shared -fPIC -o libtool_" + name + ".so " + sources + "/count_puts.c")
	}
	for _, kind := range []string{"", "--abi"} {
		s.run("gompicc " + kind + " -o plain " + sources + "/profiled.c")
		s.run("./plain 0")
		for _, tool := range []string{"own", "abi", "none"} {
			s.run("LD_PRELOAD=" + s.dir + "/libtool_" + tool + ".so ./plain 4")
			s.run("gompicc " + kind + " -Wl,-rpath," + s.dir + " -o profiled " + sources +
				"/profiled.c -L. -Wl,--no-as-needed -ltool_" + tool)
			s.run("./profiled 4")
		}
	}
}
