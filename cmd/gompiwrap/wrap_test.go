package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample returns a wrapper with the installation prefix /p. Its machine has the usual compilers, and the given files
// and environment variables.
func sample(argv0 string, env map[string]string, files ...string) wrapper {
	return wrapper{
		lang:   languageOf(argv0),
		abi:    abiOf(argv0),
		prefix: "/p",
		getenv: func(name string) string { return env[name] },
		exists: func(path string) bool {
			for _, f := range files {
				if f == path {
					return true
				}
			}
			return false
		},
		has: func(name string) bool { return name == "gcc" || name == "g++" || name == "gfortran" },
		read: func(path string) string {
			return map[string]string{"/p/lib/gompirma/fortran/flags": "-fallow\n"}[path]
		},
	}
}

const link = "-L/p/lib -Wl,-rpath,/p/lib -Wl,--enable-new-dtags -lgompirma"

const checkCompile = "-I/p/include -fsanitize=thread -g -Wno-tsan " +
	"-fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset"

const checkLibrary = " -L/p/lib/gompirma/check -lgompirma-access -Wl,--wrap=memcpy -Wl,--wrap=memmove " +
	"-Wl,--wrap=memset -Wl,--wrap=__memcpy_chk -Wl,--wrap=__memmove_chk -Wl,--wrap=__memset_chk"

const checkLink = "-L/p/lib -Wl,-rpath,/p/lib -Wl,--enable-new-dtags" + checkLibrary + " -lgompirma"

const abiLink = "-L/p/lib/gompirma/abi -Wl,-rpath,/p/lib/gompirma/abi -Wl,--enable-new-dtags -lmpi_abi"

