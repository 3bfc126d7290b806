package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/boot"
	"gompirma/core/boot/pmi1"
)

// Ranks may start processes on other hosts (info keys host and hostfile of MPI_Comm_spawn). Another launcher starts
// them, as in remote.go, and gompirun runs this launcher as a child. In the table of ranks, the launcher is the only
// rank of their job.

// placement is where the processes of a request run.
type placement struct {
	bindings []unix.CPUSet // one set for each process; nil if they are not bound
	launcher *remoteLauncher
}

// remoteLauncher is the launcher of processes on other hosts.
type remoteLauncher struct {
	name      string // for messages
	path      string
	args, env []string
	hosts     string // for messages
	errors    *firstLines

	mu       sync.Mutex
	children []launcherChild // guarded by mu; its children while it was last observed
}

// launcherChild is a child of a launcher, such as ssh. The time at which it has started distinguishes it from a later
// process with the same id.
type launcherChild struct {
	pid     int
	started string
}

// place returns where the processes of a request run. It sets what.Apart if they run on other hosts.
func place(what *pmi1.Spawn, job *options) (placement, *pmi1.SpawnError) {
	var out placement
	all := options{passed: job.passed, quiet: true, tag: job.tag, ft: job.ft}
	isPlaced := false
	for i, p := range what.Parts {
		args := []string{"-n", fmt.Sprint(max(p.N, 1))}
		for option, value := range map[string]string{"-host": p.Hosts, "-hostfile": p.HostFile,
			"--map-by": p.MapBy} {
			if value != "" {
				args = append(args, option+"="+value)
				isPlaced = true
			}
		}
		one, err := parse(append(args, p.Command), func(string) (string, bool) { return "", false })
		if err == nil && p.N > 0 {
			err = all.add(one, p, job)
		}
		if err != nil {
			return out, &pmi1.SpawnError{Part: i, Reason: "info keys host, hostfile and map_by: " +
				err.Error()}
		}
	}
	if !isPlaced {
		return out, nil
	}
	var err error
	if n := all.size(); all.remote != "" {
		what.Apart = true
		out.launcher, err = all.launcher(what.Port)
	} else if all.bindTo > 0 {
		out.bindings = bindings(n, all.bind, all.bindTo, "/sys/devices/system/cpu")
		if out.bindings == nil {
			err = fmt.Errorf("info key map_by: this machine has too few usable processors for PE=%d and "+
				"%d %s", all.bindTo, n, plural(n, "process"))
		}
	}
	if err != nil {
		return out, &pmi1.SpawnError{Part: -1, Reason: err.Error()}
	}
	return out, nil
}

// add adds the processes of a part, which the options `one` place, to those of o. Each part gets hosts of its own.
func (o *options) add(one *options, p pmi1.SpawnPart, job *options) error {
	switch {
	case one.remote == "":
		one.hosts = []host{{thisMachine().name, p.N}}
	case job.nodes > 1:
		return fmt.Errorf("--nodes simulates machines; it cannot be combined with host %s, which is another "+
			"machine", one.remote)
	}
	if one.bindTo > 0 {
		o.bind, o.bindTo = "core", one.bindTo
	}
	if o.remote == "" {
		o.remote = one.remote
	}
	places, err := one.placeRanks()
	if err != nil {
		return err
	}
	for _, at := range places {
		for i, other := range o.hosts {
			if other.name == at.name && i < len(o.hosts)-1 {
				return fmt.Errorf("host %s has processes of several commands, which must be "+
					"consecutive", at.name)
			}
		}
		if n := len(o.hosts); n > 0 && o.hosts[n-1].name == at.name {
			o.hosts[n-1].slots += at.slots
		} else {
			o.hosts = append(o.hosts, at)
		}
	}
	command := p.Command
	if p.Path != "" && !strings.Contains(command, "/") {
		found, ok := search(command, p.Path, p.Dir)
		if !ok {
			return fmt.Errorf("%s: not found in the directories of the info key path", command)
		}
		command = found
	}
	o.parts = append(o.parts, part{n: p.N, env: p.Env, wdir: p.Dir, argv: append([]string{command}, p.Args...)})
	return nil
}

// launcher returns the launcher that starts the processes of o, which connect to the given port.
func (o *options) launcher(port string) (*remoteLauncher, error) {
	environ := append(withoutMpirun(without(os.Environ(), boot.EnvParentPort)), boot.EnvParentPort+"="+port)
	s, args, env, err := remoteCommand(o, environ)
	if err != nil {
		return nil, err
	}
	return &remoteLauncher{name: s.path[strings.LastIndexByte(s.path, '/')+1:], path: s.path, args: args, env: env,
		hosts: shortened(hostList(o.hosts)), errors: &firstLines{ended: make(chan struct{})}}, nil
}

