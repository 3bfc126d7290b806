// Package relay sends the records of ranks on other hosts to gompirun. Each of these ranks has a relay process on its
// host. The relay process shares memory for records with the rank (core/insight), and sends the content of this memory
// over a TCP connection (Sender). Gompirun keeps a copy of this memory for each rank (Receiver). It reads the copy like
// the memory of a rank on its own host. The package owns the protocol of the connection and the conversion of clocks.
// It must not interpret records.
//
// A sender first sends its rank and the secret of the job, which the launcher puts into the environment of all
// processes. Then it requests gompirun's time, several times at first and every second later, since the clocks of hosts
// differ and drift. Before the sender sends a time, it converts the time to gompirun's clock.
package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// Frames: a byte for the type, four bytes for the length, and the data. Numbers are little-endian.
const (
	hello         = 'h' // rank, secret
	welcome       = 'w' // mode of recording (insight.Mode), size of the ring in bytes
	ask           = 'a' // empty: asks for the time
	answer        = 't' // the time
	records       = 'r' // 8-byte words of records
	change        = 'c' // an offset in the rank's part of the memory, and the new bytes at this offset
	reached       = 'u' // time up to which all records have been sent
	maxFrameBytes = 1 << 20
)

// EnvRelay names the environment variable with gompirun's addresses, each with the port, and the secret.
const EnvRelay = "GOMPIRMA_INSIGHT_RELAY"

var errStranger = errors.New("the other side of the connection does not belong to this job")

// frame returns an encoded frame.
func frame(what byte, parts ...[]byte) []byte {
	out := make([]byte, 5, 64)
	for _, p := range parts {
		out = append(out, p...)
	}
	out[0] = what
	binary.LittleEndian.PutUint32(out[1:], uint32(len(out)-5))
	return out
}

// receive reads a frame and returns its type and data. The data is in `buf`, or in a new slice if `buf` is too small.
func receive(r io.Reader, buf []byte) (what byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, buf, err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > maxFrameBytes {
		return 0, buf, fmt.Errorf("invalid message of %d bytes", n)
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

// clock holds `offset`, the difference between gompirun's clock and this host's clock, and `target`, the latest
// estimate of this difference. The times of a rank must not jump. Therefore `offset` approaches `target` by at most
// 1/slew of the elapsed time.
type clock struct {
	offset, target time.Duration
	at             time.Duration // time at which offset was computed
}

const slew = 10000

// now returns the offset at the time `at`.
func (c *clock) now(at time.Duration) time.Duration {
	most := (at - c.at) / slew
	c.at = at
	c.offset += max(-most, min(most, c.target-c.offset))
	return c.offset
}

// clockSample is one answer: gompirun's clock showed `remote` at some moment between the times `from` and `to`.
type clockSample struct{ from, to, remote time.Duration }

// estimateOffset returns an estimate of the offset, from the answer that took the shortest time.
func estimateOffset(all []clockSample) time.Duration {
	best := all[0]
	for _, a := range all {
		if a.to-a.from < best.to-best.from {
			best = a
		}
	}
	return best.remote - best.from - (best.to-best.from)/2
}
