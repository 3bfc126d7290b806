package boot

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"gompirma/core/random"
	"gompirma/core/siphash"
)

// Port accepts connections of processes of any job that know its name. The name contains a secret, by which both sides
// prove that they know the name. The connections carry the data by which communicators between the jobs are created.
//
// A name is "gompirma:SECRET:ID:PORT:ADDRESS,ADDRESS". Processes of this machine connect to the abstract Unix socket
// "gompirma-ID". Others connect to the TCP port PORT, which is 0 if no TCP port could be opened.
type Port struct {
	Name string
	// Arrivals receives the authenticated connections. It is never closed.
	Arrivals chan net.Conn

	secret    []byte
	listeners []net.Listener
	slots     chan struct{} // limits the number of connections that are being authenticated
	closed    chan struct{}
	close     sync.Once
}

const (
	portPrefix   = "gompirma:"
	nonceBytes   = 16
	proofBytes   = 8
	proofTimeout = 2 * time.Second  // after which a connection that has not proved that it knows the name is closed
	dialTimeout  = 10 * time.Second // for a connection to one address
	maxProving   = 64
	maxArrivals  = 1024 // connections that wait for an accept
)

// OpenPort opens a port at the permitted addresses. Errors: the system's error if no socket can be opened.
func OpenPort(permitted ListenSpec) (*Port, error) {
	var b [24]byte
	if err := random.Read(b[:]); err != nil {
		return nil, err
	}
	p := &Port{secret: b[:16], Arrivals: make(chan net.Conn, maxArrivals), slots: make(chan struct{}, maxProving),
		closed: make(chan struct{})}
	id, tcpPort := hex.EncodeToString(b[16:]), "0"
	permitted.Addresses = permitted.Addresses[:min(len(permitted.Addresses), maxAddresses)]
	local, err := net.Listen("unix", "@gompirma-"+id)
	if err == nil {
		p.listeners = append(p.listeners, local)
	}
	all, tcpErr := permitted.listenIn(0)
	if tcpErr == nil {
		p.listeners = append(p.listeners, all...)
		_, tcpPort, _ = net.SplitHostPort(all[0].Addr().String())
	} else if err != nil {
		return nil, tcpErr
	}
	p.Name = portPrefix + strings.Join([]string{hex.EncodeToString(p.secret), id, tcpPort,
		strings.Join(permitted.Addresses, ",")}, ":")
	for _, l := range p.listeners {
		go p.accept(l)
	}
	return p, nil
}

// Close closes the port, and the connections that no accept has received.
func (p *Port) Close() {
	p.close.Do(func() {
		close(p.closed)
		closeAll(p.listeners)
		for {
			select {
			case c := <-p.Arrivals:
				c.Close()
			default:
				return
			}
		}
	})
}

// Accept waits for a connection, at most until the deadline unless it is zero. Errors: os.ErrDeadlineExceeded, or
// another error if the port is closed.
func (p *Port) Accept(deadline time.Time) (net.Conn, error) {
	var late <-chan time.Time
	if !deadline.IsZero() {
		late = time.After(time.Until(deadline))
	}
	select {
	case c := <-p.Arrivals:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-late:
		return nil, os.ErrDeadlineExceeded
	}
}

// IsPortName returns whether a text has the form of the name of a port.
func IsPortName(text string) bool { return strings.HasPrefix(text, portPrefix) }

func (p *Port) accept(l net.Listener) {
	for {
		c, err := acceptFrom(l)
		if err != nil {
			return
		}
		select {
		case p.slots <- struct{}{}:
			go p.admit(c)
		default:
			c.Close()
		}
	}
}

// acceptFrom waits for a connection. It returns an error only if the listener has been closed.
func acceptFrom(l net.Listener) (net.Conn, error) {
	for {
		c, err := l.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return c, err
		}
		<-time.After(10 * time.Millisecond) // for example, out of descriptors
	}
}

