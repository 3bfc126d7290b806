package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gompirma/core/boot"
	"gompirma/core/shm"
)

// This file runs jobs on other hosts. Gompirun itself cannot start processes on other hosts. It translates its options
// into those of another launcher, and replaces itself by that launcher.

// starterKind is a family of launchers with the same options.
type starterKind int

const (
	srun  starterKind = iota // Slurm's srun, inside an allocation
	hydra                    // MPICH's mpiexec and its derivatives
	prrte                    // Open MPI's mpirun, prterun
)

// starter is a launcher for other hosts.
type starter struct {
	kind starterKind
	path string
	mpi  string // value of srun's option --mpi, which selects the interface between launcher and processes
}

// startRemote replaces gompirun by another launcher, and returns an exit status only on failure. If there are
// listeners, it runs the launcher as a child instead and returns the launcher's exit status.
func startRemote(o *options) int {
	if len(o.listeners) > 0 {
		return listenRemote(o)
	}
	s, args, env, err := remoteCommand(o, os.Environ())
	if err == nil {
		if err = syscall.Exec(s.path, args, env); err != nil {
			err = fmt.Errorf("%s: %w", s.path, err)
		}
	}
	return refuse(err)
}

// remoteCommand finds the launcher, builds its command line and environment, and reports the launcher to the user.
func remoteCommand(o *options, environ []string) (s starter, args, env []string, err error) {
	s, err = findStarter(o, variable(environ, "PATH"), variable(environ, "SLURM_JOB_ID") != "", versionOf)
	if err != nil {
		return s, nil, nil, err
	}
	places, err := o.placeRanks()
	if err != nil {
		return s, nil, nil, err
	}
	args, env, err = s.command(o, places, environ, libraryFolder())
	if err != nil {
		return s, nil, nil, err
	}
	if o.outputDir != "" {
		if err := os.MkdirAll(o.outputDir, 0o777); err != nil {
			return s, nil, nil, fmt.Errorf("--output-dir %s: %w", o.outputDir, withoutPath(err))
		}
	}
	if !o.quiet {
		fmt.Fprintf(os.Stderr, "gompirun: host %s is another machine; using %s to start the job on "+
			"%s\n", o.remote,
			s.path, shortened(hostList(places)))
	}
	return s, args, env, nil
}

// findStarter searches for a launcher in the directories of PATH. The argument `allocated` is true if gompirun runs in
// a Slurm allocation. The function `version` returns the output of a program with an option, which distinguishes
// launchers of the same name.
func findStarter(o *options, path string, allocated bool, version func(path, option string) string) (starter, error) {
	self, _ := os.Executable()
	find := func(name string) string {
		found, ok := search(name, path, "")
		if target, err := filepath.EvalSymlinks(found); !ok || err == nil && target == self {
			return "" // gompirun may be installed under these names
		}
		return found
	}
	if found := find("srun"); allocated && found != "" {
		types := version(found, "--mpi=list")
		for _, mpi := range []string{"pmi2", "pmix"} {
			if regexp.MustCompile(`\b` + mpi + `\b`).MatchString(types) {
				return starter{srun, found, mpi}, nil
			}
		}
		return starter{}, fmt.Errorf("host %s is another machine, but %s supports neither PMI-2 nor PMIx (see "+
			"srun --mpi=list)", o.remote,
			found)
	}
	for _, name := range []string{"mpiexec.hydra", "mpiexec.mpich", "mpiexec", "prterun", "mpirun.openmpi",
		"mpirun"} {
		found := find(name)
		if found == "" {
			continue
		}
		says := version(found, "--version")
		switch {
		case strings.Contains(says, "HYDRA") || strings.Contains(says, "Intel(R) MPI"):
			return starter{hydra, found, ""}, nil
		case strings.Contains(says, "OpenRTE") || strings.Contains(says, "Open MPI") ||
			strings.Contains(says, "PRRTE") || strings.Contains(says, "prterun"):
			return starter{prrte, found, ""}, nil
		}
	}
	return starter{}, fmt.Errorf("host %s is another machine, but no launcher for other machines is in PATH: "+
		"install Hydra (Debian's package mpich) or Open MPI (openmpi-bin), or use a Slurm allocation "+
		"(salloc, sbatch)", o.remote)
}

