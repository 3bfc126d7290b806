package main

import (
	"cmp"
	"errors"
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

// relayRank is the first argument of a gompirun process that runs a rank's program on another host. The program and its
// arguments follow.
const relayRank = "--relay-rank"

// runRelay runs a rank's program and sends its records to gompirun. It returns the program's exit status, or ends by
// the signal that has ended the program. It must run before this process opens other descriptors, since the program
// must inherit the launcher's descriptors under unchanged numbers.
func runRelay(argv []string) int {
	runtime.LockOSThread() // the end of this thread would kill the program
	environ := os.Environ()
	rank, err := strconv.Atoi(cmp.Or(variable(environ, "PMIX_RANK"), variable(environ, "PMI_RANK")))
	if err != nil {
		return refuse(errors.New("cannot record this rank's calls (--stats, --trace, --records): the " +
			"launcher set neither PMI_RANK nor PMIX_RANK"))
	}
	sender, err := relay.Connect(variable(environ, relay.EnvRelay), rank)
	if err != nil {
		host, _ := os.Hostname()
		return refuse(fmt.Errorf("rank %d on host %s cannot connect to gompirun to send "+
			"the records of its calls: %s", rank, host, strings.ReplaceAll(err.Error(), "\n", "; ")))
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
	// The program inherits the descriptor under its number in this process. Any fixed number could be one of the
	// launcher's descriptors.
	fd := int(memory.File().Fd())
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
		return refuse(err)
	}
	cmd := &exec.Cmd{Path: path, Args: argv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: append(preloaded(without(without(environ, relay.EnvRelay), insight.EnvRank), library, fd),
			insight.EnvRank+"=0"),
		// The program has a process group of its own. Otherwise it would get each signal that the launcher
		// sends to the process group twice: from the launcher, and from this process, which forwards signals.
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
		go memory.UpdateClock(stop)
	}
	go func() { done <- sender.Follow(memory, stop) }()
	status := shellStatus(cmd.Wait())
	close(stop)
	sender.Hurry(relayDrainTimeout)
	if err := <-done; err != nil {
		fmt.Fprintf(os.Stderr, "gompirun: rank %d: some records of its calls did not reach gompirun: %v\n",
			rank, err)
	}
	if status > statusSignal && cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		endBySignal(syscall.Signal(status - statusSignal))
	}
	return status
}
