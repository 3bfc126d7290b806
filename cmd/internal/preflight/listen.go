package preflight

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
)

// ListenAddresses returns the addresses at which a program must listen. If GOMPIRMA_INTERFACE is set, it returns the
// given addresses except link-local ones. The caller passes only addresses that the variable permits. Otherwise it
// returns nil, which stands for all addresses of the host.
func ListenAddresses(addresses []Address) []string {
	if os.Getenv("GOMPIRMA_INTERFACE") == "" {
		return nil
	}
	only := []string{}
	for _, a := range addresses {
		if !ofOneLink(a.Address) {
			only = append(only, a.Address)
		}
	}
	return only
}

// Listen opens a port in the range `permitted` ("first-last"), or any port if `permitted` is "". It opens the same port
// at each of the given addresses of this host, or at all addresses of the host if addresses is nil.
func Listen(permitted string, addresses []string) (l net.Listener, err error) {
	var first, last int
	if permitted != "" {
		if _, err := fmt.Sscanf(permitted, "%d-%d", &first, &last); err != nil || first > last {
			return nil, fmt.Errorf("GOMPIRMA_PORTS=%s is not a range of ports such as "+
				"20000-20999", permitted)
		}
	}
	switch {
	case addresses == nil:
		addresses = []string{""}
	case len(addresses) == 0:
		return nil, errors.New("no address to listen at: GOMPIRMA_INTERFACE excludes all addresses of this " +
			"host")
	}
	const tries = 10 // a port that is free at one address may be in use at another
	for i := range max(last-first+1, tries) {
		port := first
		if first > 0 {
			port += i % (last - first + 1)
		}
		if l, err = listenAt(addresses, port); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no port to listen on is free: %w", err)
}

// multiListener is a listener at several addresses.
type multiListener struct {
	all    []net.Listener
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// listenAt opens a port at each of the addresses. If `port` is 0, the kernel selects the port at the first address.
func listenAt(addresses []string, port int) (net.Listener, error) {
	s := &multiListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	for _, a := range addresses {
		l, err := net.Listen("tcp", net.JoinHostPort(a, strconv.Itoa(port)))
		if err != nil {
			s.Close()
			return nil, err
		}
		port = Port(l)
		s.all = append(s.all, l)
	}
	for _, l := range s.all {
		go s.accept(l)
	}
	return s, nil
}

func (s *multiListener) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case s.conns <- conn:
		case <-s.closed:
			conn.Close()
		}
	}
}

func (s *multiListener) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *multiListener) Addr() net.Addr { return s.all[0].Addr() }

func (s *multiListener) Close() error {
	s.once.Do(func() {
		close(s.closed)
		for _, l := range s.all {
			l.Close()
		}
	})
	return nil
}
