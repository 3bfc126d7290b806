package relay

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"gompirma/core/insight"
)

// Sender sends the records of a rank to gompirun.
type Sender struct {
	conn    net.Conn
	Mode    insight.Mode // which data the rank must record
	Ring    int          // size of the ring in bytes
	sync    clockSync
	buf     []byte // records that have not been sent
	out     chan struct{}
	lastAsk time.Time
}

// clockSync holds the sender's estimate of the offset to gompirun's clock.
type clockSync struct {
	mu      sync.Mutex
	clock   clock
	samples []clockSample // the last few answers
	askedAt time.Duration // time of the pending clock request; 0 if none
}

const (
	firstSamples = 32 // number of clock requests when the connection begins
	keptSamples  = 8  // later estimates use the fastest of this number of recent answers
)

// connectTime is the longest time for each attempt to reach gompirun.
const connectTime = 10 * time.Second

// Connect connects to gompirun. The argument `where` is the value of EnvRelay. The error lists the problem with each
// address.
func Connect(where string, rank int) (*Sender, error) {
	fields := strings.Fields(where)
	if len(fields) < 2 {
		return nil, fmt.Errorf("%s=%q: the addresses or the secret are missing", EnvRelay, where)
	}
	addresses, secret := fields[:len(fields)-1], fields[len(fields)-1]
	type result struct {
		s   *Sender
		err error
	}
	results := make(chan result, len(addresses))
	for _, a := range addresses {
		go func() {
			conn, err := net.DialTimeout("tcp", a, connectTime)
			if err != nil {
				results <- result{nil, err}
				return
			}
			s, err := Greet(conn, secret, rank)
			if err != nil {
				err = fmt.Errorf("%s: %w", a, err)
			}
			results <- result{s, err}
		}()
	}
	var errs []error
	for i := range addresses {
		r := <-results
		if r.err == nil {
			go func() { // closes the connections that are established after another one has been chosen
				for range addresses[i+1:] {
					if late := <-results; late.err == nil {
						late.s.conn.Close()
					}
				}
			}()
			return r.s, nil
		}
		errs = append(errs, r.err)
	}
	return nil, errors.Join(errs...)
}

// Greet sends the secret and the rank, and receives the mode and samples of gompirun's clock.
func Greet(conn net.Conn, secret string, rank int) (*Sender, error) {
	s := &Sender{conn: conn, out: make(chan struct{}), lastAsk: time.Now()}
	conn.SetDeadline(time.Now().Add(connectTime))
	_, err := conn.Write(frame(hello, number(uint64(rank)), []byte(secret)))
	if err != nil {
		conn.Close()
		return nil, err
	}
	what, data, err := receive(conn, nil)
	if err == nil && (what != welcome || len(data) != 16+len(secret) ||
		subtle.ConstantTimeCompare(data[16:], []byte(reversed(secret))) != 1) {
		err = errStranger
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	s.Mode, s.Ring = insight.Mode(binary.LittleEndian.Uint64(data)), int(binary.LittleEndian.Uint64(data[8:]))
	var all []clockSample
	for range firstSamples {
		from := monotonic()
		if _, err = conn.Write(frame(ask)); err == nil {
			what, data, err = receive(conn, data)
		}
		if err == nil && (what != answer || len(data) != 8) {
			err = errStranger
		}
		if err != nil {
			conn.Close()
			return nil, err
		}
		all = append(all, clockSample{from, monotonic(), time.Duration(binary.LittleEndian.Uint64(data))})
	}
	s.sync.clock = clock{estimateOffset(all), estimateOffset(all), monotonic()}
	conn.SetDeadline(time.Time{})
	go s.answers()
	return s, nil
}

// answers receives the answers to later clock requests.
func (s *Sender) answers() {
	defer close(s.out)
	var buf []byte
	for {
		what, data, err := receive(s.conn, buf)
		if err != nil || what != answer || len(data) != 8 {
			return
		}
		buf = data
		s.sync.mu.Lock()
		there := time.Duration(binary.LittleEndian.Uint64(data))
		all := append(s.sync.samples, clockSample{s.sync.askedAt, monotonic(), there})
		s.sync.samples = all[max(0, len(all)-keptSamples):]
		s.sync.clock.target = estimateOffset(s.sync.samples)
		s.sync.askedAt = 0
		s.sync.mu.Unlock()
	}
}

// offset returns the current offset to gompirun's clock. The result `asks` is true if the caller must now request
// another sample of the clock.
func (s *Sender) offset() (later time.Duration, asks bool) {
	s.sync.mu.Lock()
	defer s.sync.mu.Unlock()
	now := monotonic()
	if asks = s.sync.askedAt == 0 && time.Since(s.lastAsk) > time.Second; asks {
		s.lastAsk, s.sync.askedAt = time.Now(), now
	}
	return s.sync.clock.now(now), asks
}

// Follow sends the records of rank 0 in `m`. The caller closes stop after the rank has ended; Follow then sends the
// remaining records and returns. A lost connection does not stop the rank: Follow drains the rank's ring until the rank
// ends, and returns the error then.
func (s *Sender) Follow(m *insight.Memory, stop <-chan struct{}) error {
	var failed error
	later, _ := s.offset()
	sent := time.Time{}
	send := func(what byte, parts ...[]byte) {
		if failed == nil {
			_, failed = s.conn.Write(frame(what, parts...))
		}
	}
	flush := func() {
		if len(s.buf) > 0 {
			send(records, s.buf)
			s.buf = s.buf[:0]
		}
	}
	pieces := func() {
		err := m.Rank(0).ChangedPages(later, func(at int64, piece []byte) error {
			send(change, number(uint64(at)), piece)
			return failed
		})
		if failed == nil {
			failed = err
		}
	}
	err := m.Follow(stop, func(_ int, words []uint64) error {
		if len(s.buf)+8*len(words) > maxFrameBytes {
			flush()
		}
		insight.ShiftTimes(words, later)
		for _, w := range words {
			s.buf = binary.LittleEndian.AppendUint64(s.buf, w)
		}
		return nil
	}, func(until time.Duration) {
		// Data that a record refers to, such as the mapped objects of the process, must arrive before the
		// record.
		if len(s.buf) > 0 || time.Since(sent) > 100*time.Millisecond {
			pieces()
			flush()
			sent = time.Now()
		}
		send(reached, number(uint64(until+later)))
		var asks bool
		if later, asks = s.offset(); asks {
			send(ask)
		}
	})
	flush()
	pieces()
	if failed == nil {
		failed = err
	}
	if failed == nil {
		if c, is := s.conn.(*net.TCPConn); is {
			failed = c.CloseWrite()
			select {
			case <-s.out: // the receiver has read everything and closed the connection
			case <-time.After(connectTime):
			}
		}
	}
	s.conn.Close()
	return failed
}

// Hurry limits the time for sending the remaining records to `patience`.
func (s *Sender) Hurry(patience time.Duration) { s.conn.SetDeadline(time.Now().Add(patience)) }

func reversed(text string) string {
	b := []byte(text)
	for i, k := 0, len(b)-1; i < k; i, k = i+1, k-1 {
		b[i], b[k] = b[k], b[i]
	}
	return string(b)
}