// versionOf returns the output of a program for an option.
func versionOf(path, option string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, path, option).CombinedOutput()
	return string(bytes.TrimSpace(out))
}

// merged returns a list that contains each host once.
func merged(list []host) (out []host) {
	index := map[string]int{}
	for _, one := range list {
		i, known := index[one.name]
		switch {
		case !known:
			index[one.name] = len(out)
			out = append(out, one)
		default: // a host that is listed again adds its slots, or one slot if no number is given
			out[i].slots = max(out[i].slots, 1) + max(one.slots, 1)
		}
	}
	return out
}

// placeRanks distributes the job's ranks over its hosts in blocks. The size of a block is -ppn or the host's number of
// slots. When all hosts are full, placeRanks starts again with the first host. If no sizes are given, it distributes
// the ranks as evenly as possible. Hosts without a rank are omitted.
func (o *options) placeRanks() ([]host, error) {
	list := merged(o.hosts)
	n := o.size()
	said := o.perNode > 0
	for _, one := range list {
		said = said || one.slots > 0
	}
	counts := make([]int, len(list))
	if !said {
		copy(counts, blocks(n, len(list), 0))
		n = 0
	}
	for n > 0 {
		for i, one := range list {
			room := one.slots
			if o.perNode > 0 {
				room = o.perNode
			}
			some := min(n, max(room, 1))
			counts[i] += some
			n -= some
		}
	}
	var out []host
	for i, one := range list {
		if counts[i] > shm.MaxProcesses {
			return nil, fmt.Errorf("host %[2]s would have %[1]d processes; the maximum is "+
				"%[3]d", counts[i], one.name,
				shm.MaxProcesses)
		}
		if counts[i] > 0 {
			out = append(out, host{one.name, counts[i]})
		}
	}
	return out, nil
}

// command returns the arguments and the environment of the command that starts the job.
func (s starter) command(o *options, places []host, environ []string, libraries string) (args, env []string,
	err error) {
	if o.ft {
		environ = append(without(environ, boot.EnvFT), boot.EnvFT+"=1")
	}
	env = withLibraries(environment(environ, part{}), libraries)
	switch s.kind {
	case srun:
		return s.srun(o, places, environ, libraries)
	case hydra:
		args, err = s.hydra(o, places, env)
	case prrte:
		args, err = s.prrte(o, places, env)
	}
	if s.kind == hydra && o.timeout > 0 {
		env = append(env, envTimeout+"="+wholeSeconds(o.timeout))
	}
	if shell := remoteShell(libraries); s.kind == hydra && usesSSH(o, environ) && shell != "" {
		args = slices.Insert(args, 1, "-launcher", "ssh", "-launcher-exec", shell)
	}
	return args, env, err
}

// remoteShell returns the path of the script remote-shell, "" if it is not installed. The argument `libraries` is the
// result of libraryFolder.
func remoteShell(libraries string) string {
	path := filepath.Join(libraries, "../../../libexec/gompirma/remote-shell")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// usesSSH reports whether Hydra would call ssh: neither the options nor the environment select another program, and the
// job does not belong to a batch system.
func usesSSH(o *options, environ []string) bool {
	for _, more := range o.passed {
		if more.to == hydra && (strings.Contains(more.args[0], "launcher") ||
			strings.Contains(more.args[0], "bootstrap") || more.args[0] == "-rmk") {
			return false
		}
	}
	return !slices.ContainsFunc(environ, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return hydraChoice.MatchString(name)
	})
}

