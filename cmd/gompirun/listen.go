package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/cmd/internal/carriers"
	"gompirma/cmd/internal/preflight"
	"gompirma/cmd/internal/relay"
	"gompirma/core/random"
)

// This file records calls of ranks on other hosts. There the launcher starts a gompirun process for each rank, which
// runs the rank's program and sends its records to this process (relay.go). The listeners of this process handle these
// records like records of ranks on this host.

// relayDrainTimeout is the longest wait for records in flight after the job has ended.
const relayDrainTimeout = 30 * time.Second

// listenRemote runs a job with listeners on other hosts. It returns the exit status.
func listenRemote(o *options) int {
	self, err := os.Executable()
	if err != nil {
		return refuse(err)
	}
	places, err := o.placeRanks()
	if err != nil {
		return refuse(err)
	}
	var programs []program
	for _, p := range o.parts {
		// an error is ignored, since the program may exist only on the other hosts
		if program, err := prepare(p, os.Environ()); err == nil {
			programs = append(programs, program)
		}
	}
	if err := checkPrograms(programs, o); err != nil {
		return refuse(err)
	}
	j := &job{opts: o, mail: newMailbox(), ranks: make([]rank, o.size())}
	for i, p := range places {
		first := 0
		if i > 0 {
			first = j.nodes[i-1].first + j.nodes[i-1].size
		}
		j.nodes = append(j.nodes, node{number: i, host: p.name, first: first, size: p.slots})
	}
	j.out = newOutput(j.mail, os.Stdout, os.Stderr)
	if j.observation, err = observe(o.listeners, len(j.ranks)); err != nil {
		return refuse(err)
	}
	defer j.observation.memory.Close()
	only, err := permittedAddresses()
	if err != nil {
		return refuse(err)
	}
	listener, err := preflight.Listen(os.Getenv("GOMPIRMA_PORTS"), only)
	if err != nil {
		return refuse(err)
	}
	defer listener.Close()
	secret, err := random.Text()
	if err != nil {
		return refuse(err)
	}
	where, err := reachable(preflight.Port(listener), only)
	if err != nil {
		return refuse(err)
	}
	for i := range o.parts {
		p := &o.parts[i]
		p.argv = append([]string{self, relayRank}, p.argv...)
		if p.inherit.limited {
			p.inherit.list = append(p.inherit.list, relay.EnvRelay)
		}
	}
	s, args, env, err := remoteCommand(o, append(os.Environ(),
		relay.EnvRelay+"="+strings.Join(append(where, secret), " ")))
	if err != nil {
		return refuse(err)
	}
	receiver := relay.NewReceiver(j.observation.memory, j.observation.ring, secret)
	if err := j.observation.start(j); err != nil {
		return refuse(err)
	}
	go receiver.Serve(listener)
	status := runLauncher(s.path, args, env)
	receiver.Close(relayDrainTimeout)
	if status != 0 {
		j.failure = &failure{status: status}
	}
	silent, problem := receiver.Problems()
	if len(silent) > 0 && status == 0 {
		problem = errors.Join(fmt.Errorf("gompirun received no data on the MPI calls of %s",
			ranksOf(silent)), problem)
	}
	if err := errors.Join(problem, j.observation.finish(status > statusSignal)); err != nil {
		if status = max(status, statusFailed); !o.quiet {
			j.out.stderr.printText("gompirun: "+strings.ReplaceAll(err.Error(), "\n",
				"\ngompirun: ")+"\n", true)
		}
	}
	return status
}

// permittedAddresses returns the addresses of this host that GOMPIRMA_INTERFACE permits; nil if the variable is not
// set.
func permittedAddresses() ([]string, error) {
	if os.Getenv(envInterface) == "" {
		return nil, nil
	}
	found, err := carriers.Query()
	if err == nil && len(found.Addresses) == 0 {
		err = errors.New(found.Error)
	}
	return preflight.ListenAddresses(found.Addresses), err
}

// reachable returns the addresses, with the port, at which other hosts can connect to this host. If only is not empty,
// these are the addresses in only.
func reachable(port int, only []string) (where []string, err error) {
	for _, a := range only {
		where = append(where, net.JoinHostPort(a, strconv.Itoa(port)))
	}
	if len(where) > 0 {
		return where, nil
	}
	addresses, err := net.InterfaceAddrs()
	for _, a := range addresses {
		if ip, is := a.(*net.IPNet); is && !ip.IP.IsLoopback() && ip.IP.IsGlobalUnicast() {
			where = append(where, net.JoinHostPort(ip.IP.String(), strconv.Itoa(port)))
		}
	}
	if len(where) == 0 {
		err = errors.Join(errors.New("this host has no address at which other hosts could reach gompirun"), err)
	}
	return where, err
}

// runLauncher runs the launcher for the other hosts, and returns its exit status as a shell does: 128 plus the signal
// if a signal ended it. The kernel kills the launcher if gompirun ends. runLauncher forwards signals to the launcher,
// except SIGINT and SIGQUIT from a terminal, which the terminal sends to the launcher too.
func runLauncher(path string, args, env []string) int {
	runtime.LockOSThread() // the end of this thread would kill the launcher
	cmd := &exec.Cmd{Path: path, Args: args, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGINT,
		syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		return refuse(err)
	}
	_, errTerminal := unix.IoctlGetTermios(0, unix.TCGETS)
	go func() {
		for s := range signals {
			if typed := s == syscall.SIGINT || s == syscall.SIGQUIT; !typed || errTerminal != nil {
				_ = cmd.Process.Signal(s)
			}
		}
	}()
	return shellStatus(cmd.Wait())
}

// shellStatus returns the exit status of a command as a shell does: 128 plus the signal if a signal ended it.
func shellStatus(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &ended):
		return statusFailed
	}
	if w := ended.Sys().(syscall.WaitStatus); w.Signaled() {
		return statusSignal + int(w.Signal())
	}
	return ended.ExitCode()
}
