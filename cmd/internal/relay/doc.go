// Package relay brings what ranks on other hosts record to gompirun, which is on one. Beside each rank runs a process
// that has the rank's part of the memory (core/insight), reads it, and sends it on over a TCP connection: Sender.
// gompirun has a copy of each part, and reads that as if the ranks were on its machine: Receiver.
//
// Who connects says the secret of the job, which all got from the launcher in their environment, and which rank it is.
// Then it asks for the time, some times over, and every second again: clocks of hosts differ, and drift. All times that
// are sent are gompirun's.
package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// What is sent: a byte for what it is, four for the length, and so many bytes, numbers as little-endian ones.
const (
	hello   = 'h' // secret, rank
	welcome = 'w' // mode, size of the ring
	ask     = 'a' // nothing: what time is it?
	answer  = 't' // that time
	records = 'r' // their words
	change  = 'c' // where, and the bytes there
	reached = 'u' // until when all has been sent
	longest = 1 << 20
)

// EnvRelay tells who runs beside a rank where gompirun is: addresses, port and secret.
const EnvRelay = "GOMPIRMA_INSIGHT_RELAY"

var errStranger = errors.New("whoever is there does not belong to this job")

// frame makes something to send.
func frame(what byte, parts ...[]byte) []byte {
	out := make([]byte, 5, 64)
	for _, p := range parts {
		out = append(out, p...)
	}
	out[0] = what
	binary.LittleEndian.PutUint32(out[1:], uint32(len(out)-5))
	return out
}

// receive reads what was sent, into buf if that is large enough.
func receive(r io.Reader, buf []byte) (what byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, buf, err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > longest {
		return 0, buf, fmt.Errorf("%d bytes at once", n)
	}
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	_, err = io.ReadFull(r, buf[:n])
	return head[0], buf[:n], err
}

func number(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// clock is how much later it is at gompirun. What is known of that changes, but the times of a rank go on: they are
// made longer or shorter by a ten-thousandth until they are right.
type clock struct {
	later, right time.Duration
	at           time.Duration // when later was so
}

const slew = 10000

// now returns how much later it is at a time.
func (c *clock) now(at time.Duration) time.Duration {
	most := (at - c.at) / slew
	c.at = at
	c.later += max(-most, min(most, c.right-c.later))
	return c.later
}

// asked is one answer: it was there at some moment between two.
type asked struct{ from, to, there time.Duration }

// later returns how much later it is there, by the answer that came fastest.
func later(all []asked) time.Duration {
	best := all[0]
	for _, a := range all {
		if a.to-a.from < best.to-best.from {
			best = a
		}
	}
	return best.there - best.from - (best.to-best.from)/2
}