// hydraChoice matches environment variables with which Hydra selects a launcher.
var hydraChoice = regexp.MustCompile(`^(HYDRA_(LAUNCHER|BOOTSTRAP|RMK).*|(SLURM|PBS|LSB|COBALT)_JOB_?ID|JOB_ID)$`)

// unsupported returns the error for an option that the launcher does not support.
func (s starter) unsupported(option string) error {
	return fmt.Errorf("%s is not supported by %s, which starts the ranks on other hosts", option, s.path)
}

func (s starter) srun(o *options, places []host, environ []string, libraries string) (args, env []string, err error) {
	switch {
	case len(o.parts) > 1:
		return nil, nil, fmt.Errorf("%s, which starts the ranks on other hosts, supports only one "+
			"program", s.path)
	case o.timeout > 0:
		return nil, nil, s.unsupported("--timeout")
	}
	p := o.parts[0]
	var names []string // the host of each rank
	for _, one := range places {
		for range one.slots {
			names = append(names, one.name)
		}
	}
	args = []string{s.path, "--mpi=" + s.mpi, "--ntasks=" + strconv.Itoa(p.n),
		"--nodes=" + strconv.Itoa(len(places)), "--distribution=arbitrary",
		"--nodelist=" + strings.Join(names, ","), "--overcommit", "--input=0"}
	if o.ft {
		args = append(args, "--no-kill", "--kill-on-bad-exit=0")
	} else {
		args = append(args, "--kill-on-bad-exit=1")
	}
	env = withLibraries(environment(environ, p), libraries)
	env = without(env, "SLURM_EXPORT_ENV")
	if variable(environ, "SLURM_STEP_ID") != "" {
		args = append(args, "--overlap") // the ranks share the processors of the step in which gompirun runs
	}
	if p.wdir != "" {
		args = append(args, "--chdir="+p.wdir)
	}
	if o.tag {
		args = append(args, "--label")
	}
	if o.quiet {
		args = append(args, "--quiet")
	}
	if o.outputDir != "" {
		args = append(args, fmt.Sprintf("--output=%s/rank-%%%dt.txt", o.outputDir, len(strconv.Itoa(p.n-1))))
	}
	if o.outFile != "" && o.errFile == "" {
		// srun would write the errors to the same file
		return nil, nil, s.unsupported("-outfile-pattern without -errfile-pattern")
	}
	width := fmt.Sprintf("%%%dt", len(strconv.Itoa(p.n-1)))
	for i, pattern := range []string{o.outFile, o.errFile} {
		if pattern != "" {
			args = append(args, []string{"--output=", "--error="}[i]+strings.NewReplacer("%%", "%%",
				"%r", "%t", "%0r", width, "%h", "%N", "%g", "0", "%p", "%n").Replace(pattern))
		}
	}
	switch o.bind {
	case "core":
		args = append(args, "--cpu-bind=cores")
	case "hwthread":
		args = append(args, "--cpu-bind=threads")
	case "socket":
		args = append(args, "--cpu-bind=sockets")
	case "numa":
		args = append(args, "--cpu-bind=ldoms")
	}
	if o.bindTo > 0 {
		args = append(args, "--cpus-per-task="+strconv.Itoa(o.bindTo))
	}
	return append(args, p.argv...), env, nil
}