func TestCommand(t *testing.T) {
	fortran := []string{"/p/lib/gompirma/fortran", "/p/lib/libgompirma_fortran.so",
		"/p/lib/gompirma/abi/libmpifort_abi.so"}
	eight := append([]string{"/p/lib/gompirma/fortran/i8", "/p/lib/libgompirma_fortran_i8.so",
		"/p/lib/gompirma/abi/libmpifort_abi_i8.so"}, fortran...)
	const eightCompile = "gfortran -I/p/lib/gompirma/fortran/i8 -I/p/include -fallow "
	const eightLink = " -L/p/lib -Wl,-rpath,/p/lib -Wl,--enable-new-dtags -lgompirma_fortran_i8 -lgompirma"
	for _, c := range []struct {
		name, argv0, args string
		env               map[string]string
		files             []string
		want              string
	}{
		{"link", "gompicc", "x.c -o x", nil, nil, "gcc -I/p/include x.c -o x " + link},
		{"usual name", "/a/mpicc", "x.o", nil, nil, "gcc -I/p/include x.o " + link},
		{"C++", "mpiCC", "x.cc", nil, nil, "g++ -I/p/include x.cc " + link},
		{"compile", "gompicc", "-c x.c", nil, nil, "gcc -I/p/include -c x.c"},
		{"preprocess", "gompicc", "-E x.c", nil, nil, "gcc -I/p/include -E x.c"},
		{"assemble", "gompicc", "-S x.c", nil, nil, "gcc -I/p/include -S x.c"},
		{"dependencies", "gompicc", "-M x.c", nil, nil, "gcc -I/p/include -M x.c"},
		{"dependencies aside", "gompicc", "-MMD -MF x.d x.c", nil, nil, "gcc -I/p/include -MMD -MF x.d x.c " +
			link},
		{"no input", "gompicc", "--version", nil, nil, "gcc -I/p/include --version"},
		{"output is no input", "gompicc", "-v -o x", nil, nil, "gcc -I/p/include -v -o x"},
		{"library is input", "gompicc", "-lmain", nil, nil, "gcc -I/p/include -lmain " + link},
		{"stdin", "gompicc", "-xc -", nil, nil, "gcc -I/p/include -xc - " + link},
		{"shared library", "gompicc", "-shared -fPIC x.c -o x.so", nil, nil,
			"gcc -I/p/include -shared -fPIC x.c -o x.so " + link},
		{"relocatable", "gompicc", "-r a.o b.o -o c.o", nil, nil, "gcc -I/p/include -r a.o b.o -o c.o"},
		{"compiler by variable", "gompicc", "x.c", map[string]string{"GOMPI_CC": "ccache clang",
			"MPICH_CC": "no"}, nil, "ccache clang -I/p/include x.c " + link},
		{"compiler by another's variable", "gompicc", "x.c", map[string]string{"OMPI_CC": "tcc"}, nil,
			"tcc -I/p/include x.c " + link},
		{"compiler by option", "gompicc", "-cc=clang x.c", map[string]string{"GOMPI_CC": "no"}, nil,
			"clang -I/p/include x.c " + link},
		{"Fortran without modules", "gompifort", "x.f90", nil, nil, "gfortran -I/p/include x.f90 " + link},
		{"Fortran", "mpif90", "x.f90", nil, fortran,
			"gfortran -I/p/include -I/p/lib/gompirma/fortran -fallow x.f90 -L/p/lib -Wl,-rpath,/p/lib " +
				"-Wl,--enable-new-dtags -lgompirma_fortran -lgompirma"},
		{"standard ABI by name", "/a/mpicc_abi", "x.o", nil, nil, "gcc -I/p/include x.o " + abiLink},
		{"standard ABI in C++", "gompicxx_abi", "x.cc", nil, nil, "g++ -I/p/include x.cc " + abiLink},
		{"standard ABI by option", "gompicc", "x.c --abi -o x", nil, nil, "gcc -I/p/include x.c -o x " +
			abiLink},
		{"standard ABI by MPICH's option", "mpicxx", "-mpi-abi x.cc", nil, nil, "g++ -I/p/include x.cc " +
			abiLink},
		{"standard ABI, compile", "mpicc_abi", "-c x.c", nil, nil, "gcc -I/p/include -c x.c"},
		{"standard ABI in Fortran", "mpifort_abi", "x.f90", nil, fortran,
			"gfortran -I/p/include -I/p/lib/gompirma/fortran -fallow x.f90 -L/p/lib/gompirma/abi " +
				"-Wl,-rpath,/p/lib/gompirma/abi -Wl,--enable-new-dtags -lmpifort_abi -lmpi_abi"},
		{"standard ABI in Fortran without modules", "gompifort", "--abi x.f90", nil, nil,
			"gfortran -I/p/include x.f90 " + abiLink},
		{"INTEGERs of 8 bytes", "gompifort", "-fdefault-integer-8 x.f", nil, eight,
			eightCompile + "-fdefault-integer-8 x.f" + eightLink},
		{"INTEGERs of 8 bytes, compile", "mpif77", "-c -i8 x.f", nil, eight, eightCompile + "-c -i8 x.f"},
		{"INTEGERs of 8 bytes by two words", "mpif90", "-integer-size 64 -c x.f", nil, eight,
			eightCompile + "-integer-size 64 -c x.f"},
		{"INTEGERs of 8 bytes by the compiler's options", "gompifort", "x.f",
			map[string]string{"GOMPI_FC": "gfortran -fdefault-integer-8"}, eight,
			"gfortran -fdefault-integer-8 -I/p/lib/gompirma/fortran/i8 -I/p/include -fallow x.f" +
				eightLink},
		{"the last word on INTEGERs", "gompifort", "-fdefault-integer-8 -c x.f -fno-default-integer-8", nil,
			eight,
			"gfortran -I/p/include -I/p/lib/gompirma/fortran -fallow -fdefault-integer-8 -c x.f " +
				"-fno-default-integer-8"},
		{"INTEGERs of 8 bytes without bindings for them", "gompifort", "-fdefault-integer-8 -c x.f", nil,
			fortran,
			"gfortran -I/p/include -I/p/lib/gompirma/fortran -fallow -fdefault-integer-8 -c x.f"},
		{"INTEGERs of 8 bytes and the standard ABI", "mpifort_abi", "-fdefault-integer-8 x.f", nil, eight,
			eightCompile + "-fdefault-integer-8 x.f -L/p/lib/gompirma/abi -Wl,-rpath,/p/lib/gompirma/abi " +
				"-Wl,--enable-new-dtags -lmpifort_abi_i8 -lmpi_abi"},
		{"INTEGERs of 8 bytes with FLIBS for 4", "gompifort",
			"-fdefault-integer-8 x.o -L/p/lib -lgompirma_fortran -lgompirma -lgfortran", nil, eight,
			eightCompile + "-fdefault-integer-8 x.o -L/p/lib -lgompirma_fortran_i8 -lgompirma -lgfortran" +
				eightLink},
		{"INTEGERs of 8 bytes with FLIBS of the standard ABI", "mpifort_abi",
			"-i8 x.o -l mpifort_abi -lmpi_abi", nil, eight,
			eightCompile + "-i8 x.o -l mpifort_abi_i8 -lmpi_abi -L/p/lib/gompirma/abi " +
				"-Wl,-rpath,/p/lib/gompirma/abi -Wl,--enable-new-dtags -lmpifort_abi_i8 -lmpi_abi"},
		{"INTEGERs of 8 bytes with a library's file for 4", "gompifort",
			"-i8 x.o /p/lib/libgompirma_fortran.so", nil, eight,
			eightCompile + "-i8 x.o /p/lib/libgompirma_fortran_i8.so" + eightLink},
		{"INTEGERs of 8 bytes by FLIBS alone", "gompifort", "x.o -lgompirma_fortran_i8", nil, eight,
			eightCompile + "x.o -lgompirma_fortran_i8" + eightLink},
		{"FLIBS for 4 bytes", "gompifort", "x.o -lgompirma_fortran", nil, fortran,
			"gfortran -I/p/include -I/p/lib/gompirma/fortran -fallow x.o -lgompirma_fortran -L/p/lib " +
				"-Wl,-rpath,/p/lib -Wl,--enable-new-dtags -lgompirma_fortran -lgompirma"},
		{"gfortran by a longer name", "gompifort", "-c x.f",
			map[string]string{"GOMPI_FC": "ccache /usr/bin/x86_64-linux-gnu-gfortran-12"}, fortran,
			"ccache /usr/bin/x86_64-linux-gnu-gfortran-12 -I/p/include -I/p/lib/gompirma/fortran " +
				"-fallow -c x.f"},
		{"a compiler without gfortran's options", "gompifort", "-c x.f", map[string]string{"GOMPI_FC": "flang"},
			fortran, "flang -I/p/include -I/p/lib/gompirma/fortran -c x.f"},
		{"an option of C's", "gompicc", "-i8 x.c", nil, eight, "gcc -I/p/include -i8 x.c " + link},
		{"check", "gompicc", "--check x.c -o x", nil, nil, "gcc " + checkCompile + " x.c -o x " + checkLink},
		{"check, compile", "gompicc", "-c x.c --check", nil, nil, "gcc " + checkCompile + " -c x.c"},
		{"check, link", "gompicxx", "--check x.o", nil, nil, "g++ " + checkCompile + " x.o " + checkLink},
		{"check, shared library", "mpicc", "--check -shared -fPIC x.c -o x.so", nil, nil,
			"gcc " + checkCompile + " -shared -fPIC x.c -o x.so " + checkLink},
		{"check, compiler by another's variable", "gompicc", "--check x.c",
			map[string]string{"MPICH_CC": "gcc-12"},
			nil, "gcc-12 " + checkCompile + " x.c " + checkLink},
		{"check, standard ABI", "gompicc", "--check --abi x.c", nil, nil, "gcc " + checkCompile + " x.c " +
			"-L/p/lib/gompirma/abi -Wl,-rpath,/p/lib/gompirma/abi -Wl,--enable-new-dtags" + checkLibrary +
			" -lmpi_abi"},
		{"check, Fortran", "gompifort", "--check x.f90", nil, fortran,
			"gfortran -I/p/include -I/p/lib/gompirma/fortran -fallow -fsanitize=thread -g -Wno-tsan " +
				"x.f90 -L/p/lib -Wl,-rpath,/p/lib -Wl,--enable-new-dtags" + checkLibrary +
				" -lgompirma_fortran -lgompirma"},
		{"C beside Fortran", "gompicc", "x.c", nil, fortran, "gcc -I/p/include x.c " + link},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := sample(c.argv0, c.env, c.files...).act(strings.Fields(c.args))
			require.NoError(t, err)
			require.False(t, a.print)
			require.Equal(t, c.want, strings.Join(a.argv, " "))
		})
	}
}

