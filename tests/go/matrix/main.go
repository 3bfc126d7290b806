// Command matrix prints the results of tests/c/matrix as tables: operation x synchronization x window kind x datatype
// class. It compiles the programs of tests/c/matrix. It runs each program with every window kind in the line "args:" of
// its first comment, and prints the cells that the program reports. The exit status is 1 if a cell failed, or is empty
// without a stated reason. It does not use MPI itself.
//
//	go run ./tests/go/matrix BUILD              BUILD contains bin/gompicc and bin/gompirun
//	go run ./tests/go/matrix -summary BUILD     prints only the last line
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// program is a source file of tests/c/matrix with the values from its first comment.
type program struct {
	source, name     string
	np               string
	variants, extras []string // window kinds; environment variables as NAME=VALUE
	binary           string
}

// words returns the words of the line " * KEY: WORD..." in the first comment of a C test.
func words(source, key string) []string {
	line := regexp.MustCompile(`(?m)^ \* ` + key + `: *(.*)$`).FindStringSubmatch(source)
	if line == nil {
		return nil
	}
	return strings.Fields(line[1])
}

// kind returns the window kind under which the program reports the cells of a variant.
func (p *program) kind(variant string) string {
	if p.name == "matrix" {
		return variant
	}
	return variant + "(" + p.name + ")"
}

func load(build, dir, source string) (*program, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	p := &program{source: source, name: strings.TrimSuffix(filepath.Base(source), ".c")}
	p.variants, p.extras = words(string(text), "args"), words(string(text), "env")
	if np := words(string(text), "np"); len(np) > 0 {
		p.np = np[0]
	}
	if p.np == "" || len(p.variants) == 0 {
		return nil, fmt.Errorf("%s: no line np: or args:", source)
	}
	p.binary = filepath.Join(dir, p.name)
	cc := exec.Command(filepath.Join(build, "bin/gompicc"), "-O2", "-std=gnu11", "-o", p.binary, source, "-lm")
	cc.Stderr = os.Stderr
	return p, cc.Run()
}

// run starts the program under gompirun and adds its output to t. If the run fails, t has failed or missing cells.
func (p *program) run(build string, t *table, np string, args ...string) error {
	cmd := exec.Command(filepath.Join(build, "bin/gompirun"),
		append([]string{"--timeout", "120", "-n", np, p.binary}, args...)...)
	cmd.Env = append(os.Environ(), p.extras...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "matrix: %s %s: %v\n", p.name, strings.Join(args, " "), err)
	}
	return t.read(bytes.NewReader(out))
}

func matrix(build string) (*table, error) {
	sources, err := filepath.Glob("tests/c/matrix/*.c")
	if err != nil || len(sources) == 0 {
		return nil, fmt.Errorf("no tests/c/matrix/*.c: run matrix in the project's directory")
	}
	dir, err := os.MkdirTemp("", "matrix.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	t := newTable()
	for i, source := range sources {
		p, err := load(build, dir, source)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if err := p.run(build, t, "1", "axes"); err != nil {
				return nil, err
			}
		}
		for _, variant := range p.variants {
			t.addKind(p.kind(variant))
			if err := p.run(build, t, p.np, variant, "cells"); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func main() {
	summary := flag.Bool("summary", false, "print the last line only")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: matrix [-summary] BUILD")
		os.Exit(2)
	}
	t, err := matrix(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(2)
	}
	if !*summary {
		t.print(os.Stdout)
	}
	n := t.count()
	fmt.Println(n)
	if !n.good() {
		os.Exit(1)
	}
}