func (s starter) hydra(o *options, places []host, env []string) ([]string, error) {
	if o.outputDir != "" {
		return nil, s.unsupported("--output-dir")
	}
	args := []string{s.path, "-hosts", hostList(places)}
	if o.ft {
		args = append(args, "-disable-auto-cleanup")
	}
	for _, more := range o.passed {
		if more.to == hydra {
			args = append(args, more.args...)
		}
	}
	if o.tag {
		args = append(args, "-prepend-rank")
	}
	for i, pattern := range []string{o.outFile, o.errFile} {
		if pattern != "" {
			args = append(args, []string{"-outfile-pattern", "-errfile-pattern"}[i],
				strings.NewReplacer("%%", "%%", "%0r", "%r").Replace(pattern))
		}
	}
	if o.bind != "" && o.bind != "none" {
		to := o.bind
		if o.bindTo > 1 {
			to += ":" + strconv.Itoa(o.bindTo)
		}
		args = append(args, "-bind-to", to)
	}
	for i, p := range o.parts {
		switch {
		case i > 0 && p.wdir != o.parts[0].wdir:
			return nil, fmt.Errorf("-wdir: %s, which starts the ranks on other hosts, supports only one "+
				"directory for all programs",
				s.path)
		case i > 0:
			args = append(args, ":")
		case p.wdir != "":
			args = append(args, "-wdir", p.wdir)
		}
		args = append(args, "-n", strconv.Itoa(p.n))
		if p.inherit.limited {
			names := append([]string{"LD_LIBRARY_PATH"}, p.inherit.list...)
			if o.ft {
				names = append(names, boot.EnvFT)
			}
			args = append(args, "-envlist", strings.Join(names, ","))
		}
		for _, v := range p.env {
			name, value, _ := strings.Cut(v, "=")
			args = append(args, "-env", name, value)
		}
		args = append(args, p.argv...)
	}
	return args, nil
}

// variableName matches the variables that launchers can pass on by name. Only shells use variables with other names
// internally.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isHostVariable reports whether a variable describes the host or session in which gompirun runs, or belongs to the
// launcher.
func isHostVariable(name string) bool {
	switch name {
	case "PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME", "TMPDIR":
		return true
	}
	for _, prefix := range []string{"OMPI_", "PMIX_", "PRTE_", "SSH_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (s starter) prrte(o *options, places []host, env []string) ([]string, error) {
	for option, given := range map[string]bool{"--output-dir": o.outputDir != "", "--ft": o.ft,
		"-outfile-pattern": o.outFile != "", "-errfile-pattern": o.errFile != ""} {
		if given {
			return nil, s.unsupported(option)
		}
	}
	args := []string{s.path}
	for _, more := range o.passed {
		if more.to == prrte {
			args = append(args, more.args...)
		}
	}
	if o.tag {
		args = append(args, "--tag-output")
	}
	if o.timeout > 0 {
		args = append(args, "--timeout", wholeSeconds(o.timeout))
	}
	by, bind := "slot:OVERSUBSCRIBE", o.bind
	if o.bindTo > 1 {
		by += ",PE=" + strconv.Itoa(o.bindTo)
	}
	if bind == "" {
		bind = "none"
	}
	args = append(args, "--map-by", by, "--bind-to", bind)
	for i, p := range o.parts {
		if i > 0 {
			args = append(args, ":")
		}
		args = append(args, "--host", hostList(places), "-n", strconv.Itoa(p.n))
		if p.wdir != "" {
			args = append(args, "--wdir", p.wdir)
		}
		own := map[string]bool{}
		for _, v := range p.env {
			name, _, _ := strings.Cut(v, "=")
			own[name] = true
		}
		for _, v := range env {
			name, _, _ := strings.Cut(v, "=")
			passes := p.inherit.passes(name) || name == "LD_LIBRARY_PATH"
			if passes && !own[name] && !isHostVariable(name) && variableName.MatchString(name) {
				args = append(args, "-x", name)
			}
		}
		for _, v := range p.env {
			args = append(args, "-x", v)
		}
		args = append(args, p.argv...)
	}
	return args, nil
}

// hostList returns hosts as "a:2,b:1".
func hostList(places []host) string {
	var items []string
	for _, one := range places {
		items = append(items, net.JoinHostPort(one.name, strconv.Itoa(one.slots)))
	}
	return strings.Join(items, ",")
}

// shortened returns a list for a message: only the beginning if the list is long.
func shortened(list string) string {
	const most = 200
	if len(list) <= most {
		return list
	}
	return list[:strings.LastIndexByte(list[:most], ',')] + ",..."
}

func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

func without(env []string, name string) (out []string) {
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			out = append(out, v)
		}
	}
	return out
}
