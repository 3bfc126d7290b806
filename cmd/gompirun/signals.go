package main

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSignals forwards signals to gompirun as events of the job. A signal that was ignored when gompirun started
// (nohup, a background job of a script) stays ignored, also in the ranks.
func (j *job) watchSignals() {
	signals := make(chan os.Signal, 16)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGTSTP, syscall.SIGCONT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	// gompirun detects a closed output pipe by a write that fails with EPIPE, so SIGPIPE must not kill it. It
	// installs a handler instead of ignoring the signal, because the ranks would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		for s := range signals {
			switch s {
			case syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT:
				// A rank may have been started although its event `started` is not in the mailbox yet.
				// This rank must get the signal too. Locking j.forking waits until the event is in the
				// mailbox. Signals that end the job need no such wait, because the job sends them again
				// when the event `started` arrives.
				j.forking.Lock()
				j.forking.Unlock() //nolint:staticcheck // it only waits
			}
			j.mail.send(interrupted{s.(syscall.Signal)})
		}
	}()
}

// signalRank sends a signal to a rank and to all processes in its process group.
func (j *job) signalRank(r *rank, s syscall.Signal) {
	if r.pid == 0 || r.ended {
		return
	}
	// If no such group exists, the rank has changed its process group: only the rank gets the signal.
	if syscall.Kill(-r.pid, s) != nil {
		syscall.Kill(r.pid, s)
	}
}

// signalAll sends a signal to every running rank.
func (j *job) signalAll(s syscall.Signal) {
	for i := range j.ranks {
		j.signalRank(&j.ranks[i], s)
	}
}

// signalCatchers sends a signal to every running rank that catches it. The other ranks would be killed.
func (j *job) signalCatchers(s syscall.Signal) {
	for i := range j.ranks {
		if r := &j.ranks[i]; r.pid != 0 && !r.ended && catches("/proc", r.pid, s) {
			j.signalRank(r, s)
		}
	}
}
