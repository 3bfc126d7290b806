// Command gompiwrap is the compiler wrapper, installed as gompicc, gompicxx and gompifort (and as mpicc, mpicxx,
// mpifort and so on in libexec/gompirma/bin). It runs the compiler with gompirma's headers and library, which it finds
// relative to its own path, so that an installation may be moved. It passes unknown arguments to the compiler
// unchanged. With the suffix _abi in its name, or with --abi, it links a program that runs with any MPI library of the
// standard ABI.
//
// The package constructs the command lines of the compilers. It must not depend on the library.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	_ "gompirma/core/lastwords" // prints one line if the Go runtime fails
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func run() error {
	self, err := os.Executable() // /proc/self/exe: links are resolved
	if err != nil {
		return fmt.Errorf("cannot determine the path of this program: %w", err)
	}
	w := wrapper{
		lang:   languageOf(os.Args[0]),
		abi:    abiOf(os.Args[0]),
		prefix: filepath.Dir(filepath.Dir(self)),
		getenv: os.Getenv,
		exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
		has:    func(name string) bool { _, err := exec.LookPath(name); return err == nil },
		read:   func(path string) string { content, _ := os.ReadFile(path); return string(content) },
	}
	a, err := w.act(os.Args[1:])
	if err != nil {
		return err
	}
	if a.print {
		fmt.Println(a.text)
		return nil
	}
	compiler, err := exec.LookPath(a.argv[0])
	if err != nil {
		return fmt.Errorf("the compiler %q is not in PATH; set %s to the compiler", a.argv[0],
			w.lang.variables[0])
	}
	if sameFile(compiler, self) {
		return fmt.Errorf("the compiler %q is this wrapper itself; set %s to the "+
			"compiler", a.argv[0], w.lang.variables[0])
	}
	return syscall.Exec(compiler, a.argv, os.Environ())
}

func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}
