package main

import (
	"sync"
	"syscall"

	"gompirma/core/boot/pmi1"
)

// The events that other goroutines send to the job's goroutine (job.run).
type (
	// started: this rank runs.
	started struct{ rank, pid int }
	// startFailed: this rank could not be started.
	startFailed struct {
		rank int
		err  error
	}
	// allStarted: no further rank will be started.
	allStarted struct{}
	// ended: these children have ended. They are ranks, or processes that ranks left behind.
	ended struct{ children []child }
	// childless: all ranks, and all processes that ranks left behind, have ended.
	childless struct{}
	// stateChange: a rank has sent the launcher a message about its state.
	stateChange struct {
		rank  int
		event pmi1.Event
	}
	// interrupted: gompirun has received a signal.
	interrupted struct{ signal syscall.Signal }
	// outputLost: gompirun's own output cannot be written any longer.
	outputLost struct{ err error }
	// cannotComplete: the calls of the ranks cannot complete.
	cannotComplete struct{ detail string }
	// outputDone: all output of the ranks has been forwarded.
	outputDone struct{}
	// tick: a timer has expired.
	tick int
)

// child is a process that has ended.
type child struct {
	pid    int
	status syscall.WaitStatus
}

// mailbox passes events from any goroutine to the job's goroutine, in order. Senders never wait.
type mailbox struct {
	mu     sync.Mutex
	events []any         // guarded by mu
	filled chan struct{} // holds a token if events may be non-empty
}

func newMailbox() *mailbox { return &mailbox{filled: make(chan struct{}, 1)} }

func (m *mailbox) send(event any) {
	m.mu.Lock()
	m.events = append(m.events, event)
	m.mu.Unlock()
	select {
	case m.filled <- struct{}{}:
	default:
	}
}

// receive waits for events and returns all of them.
func (m *mailbox) receive() []any {
	<-m.filled
	m.mu.Lock()
	defer m.mu.Unlock()
	events := m.events
	m.events = nil
	return events
}
