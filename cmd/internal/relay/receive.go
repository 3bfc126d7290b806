package relay

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"gompirma/core/insight"
)

// Receiver receives the records of all remote ranks. It stores them in `memory`, which has a copy of each rank's part.
type Receiver struct {
	memory *insight.Memory
	secret string
	ring   int // size of each rank's ring in bytes
	stop   chan struct{}
	now    func() time.Duration // CLOCK_MONOTONIC, except in tests
	all    sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  []net.Conn
	connOf map[int]net.Conn // by rank, the connection on which the rank sends
	errs   []error
}

// NewReceiver returns a receiver that stores records in m. It declares the ranks' parts of m to be copies of remote
// memory.
func NewReceiver(m *insight.Memory, ring int, secret string) *Receiver {
	m.Mirror()
	return &Receiver{memory: m, secret: secret, ring: ring, stop: make(chan struct{}), now: monotonic,
		connOf: map[int]net.Conn{}}
}

// Serve accepts connections until the listener is closed.
func (r *Receiver) Serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			conn.Close()
			return
		}
		r.conns = append(r.conns, conn)
		r.all.Add(1)
		r.mu.Unlock()
		go func() {
			defer r.all.Done()
			defer conn.Close()
			r.serve(conn)
		}()
	}
}

// serve handles one connection. It closes the connection if the first frame does not have the secret.
func (r *Receiver) serve(conn net.Conn) {
	conn.SetDeadline(time.Now().Add(connectTime))
	what, data, err := receive(conn, make([]byte, 8+len(r.secret)))
	if err != nil || what != hello || len(data) != 8+len(r.secret) ||
		subtle.ConstantTimeCompare(data[8:], []byte(r.secret)) != 1 {
		return
	}
	rank := int(binary.LittleEndian.Uint64(data))
	if rank < 0 || rank >= r.memory.Ranks() {
		return
	}
	_, err = conn.Write(frame(welcome, number(uint64(r.memory.Mode())), number(uint64(r.ring)),
		[]byte(reversed(r.secret))))
	if err != nil {
		return
	}
	sends := false
	for err == nil {
		if what, data, err = receive(conn, data); err != nil {
			break
		}
		if what != ask && !sends {
			if sends = r.claimRank(rank, conn); !sends {
				return
			}
			conn.SetDeadline(time.Time{})
		}
		err = r.frame(rank, conn, what, data)
	}
	if !sends {
		return
	}
	if err != io.EOF {
		r.mu.Lock()
		r.errs = append(r.errs, fmt.Errorf("rank %d: %w", rank, err))
		r.mu.Unlock()
	}
	r.memory.Rank(rank).Reached(insight.NeverMore)
}

// claimRank reports whether `conn` is the connection on which the rank sends its records: the first one that calls
// claimRank. A rank may connect to several addresses of this host at once. It sends on one connection and closes the
// other connections.
func (r *Receiver) claimRank(rank int, conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.connOf[rank] != nil {
		return false
	}
	r.connOf[rank] = conn
	return true
}

// Problems returns the ranks that have sent no data (`silent`), and the errors that occurred at the other ranks.
func (r *Receiver) Problems() (silent []int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.memory.Ranks() {
		if r.connOf[i] == nil {
			silent = append(silent, i)
		}
	}
	return silent, errors.Join(r.errs...)
}

// frame handles a frame from a rank.
func (r *Receiver) frame(rank int, conn net.Conn, what byte, data []byte) error {
	part := r.memory.Rank(rank)
	switch {
	case what == ask:
		_, err := conn.Write(frame(answer, number(uint64(r.now()))))
		return err
	case what == records && len(data)%8 == 0:
		words := make([]uint64, len(data)/8)
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		for len(words) > 0 {
			n := min(words[0]>>32, uint64(len(words)))
			if err := part.Write(words[:n], r.stop); err != nil {
				return err
			}
			words = words[n:]
		}
		return nil
	case what == change && len(data) >= 8:
		return part.ApplyPage(int64(binary.LittleEndian.Uint64(data)), data[8:])
	case what == reached && len(data) == 8:
		part.Reached(time.Duration(binary.LittleEndian.Uint64(data)))
		return nil
	}
	return fmt.Errorf("invalid message %q of %d bytes", what, len(data))
}

// Close waits until all data in flight has arrived, but not longer than the time `patience`.
func (r *Receiver) Close(patience time.Duration) {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	done := make(chan struct{})
	go func() { r.all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		close(r.stop)
		r.mu.Lock()
		for _, c := range r.conns {
			c.Close()
		}
		r.mu.Unlock()
		<-done
	}
}