func TestShow(t *testing.T) {
	for args, want := range map[string]string{
		"-show":                 "gcc -I/p/include " + link,
		"-showme x.c":           "gcc -I/p/include x.c " + link,
		"--showme -c x.c":       "gcc -I/p/include -c x.c",
		"-show -DA=\"b\"":       "gcc -I/p/include '-DA=\"b\"' " + link,
		"-show -O2":             "gcc -I/p/include -O2 " + link,
		"-show -o -c":           "gcc -I/p/include -o -c " + link,
		"-O2 -show -c":          "gcc -I/p/include -O2 -c",
		"-show --version":       "gcc -I/p/include --version",
		"-showme:compile":       "-I/p/include",
		"--check -show x.c":     "gcc " + checkCompile + " x.c " + checkLink,
		"--check -showme:link":  checkLink,
		"--check -compile-info": "gcc " + checkCompile,
		"-showme:link":          link,
		"--showme:link":         link,
		"-showme:command":       "gcc",
		"-showme:incdirs":       "/p/include",
		"-showme:libdirs":       "/p/lib",
		"-showme:libs":          "gompirma",
		"--abi -show":           "gcc -I/p/include " + abiLink,
		"-showme:libs --abi":    "mpi_abi",
		"-showme:libdirs --abi": "/p/lib/gompirma/abi",
		"-compile-info":         "gcc -I/p/include",
		"-link_info":            "gcc " + link,
		"-show -cc=cc file":     "cc -I/p/include file " + link,
	} {
		t.Run(args, func(t *testing.T) {
			a, err := sample("gompicc", nil).act(strings.Fields(args))
			require.NoError(t, err)
			require.True(t, a.print)
			require.Equal(t, want, a.text)
		})
	}
}

func TestShowRefused(t *testing.T) {
	_, err := sample("gompicc", nil).act([]string{"-showme:colour"})
	require.ErrorContains(t, err, "unknown option -showme:colour")
	w := sample("gompicc", nil)
	w.has = func(string) bool { return false }
	_, err = w.act([]string{"x.c"})
	require.ErrorContains(t, err, "no C compiler")
	for _, word := range []string{"help", "version"} {
		a, err := w.act([]string{"-showme:" + word})
		require.NoError(t, err)
		require.True(t, a.print)
	}
}

func TestOddPrefix(t *testing.T) {
	w := sample("gompicc", nil)
	w.prefix = "/a b,c"
	a, err := w.act([]string{"-show", "x y.c", "it's"})
	require.NoError(t, err)
	require.Equal(t,
		`gcc -I"/a b,c/include" 'x y.c' 'it'\''s' -L"/a b,c/lib" -Xlinker -rpath -Xlinker '/a b,c/lib' -Wl,--enable-new-dtags -lgompirma`, a.text)
}

func TestFields(t *testing.T) {
	require.Equal(t, []string{"ccache", "/my tools/cc", "-m64", ""}, fields(` ccache  "/my tools/cc" -m64 ''`))
	require.Empty(t, fields("  "))
}
