// Command gen writes the manual pages and the shell completion of an installation:
//
//	go run ./man/gen [-tools DIR] [-date YYYY-MM-DD] OUT
//
// OUT is the directory share of the prefix. Section 3 has a page for every function. Prototypes, parameters, and the
// errors that follow from the kinds of parameters come from the table in core/abi and from the generated Fortran
// modules. The descriptions come from man/text, the examples from man/examples. Section 1 and the completion come from
// the texts that the tools in the directory -tools print for --help. Section 7 lists the environment variables of
// docs/ONE-SIDED.md.
//
// The files are not committed, because generating them takes less than a second. scripts/build.sh runs the command.
// The package must not depend on the implementation of MPI.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gompirma/core/abi/genfile"
)

func main() {
	tools := flag.String("tools", "", "directory with the tools; without it, section 1 and completion are left out")
	date := flag.String("date", time.Now().UTC().Format(time.DateOnly), "date in the pages")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen [-tools DIR] [-date YYYY-MM-DD] OUT")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *tools, *date); err != nil {
		fmt.Fprintln(os.Stderr, "man/gen:", err)
		os.Exit(1)
	}
}

func run(out, tools, date string) error {
	root, err := genfile.Root()
	if err != nil {
		return err
	}
	files, links, err := functionPages(root, date)
	if err != nil {
		return err
	}
	if err := environmentPage(root, date, files); err != nil {
		return err
	}
	if tools != "" {
		if err := toolFiles(root, tools, date, files, links); err != nil {
			return err
		}
	}
	return write(out, files, links)
}

// write writes files and symbolic links below out, unless they exist with the same contents, and removes other files
// from the directories that it owns.
func write(out string, files map[string][]byte, links map[string]string) error {
	for name, content := range files {
		path := filepath.Join(out, name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) && !isLink(path) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path+".new", content, 0o644); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	for name, target := range links {
		path := filepath.Join(out, name)
		if old, err := os.Readlink(path); err == nil && old == target {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if err := os.Symlink(target, path); err != nil {
			return err
		}
	}
	for _, pattern := range []string{"man/man*/*", "bash-completion/completions/*", "zsh/site-functions/*"} {
		found, _ := filepath.Glob(filepath.Join(out, pattern))
		for _, path := range found {
			name := strings.TrimPrefix(path, filepath.Clean(out)+"/")
			if files[name] == nil && links[name] == "" {
				if err := os.Remove(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}
