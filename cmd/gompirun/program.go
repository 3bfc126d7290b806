package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gompirma/core/boot"
	"gompirma/core/insight"
)

// program holds the common properties of a part's processes, checked before any of them is started.
type program struct {
	part
	path string   // path of the executable file, relative to the process's working directory or absolute
	env  []string // environment of every process, without the variables that differ between ranks
}

// prepare checks the working directory and the program of a part. The argument `environ` is gompirun's environment.
func prepare(p part, environ []string) (program, error) {
	out := program{part: p, env: withLibraries(environment(environ, p), libraryFolder())}
	if p.wdir != "" {
		if err := checkFolder(p.wdir); err != nil {
			return program{}, fmt.Errorf("--wdir %s: %w", p.wdir, err)
		}
	}
	name := p.argv[0]
	if strings.Contains(name, "/") {
		out.path = name
		seen := within(p.wdir, name)
		if err := checkProgram(seen); err != nil {
			return program{}, cmp.Or(isSource(seen), fmt.Errorf("%s: %w", seen, err))
		}
		return out, nil
	}
	folders := cmp.Or(p.search, variable(out.env, "PATH"))
	if folders == "" && !p.inherit.passes("PATH") {
		folders = variable(environ, "PATH") // the rank has no PATH, but its program must be found
	}
	path, ok := search(name, folders, p.wdir)
	if !ok {
		hint := ""
		if checkProgram(within(p.wdir, "./"+name)) == nil {
			hint = ". Did you mean ./" + name + "?"
		}
		return program{}, cmp.Or(isSource(name), fmt.Errorf("%s: not found in PATH%s", name, hint))
	}
	out.path = path
	return out, nil
}

// compilers maps the suffix of a source file to the compiler wrapper for the file.
var compilers = map[string]string{".c": "gompicc", ".C": "gompicxx", ".cc": "gompicxx", ".cpp": "gompicxx",
	".cxx": "gompicxx", ".f": "gompifort", ".F": "gompifort", ".f90": "gompifort", ".F90": "gompifort",
	".f08": "gompifort", ".F08": "gompifort"}

// isSource returns an error that tells the user how to compile the file. It returns nil if the file does not have the
// suffix of source code.
func isSource(path string) error {
	ext := filepath.Ext(path)
	if compilers[ext] == "" {
		return nil
	}
	return fmt.Errorf("%s is source code. Compile it first: %s %[1]s -o %[3]s", path, compilers[ext],
		strings.TrimSuffix(path, ext))
}

// search searches for a program in the directories of PATH as the shell does. Relative directories are relative to
// `wdir`.
func search(name, path, wdir string) (string, bool) {
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			dir = "."
		}
		if found := dir + "/" + name; checkProgram(within(wdir, found)) == nil {
			return found, true
		}
	}
	return "", false
}

// within converts a path that a process in directory `wdir` uses into a path that gompirun can use.
func within(wdir, path string) string {
	if wdir == "" || filepath.IsAbs(path) {
		return path
	}
	return wdir + "/" + path
}

func checkProgram(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return withoutPath(err)
	case st.IsDir():
		return errors.New("is a directory, not a program")
	case unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil:
		return errors.New("is not executable (chmod +x)")
	}
	return nil
}

func checkFolder(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return withoutPath(err)
	case !st.IsDir():
		return errors.New("is not a directory")
	case unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil:
		return errors.New("permission denied: cannot enter the directory")
	}
	return nil
}

// withoutPath removes the system call and the path from an error of the file system. Callers print the path themselves.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// variable returns the value of the variable `name` for a process with the environment `env`.
func variable(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// environment returns gompirun's environment with the part's additions. If another launcher started gompirun, it omits
// the variables that this launcher has set.
func environment(environ []string, p part) []string {
	replaced := map[string]bool{}
	for _, v := range p.env {
		name, _, _ := strings.Cut(v, "=")
		replaced[name] = true
	}
	if p.wdir != "" {
		replaced["PWD"] = true
	}
	var out []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if !replaced[name] && !isLauncherVariable(name) && p.inherit.passes(name) {
			out = append(out, v)
		}
	}
	if abs, err := filepath.Abs(p.wdir); p.wdir != "" && err == nil {
		out = append(out, "PWD="+abs)
	}
	// Keeps only the last value of a variable that is set several times.
	last := map[string]int{}
	for i, v := range p.env {
		name, _, _ := strings.Cut(v, "=")
		last[name] = i
	}
	for i, v := range p.env {
		if name, _, _ := strings.Cut(v, "="); last[name] == i {
			out = append(out, v)
		}
	}
	return out
}

// libraryFolder returns the directory that holds only gompirma's libraries, under the names that programs ask for.
func libraryFolder() string {
	self, err := os.Executable() // symbolic links are resolved: the prefix may have been moved
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(self)), "lib/gompirma/abi")
}

// withLibraries appends a directory to LD_LIBRARY_PATH. Programs need this if they were linked to another library of
// the standard ABI, or without a run path. The environment is unchanged if the directory does not exist (for example if
// only gompirun was copied), or if its name has characters that the loader would misread.
func withLibraries(env []string, folder string) []string {
	const name = "LD_LIBRARY_PATH"
	if !filepath.IsAbs(folder) || strings.ContainsAny(folder, ":;$") || checkFolder(folder) != nil {
		return env
	}
	path := variable(env, name)
	switch {
	case path == "": // ":folder" has an empty entry, for which the loader would search the working directory
		path = folder
	case slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return r == ':' || r == ';' }), folder):
	default:
		path += ":" + folder
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
	return append(env, name+"="+path)
}

// isLauncherVariable reports whether a launcher sets this variable for each of its processes.
func isLauncherVariable(name string) bool {
	switch name {
	case insight.EnvFd, insight.EnvRank, boot.EnvControlFd, boot.EnvJob, boot.EnvLocalRank, boot.EnvLocalRanks,
		boot.EnvFirst, boot.EnvParent, "HYDI_CONTROL_FD":
		return true
	}
	return strings.HasPrefix(name, "PMI_") || strings.HasPrefix(name, "PMIX_") && !strings.HasPrefix(name,
		"PMIX_MCA_")
}

// Descriptors of every process, besides standard input, output and error.
const (
	fdLauncher = 3
	fdControl  = 4
)

// withRankVariables adds the variables from which a rank learns its position in its job, on node `n` of `nodes` nodes.
func withRankVariables(env []string, w *world, rank, nodes int, n *node) []string {
	text := strconv.Itoa
	local, size := rank-n.first, n.size
	if w.number > 0 {
		local, size = rank-w.first, w.size
	}
	// gompirun itself may run in a process that MPI_Comm_spawn has started.
	env = without(without(without(env, boot.EnvFirst), boot.EnvParent), boot.EnvParentPort)
	env = append(env[:len(env):len(env)],
		"PMI_FD="+text(fdLauncher), "PMI_RANK="+text(rank-w.first), "PMI_SIZE="+text(w.size),
		boot.EnvJob+"="+w.id, boot.EnvControlFd+"="+text(fdControl),
		boot.EnvLocalRank+"="+text(local), boot.EnvLocalRanks+"="+text(size))
	if w.number > 0 {
		env = append(env, boot.EnvFirst+"="+text(w.first-n.first), boot.EnvParent+"="+w.parent)
	}
	if nodes > 1 {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, boot.EnvNode+"=") })
		env = append(env, boot.EnvNode+"="+text(n.number))
	}
	return env
}
