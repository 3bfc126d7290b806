package main

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSignals sends the job what others send gompirun. A signal that was ignored when gompirun started (nohup, a
// background job of a script) stays ignored, in the ranks as well.
func (j *job) watchSignals() {
	signals := make(chan os.Signal, 16)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGTSTP, syscall.SIGCONT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	// A broken pipe is noticed where gompirun writes. Caught and not ignored, since the ranks would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		for s := range signals {
			switch s {
			case syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT:
				// A rank may run before its start is in the mailbox. It must get this signal, too. The
				// signals that end the job are sent to such a rank later.
				j.forking.Lock()
				j.forking.Unlock() //nolint:staticcheck // it only waits
			}
			j.mail.send(interrupted{s.(syscall.Signal)})
		}
	}()
}

// signalRank sends a signal to a rank and whatever runs in its process group.
func (j *job) signalRank(r *rank, s syscall.Signal) {
	if r.pid == 0 || r.ended {
		return
	}
	// The rank may have made itself a group or session of its own.
	if syscall.Kill(-r.pid, s) != nil {
		syscall.Kill(r.pid, s)
	}
}

// signalAll sends a signal to every rank that runs.
func (j *job) signalAll(s syscall.Signal) {
	for i := range j.ranks {
		j.signalRank(&j.ranks[i], s)
	}
}
