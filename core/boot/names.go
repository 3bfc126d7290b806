package boot

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/boot/pmi1"
)

// Service names that all jobs of a user on a machine know. The process that publishes a name listens at an abstract
// Unix socket, whose address is made from the name. It sends the port to each process of the same user that connects.
// So a name ends with its process.
var published struct {
	mu     sync.Mutex
	byName map[string]net.Listener
}

const (
	nameTimeout = 2 * time.Second
	maxPortName = 4096
)

// nameSocket returns the address of the socket of a service name.
func nameSocket(service string) string {
	sum := fnv.New128a()
	sum.Write([]byte(service))
	return fmt.Sprintf("@gompirma-name-%d-%x", unix.Geteuid(), sum.Sum(nil))
}

// PublishName publishes a port under a service name. Returns pmi1.ErrName if the name has been published already.
func PublishName(service, port string) error {
	published.mu.Lock()
	defer published.mu.Unlock()
	l, err := net.Listen("unix", nameSocket(service))
	if errors.Is(err, unix.EADDRINUSE) {
		return pmi1.ErrName
	}
	if err != nil {
		return err
	}
	if published.byName == nil {
		published.byName = map[string]net.Listener{}
	}
	published.byName[service] = l
	go serveName(l, port)
	return nil
}

// serveName sends the port to each process that connects, until the listener is closed.
func serveName(l net.Listener, port string) {
	for {
		c, err := acceptFrom(l)
		if err != nil {
			return
		}
		// The text is shorter than the buffer of the socket, so the write does not wait for the other process.
		if isSameUser(c) {
			io.WriteString(c, port)
		}
		c.Close()
	}
}

// LookupName returns the port that is published under a service name. Returns pmi1.ErrName if the name is not
// published.
func LookupName(service string) (port string, err error) {
	c, err := net.Dial("unix", nameSocket(service))
	if errors.Is(err, unix.ECONNREFUSED) {
		return "", pmi1.ErrName
	}
	if err != nil {
		return "", err
	}
	defer c.Close()
	if !isSameUser(c) {
		return "", pmi1.ErrName
	}
	c.SetDeadline(time.Now().Add(nameTimeout))
	b, err := io.ReadAll(io.LimitReader(c, maxPortName))
	return string(b), err
}

// UnpublishName removes a service name. Returns pmi1.ErrName if this process has not published the name.
func UnpublishName(service string) error {
	published.mu.Lock()
	defer published.mu.Unlock()
	l := published.byName[service]
	if l == nil {
		return pmi1.ErrName
	}
	delete(published.byName, service)
	return l.Close()
}

// UnpublishAll removes all service names that this process has published.
func UnpublishAll() {
	published.mu.Lock()
	defer published.mu.Unlock()
	for _, l := range published.byName {
		l.Close()
	}
	published.byName = nil
}

// isSameUser returns whether the process at the other end of a connection belongs to the user of this process.
func isSameUser(c net.Conn) bool {
	same := false
	if raw, err := c.(*net.UnixConn).SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
			same = err == nil && int(cred.Uid) == unix.Geteuid()
		})
	}
	return same
}
