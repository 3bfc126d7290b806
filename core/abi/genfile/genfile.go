// Package genfile holds the code that all generators share. It writes generated files and checks that they are up to
// date.
package genfile

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files maps the paths of generated files, from the module's root, to their contents. The content nil means that the
// file must not exist.
type Files map[string][]byte

// Generator is a command that generates files.
type Generator struct {
	Package  string // such as core/abi/gen
	Generate func(root string) (Files, error)
	Owned    []string // patterns of paths; a file that matches a pattern is stale if Generate does not return it
}

var check = flag.Bool("check", false, "write nothing; list stale files and exit 1 if there are any")

// Main writes the files that have changed. With the flag -check it lists them instead, and exits with status 1 if there
// are any.
func (g *Generator) Main() {
	flag.Parse()
	run := g.write
	if *check {
		run = g.Check
	}
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", g.Package, err)
		os.Exit(1)
	}
}

func (g *Generator) write() error {
	root, err := Root()
	if err != nil {
		return err
	}
	stale, err := g.Stale(root)
	if err != nil {
		return err
	}
	for path, content := range stale {
		name := filepath.Join(root, path)
		if content == nil {
			err = os.Remove(name)
		} else if err = os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			err = os.WriteFile(name, content, 0o644)
		}
		if err != nil {
			return err
		}
		fmt.Println("wrote", path)
	}
	return nil
}

// Check returns an error that lists the stale files, if there are any.
func (g *Generator) Check() error {
	root, err := Root()
	if err != nil {
		return err
	}
	stale, err := g.Stale(root)
	if err != nil || len(stale) == 0 {
		return err
	}
	names := slices.Sorted(maps.Keys(stale))
	return fmt.Errorf("stale: run go run ./%s\n%s", g.Package, strings.Join(names, "\n"))
}

// Stale returns the files whose content on disk differs from the generated content, each with the content that it must
// have.
func (g *Generator) Stale(root string) (Files, error) {
	stale, err := g.Generate(root)
	if err != nil {
		return nil, err
	}
	for _, pattern := range g.Owned {
		left, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range left {
			stale[path] = stale[path]
		}
	}
	for path, content := range stale {
		now, err := os.ReadFile(filepath.Join(root, path))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		if err == nil && content != nil && bytes.Equal(now, content) {
			delete(stale, path)
		}
	}
	return stale, nil
}

// Root returns the directory of go.mod: the current directory or the nearest one above it.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod here or above")
		}
		dir = up
	}
}

// Wrap joins the items of a list with commas, in lines of at most 120 characters. Continuation lines begin with the
// text `indent`.
func Wrap(head string, items []string, tail, indent string) string {
	var b strings.Builder
	line := head
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		} else {
			item += tail
		}
		switch {
		case i == 0:
			line += item
		case len(line)+1+len(item) > 118:
			b.WriteString(line + "\n")
			line = indent + item
		default:
			line += " " + item
		}
	}
	if len(items) == 0 {
		line += tail
	}
	return b.String() + line
}
