package main

import (
	"sync"
	"syscall"

	"gompirma/core/boot/pmi1"
)

// What the job's goroutine is told.
type (
	// started: this rank runs.
	started struct{ rank, pid int }
	// unable: this rank could not be started.
	unable struct {
		rank int
		err  error
	}
	// allStarted: no further rank will be started.
	allStarted struct{}
	// ended: the children that had ended when somebody looked, ranks and what ranks left behind.
	ended struct{ children []child }
	// childless: neither a rank nor anything left behind by one is there any longer.
	childless struct{}
	// said: a rank told the launcher something about itself.
	said struct {
		rank  int
		event pmi1.Event
	}
	// interrupted: somebody sent gompirun a signal.
	interrupted struct{ signal syscall.Signal }
	// outputLost: gompirun's own output cannot be written any longer.
	outputLost struct{ err error }
	// hopeless: what the ranks have called cannot come to an end.
	hopeless struct{ why string }
	// outputDone: what the ranks wrote has been passed on to the end.
	outputDone struct{}
	// tick: a time has come.
	tick int
)

// child is a process that has ended.
type child struct {
	pid    int
	status syscall.WaitStatus
}

// mailbox passes events from any goroutine to the job's, in order, without ever making a sender wait.
type mailbox struct {
	mu     sync.Mutex
	events []any         // guarded by mu
	filled chan struct{} // holds a token if there may be events
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

// receive waits for events and returns all there are.
func (m *mailbox) receive() []any {
	<-m.filled
	m.mu.Lock()
	defer m.mu.Unlock()
	events := m.events
	m.events = nil
	return events
}
