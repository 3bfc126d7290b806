package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"gompirma/cmd/internal/relay"
	"gompirma/core/insight"
)

// relayRank is the argument of a process beside a rank on another host, followed by the rank's program and arguments.
const relayRank = "--relay-rank"

// runRelay runs a rank's program and sends on what it records. It returns the program's exit status, or ends by the
// signal that has ended that. It must be the first thing that the process does: the program inherits all that the
// launcher has given.
func runRelay(argv []string) int {
	runtime.LockOSThread() // whose end would be taken for this process'
	environ := os.Environ()
	rank, err := strconv.Atoi(cmp.Or(variable(environ, "PMIX_RANK"), variable(environ, "PMI_RANK")))
	if err != nil {
		return refuse(fmt.Errorf("%s: no launcher has said which rank this is", relayRank))
	}
	sender, err := relay.Connect(variable(environ, relay.EnvRelay), rank)
	if err != nil {
		host, _ := os.Hostname()
		return refuse(fmt.Errorf("rank %d on host %s does not reach gompirun, which is to have what it "+
			"records: %s", rank, host, strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	memory, err := insight.Create(1, sender.Mode, sender.Ring)
	if err != nil {
		return refuse(err)
	}
	library, err := insightLibrary()
	if err != nil {
		return refuse(err)
	}
	path := argv[0]
	if !strings.Contains(path, "/") {
		found := false
		if path, found = search(path, variable(environ, "PATH"), ""); !found {
			return refuse(fmt.Errorf("%s: not found in PATH", argv[0]))
		}
	}
	// The program has the descriptor by the number that it has here: others are the launcher's.
	fd := int(memory.File().Fd())
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
		return refuse(err)
	}
	cmd := &exec.Cmd{Path: path, Args: argv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: append(preloaded(without(environ, relay.EnvRelay), library, fd), insight.EnvRank+"=0"),
		// A group of its own: what is sent to this one is passed on, and would come twice.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT)
	if err := cmd.Start(); err != nil {
		return refuse(err)
	}
	go func() {
		for s := range signals {
			_ = syscall.Kill(-cmd.Process.Pid, s.(syscall.Signal))
		}
	}()
	stop, done := make(chan struct{}), make(chan error, 1)
	if sender.Mode&insight.Stats != 0 {
		go memory.Tick(stop)
	}
	go func() { done <- sender.Follow(memory, stop) }()
	status := shellStatus(cmd.Wait())
	close(stop)
	sender.Hurry(relayPatience)
	if err := <-done; err != nil {
		fmt.Fprintf(os.Stderr, "gompirun: rank %d: not all that it recorded has reached gompirun: %v\n", rank,
			err)
	}
	if status > statusSignal && cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		endBySignal(syscall.Signal(status - statusSignal))
	}
	return status
}
