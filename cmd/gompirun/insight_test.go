package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/insight"
)

// endless is a listener with an unlimited number of remaining records.
type endless struct {
	begun chan struct{}
	given chan struct{}
}

func (e *endless) option() string             { return "--endless" }
func (e *endless) mode() insight.Mode         { return 0 }
func (e *endless) added(*startedJob)          {}
func (e *endless) begin(*job) error           { return nil }
func (e *endless) record(int, []uint64) error { return nil }
func (e *endless) abandon()                   { close(e.given) }
func (e *endless) end() error {
	close(e.begun)
	<-e.given
	return nil
}

// Checks that a signal to gompirun ends the processing of the remaining records.
func TestFinishOnSignal(t *testing.T) {
	e := &endless{make(chan struct{}), make(chan struct{})}
	o := &observation{listeners: []listener{e}, stop: make(chan struct{}), done: make(chan error, 1)}
	o.done <- nil
	finished := make(chan error, 1)
	go func() { finished <- o.finish(false) }()
	<-e.begun
	require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGTERM))
	select {
	case err := <-finished:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "it goes on")
	}
}
