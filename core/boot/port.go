package boot

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"gompirma/core/random"
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

// Accept waits for a connection. Returns an error if the port is closed.
func (p *Port) Accept() (net.Conn, error) {
	select {
	case c := <-p.Arrivals:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
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
	var numbers [2][nonceBytes]byte // of the accepting and the connecting side
	side := 0
	if connects {
		side = 1
	}
	if err := random.Read(numbers[side][:]); err != nil {
		return err
	}
	hash := func(side byte) []byte {
		h := hmac.New(sha256.New, secret)
		h.Write([]byte{side})
		h.Write(numbers[0][:])
		h.Write(numbers[1][:])
		return h.Sum(nil)
	}
	send := func(b []byte) error {
		_, err := c.Write(b)
		return err
	}
	check := func(side byte) error {
		var theirs [sha256.Size]byte
		if _, err := io.ReadFull(c, theirs[:]); err != nil {
			return err
		}
		if !hmac.Equal(theirs[:], hash(side)) {
			return errors.New("the other side does not know the port's secret")
		}
		return nil
	}
	if connects {
		if _, err := io.ReadFull(c, numbers[0][:]); err != nil {
			return err
		}
		if err := send(append(numbers[1][:], hash(1)...)); err != nil {
			return err
		}
		return check(0)
	}
	if err := send(numbers[0][:]); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, numbers[1][:]); err != nil {
		return err
	}
	if err := check(1); err != nil {
		return err
	}
	return send(hash(0))
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
		var head [8]byte
		for i := range head {
			head[i] = byte(len(text) >> (8 * i))
		}
		_, err := c.Write(append(head[:], text...))
		sent <- err
	}()
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	size := 0
	for i := range head {
		size |= int(head[i]) << (8 * i)
	}
	if size < 0 || size > maxBytes {
		return nil, fmt.Errorf("the other side sent a text of %d bytes", size)
	}
	theirs := make([]byte, size)
	if _, err := io.ReadFull(c, theirs); err != nil {
		return nil, err
	}
	return theirs, <-sent
}