// withoutMpirun removes the variables that Open MPI's mpirun has set for this process. With them, mpirun refuses to
// run.
func withoutMpirun(environ []string) []string {
	if variable(environ, "OMPI_COMM_WORLD_RANK") == "" {
		return environ
	}
	return slices.DeleteFunc(environ, func(v string) bool {
		return slices.ContainsFunc([]string{"OMPI_COMM_WORLD_", "OMPI_UNIVERSE_SIZE", "OMPI_MCA_orte_",
			"OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir"},
			func(prefix string) bool { return strings.HasPrefix(v, prefix) })
	})
}

// startLauncher starts the launcher of a job on other hosts. Its output is forwarded as that of a rank.
func (j *job) startLauncher(w *world, null *os.File) (pid int, err error) {
	theirs := []*os.File{null}
	defer func() {
		for _, f := range theirs[1:] {
			f.Close()
		}
	}()
	for i, to := range []*sink{j.out.stdout, j.out.stderr} {
		ours, end, err := pipe()
		if err != nil {
			return 0, err
		}
		theirs = append(theirs, end)
		first := w.launcher.errors
		if i == 0 {
			first = nil
		}
		j.out.attach(w.first, fmt.Sprintf("[%d:*] ", w.number), ours, to, first)
	}
	files := []uintptr{theirs[0].Fd(), theirs[1].Fd(), theirs[2].Fd()}
	pid, err = syscall.ForkExec(w.launcher.path, w.launcher.args, &syscall.ProcAttr{Env: w.launcher.env,
		Files: files, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", w.launcher.path, err)
	}
	go j.watchLauncher(w, pid)
	return pid, nil
}

// watchLauncher ends a launcher that waits for a host that it cannot reach. Hydra does not notice that its child, the
// remote shell, has ended. (For ssh, remote-shell.sh ends Hydra.) So a child that has ended before the processes have
// connected is taken as a failure.
func (j *job) watchLauncher(w *world, pid int) {
	for found := 0; found < 2; {
		select {
		case <-w.launcher.errors.ended:
			return
		case <-time.After(graceKilled / 2):
		}
		if j.names.Has(pmi1.ConnectedName(w.parent)) {
			return
		}
		found++
		if !w.launcher.hasZombie(pid) {
			found = 0
		}
	}
	j.mail.send(killWorld{w})
}

// hasZombie notes the children of the launcher, whose id is pid. It returns whether one of them has ended and the
// launcher has not noticed it.
func (l *remoteLauncher) hasZombie(pid int) (found bool) {
	var children []launcherChild
	for _, p := range childrenOf(pid, "/proc") {
		state, started := stateOf(p.pid)
		found = found || state == "Z"
		children = append(children, launcherChild{p.pid, started})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.children = children
	return found
}

// endChildren kills the children of the launcher that have outlived it: they still try to reach a host.
func (l *remoteLauncher) endChildren() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.children {
		if _, started := stateOf(c.pid); started != c.started || started == "" {
			continue
		}
		if syscall.Kill(-c.pid, syscall.SIGKILL) != nil { // it has no process group of its own
			syscall.Kill(c.pid, syscall.SIGKILL)
		}
	}
}

// stateOf returns the state of a process, and the time at which it has started; empty if it does not exist.
func stateOf(pid int) (state, started string) {
	const stateField, startField = 0, 19
	fields := statOf("/proc", strconv.Itoa(pid))
	if len(fields) <= startField {
		return "", ""
	}
	return string(fields[stateField]), string(fields[startField])
}

// launcherEnded determines what the end of the launcher of a job on other hosts means. The launcher has ended the
// processes of the job. If they had not connected to the processes that started them, these get the reason, and decide
// themselves how to continue.
func (j *job) launcherEnded(rank int, status syscall.WaitStatus) {
	w := j.ranks[rank].world
	connected := j.names.Take(pmi1.ConnectedName(w.parent))
	if !connected {
		w.launcher.endChildren()
	}
	j.noteEnded(rank)
	j.freeWorld(w)
	if code := status.ExitStatus(); connected && code != 0 {
		if status.Signaled() {
			code = statusSignal + int(status.Signal())
		}
		if j.failure == nil {
			j.failure = &failure{code, []string{fmt.Sprintf("job %d on %s ended with status %d (%s)",
				w.number, w.launcher.hosts, code, w.launcher.name)}}
		}
	}
	if connected {
		return
	}
	go func() {
		text := fmt.Sprintf("%s could not start the processes on %s", w.launcher.name, w.launcher.hosts)
		if first := w.launcher.errors.text(); first != "" {
			text += ": " + first
		}
		j.names.Publish(pmi1.EndedName(w.parent), text)
	}()
}

// firstLines keeps the first lines that a launcher writes to its standard error, to name the reason if it fails.
type firstLines struct {
	mu    sync.Mutex
	lines []byte
	ended chan struct{} // closed at the end of the stream
}

// maxReason is the number of bytes of a launcher's error output that become part of an error message.
const maxReason = 300

func (l *firstLines) add(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, data[:min(len(data), maxReason-len(l.lines))]...)
}

// text returns the lines as one line. It waits until the stream has ended, but not long.
func (l *firstLines) text() string {
	select {
	case <-l.ended:
	case <-time.After(graceTerm):
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(strings.Fields(string(l.lines)), " ")
}
