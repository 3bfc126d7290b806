package preflight

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"
)

// The protocol of a connection: the client sends the secret, and the server returns the bytes of the secret in reverse
// order. To measure latency, the client then sends words of 8 bytes, each of which the server returns. To measure
// bandwidth, the client finally sends data, and the server returns one word after the last byte.

const (
	probeTimeout = 3 * time.Second // time limit for a connection, and for each answer
	pingCount    = 200
	streamBytes  = 16 << 20 // maximum bytes of the bandwidth measurement, which also ends after one second
	strangerText = "connected, but no process of this job answers there"
)

type server struct {
	listener net.Listener
	secret   chan string // receives the secret when it is known
}

// Port returns the number of a port that Listen has opened.
func Port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// listen starts the server at the given addresses on a permitted port, and returns the port number.
func (s *server) listen(permitted string, addresses []string) (port int, err error) {
	if s.listener, err = Listen(permitted, addresses); err != nil {
		return 0, err
	}
	go s.serve()
	return Port(s.listener), nil
}

func (s *server) close() {
	if s.listener != nil {
		s.listener.Close()
	}
}

func (s *server) serve() {
	secret := ""
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		if secret == "" {
			secret = <-s.secret
		}
		go answer(conn, secret)
	}
}

// answer runs the server's side of a connection.
func answer(conn net.Conn, secret string) {
	defer conn.Close()
	said := make([]byte, len(secret))
	conn.SetDeadline(time.Now().Add(probeTimeout))
	if _, err := io.ReadFull(conn, said); err != nil || subtle.ConstantTimeCompare(said, []byte(secret)) != 1 {
		return
	}
	slices.Reverse(said)
	if _, err := conn.Write(said); err != nil {
		return
	}
	word := make([]byte, 8)
	for range pingCount {
		conn.SetDeadline(time.Now().Add(probeTimeout))
		if _, err := io.ReadFull(conn, word); err != nil {
			return
		}
		conn.Write(word)
	}
	data := make([]byte, 256<<10)
	conn.SetDeadline(time.Now().Add(4 * probeTimeout))
	for {
		n, err := conn.Read(data)
		if n > 0 && data[n-1] != 0 { // the client marks the end of the data by a last byte that is not zero
			conn.Write(word)
			return
		}
		if err != nil {
			return
		}
	}
}

// probe connects to an address and measures latency and bandwidth. It takes a few seconds at most.
func probe(address, secret string) (r result) {
	conn, err := net.DialTimeout("tcp", address, probeTimeout)
	if err != nil {
		return result{Error: shortError(err)}
	}
	defer conn.Close()
	said := []byte(secret)
	slices.Reverse(said)
	conn.SetDeadline(time.Now().Add(probeTimeout))
	back := make([]byte, len(secret))
	if _, err = conn.Write([]byte(secret)); err == nil {
		_, err = io.ReadFull(conn, back)
	}
	if err != nil || string(back) != string(said) {
		return result{Error: strangerText}
	}
	word := make([]byte, 8)
	took := make([]time.Duration, pingCount)
	for i := range took {
		binary.LittleEndian.PutUint64(word, uint64(i))
		began := time.Now()
		conn.SetDeadline(began.Add(probeTimeout))
		if _, err = conn.Write(word); err == nil {
			_, err = io.ReadFull(conn, word)
		}
		if err != nil {
			return result{Error: shortError(err)}
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	r.Latency = float64(took[pingCount/2].Nanoseconds()) / 2000
	data := make([]byte, 256<<10)
	began := time.Now()
	conn.SetDeadline(began.Add(4 * probeTimeout))
	sent := 0
	for sent < streamBytes && time.Since(began) < time.Second {
		n, err := conn.Write(data)
		if err != nil {
			return result{Error: shortError(err)}
		}
		sent += n
	}
	if _, err = conn.Write([]byte{1}); err == nil {
		_, err = io.ReadFull(conn, word)
	}
	if err != nil {
		return result{Error: shortError(err)}
	}
	r.Bandwidth = float64(sent) / time.Since(began).Seconds()
	return r
}

// shortError returns the operating system's text for an error. It omits the operation and the address, which Go adds.
func shortError(err error) string {
	var number syscall.Errno
	switch {
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, io.EOF):
		return "timeout: no answer"
	}
	if e, ok := err.(net.Error); ok && e.Timeout() {
		return "timeout: no answer"
	}
	return err.Error()
}