// admit authenticates a connection, and passes it to Arrivals.
func (p *Port) admit(c net.Conn) {
	defer func() { <-p.slots }()
	if err := prove(c, p.secret, false); err != nil {
		c.Close()
		return
	}
	select {
	case <-p.closed:
		c.Close()
	case p.Arrivals <- c:
	default:
		c.Close()
	}
}

// prove exchanges proofs that both sides of a connection know a secret. Each side sends a random number and proves that
// it knows the secret by a keyed hash of both numbers. The side that accepted the connection replies only to a valid
// proof.
func prove(c net.Conn, secret []byte, connects bool) error {
	c.SetDeadline(time.Now().Add(proofTimeout))
	defer c.SetDeadline(time.Time{})
	le := binary.LittleEndian
	word := func(b []byte, i int) uint64 { return le.Uint64(b[8*i:]) }
	var accepting, connecting [nonceBytes]byte // numbers of the two sides
	proof := func(side uint64) []byte {
		return le.AppendUint64(nil, siphash.Sum([2]uint64{word(secret, 0), word(secret, 1)}, side,
			word(accepting[:], 0), word(accepting[:], 1), word(connecting[:], 0), word(connecting[:], 1)))
	}
	send := func(b []byte) error {
		_, err := c.Write(b)
		return err
	}
	check := func(side uint64) error {
		var theirs [proofBytes]byte
		if _, err := io.ReadFull(c, theirs[:]); err != nil {
			return err
		}
		if !bytes.Equal(theirs[:], proof(side)) {
			return errors.New("the other side does not know the port's secret")
		}
		return nil
	}
	mine, theirs := &accepting, &connecting
	if connects {
		mine, theirs = theirs, mine
	}
	if err := random.Read(mine[:]); err != nil {
		return err
	}
	if connects {
		if _, err := io.ReadFull(c, theirs[:]); err != nil {
			return err
		}
		if err := send(append(mine[:], proof(1)...)); err != nil {
			return err
		}
		return check(0)
	}
	if err := send(mine[:]); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, theirs[:]); err != nil {
		return err
	}
	if err := check(1); err != nil {
		return err
	}
	return send(proof(0))
}

// ErrPortName is the error of a text that is not the name of a port.
var ErrPortName = errors.New("not the name of a port")

// Dial connects to the port with the given name. Errors: ErrPortName, or the system's errors.
func Dial(name string) (net.Conn, error) {
	fields := strings.SplitN(strings.TrimPrefix(name, portPrefix), ":", 4)
	if !strings.HasPrefix(name, portPrefix) || len(fields) != 4 {
		return nil, ErrPortName
	}
	secret, err := hex.DecodeString(fields[0])
	port, err2 := strconv.ParseUint(fields[2], 10, 16)
	if err != nil || err2 != nil || len(secret) != 16 {
		return nil, ErrPortName
	}
	dialed := func(network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
		defer cancel()
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		if err == nil {
			if err = prove(c, secret, true); err != nil {
				c.Close()
				c = nil
			}
		}
		return c, err
	}
	c, err := dialed("unix", "@gompirma-"+fields[1])
	if err == nil {
		return c, nil
	}
	for _, a := range strings.Split(fields[3], ",") {
		if a == "" || port == 0 {
			continue
		}
		var one error
		if c, one = dialed("tcp", net.JoinHostPort(a, fields[2])); one == nil {
			return c, nil
		}
		err = fmt.Errorf("%w; %w", err, one)
	}
	return nil, err
}

// Exchange sends a text to the other side of a connection, and returns the text that the other side has sent. It waits
// for the other side without a limit.
func Exchange(c net.Conn, text []byte, maxBytes int) ([]byte, error) {
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...))
		sent <- err
	}()
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint64(head[:])
	if size > uint64(maxBytes) {
		return nil, fmt.Errorf("the other side sent a text of %d bytes; the limit is %d bytes", size,
			maxBytes)
	}
	theirs := make([]byte, size)
	if _, err := io.ReadFull(c, theirs); err != nil {
		return nil, err
	}
	return theirs, <-sent
}
