package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/boot/pmi1"
)

// Neighbour watches during MPI_Init whether the next rank is alive. Each process watches the next one, so all processes
// are watched. A process can therefore distinguish a late process from a failed one even if the launcher does not
// report failures.
//
// Until the end of MPI_Init, every process listens on a port and has a connection to the port of the next rank. The
// next rank accepts the connection by sending one byte. From then on, the kernel keeps the connection open as long as
// the next rank's process lives, even if that process does not run. If a host or the path to it fails, the kernel's
// keepalive detects the failure. If a connection ends before the next rank has accepted it, the next rank has not
// necessarily failed: it may have left MPI_Init and closed its port.
type Neighbour struct {
	rank       int
	failed     chan struct{} // closed when the next rank's process is known to have failed
	err        error         // the reason; valid after failed is closed
	connected  atomic.Bool   // false before a connection exists, and after an unaccepted one has ended
	dialErr    atomic.Pointer[error]
	cancel     context.CancelFunc // ends the watch; nil if there is no watch
	listeners  []net.Listener     // all at the same port
	localAddrs []string           // addresses of this host

	mu       sync.Mutex
	watchers map[net.Conn]bool // connections of the processes that watch this one; nil after Close
}

// maxWatchers is the largest number of accepted connections. One connection belongs to the rank that watches this
// process. The limit is higher, because unrelated programs may connect too.
const maxWatchers = 8

// portKey returns the key under which a process publishes its port and the addresses of its host.
func portKey(rank int) string { return "port." + strconv.Itoa(rank) }

// noPort is the first word of the value that a process without a port publishes. The reason follows it.
const noPort = "none "

// maxAddresses is the largest number of addresses that a process publishes.
const maxAddresses = 6

// ListenSpec describes the addresses and ports to which other processes may connect on this host.
type ListenSpec struct {
	Addresses   []string // in order of preference, the preferred address first
	OnlyListed  bool     // only these addresses are permitted
	First, Last int      // ports; 0 and 0 permit any
}

// listenAt listens at the given port, or at any free port if `port` is 0. It uses one socket if all addresses of the
// host are permitted, and otherwise one socket for each permitted address.
func (w ListenSpec) listenAt(port int) (all []net.Listener, err error) {
	addresses := []string{""}
	if w.OnlyListed {
		addresses = w.Addresses
	}
	err = errors.New("GOMPIRMA_INTERFACE excludes all addresses of this host")
	for _, a := range addresses {
		var l net.Listener
		l, err = net.Listen("tcp", net.JoinHostPort(a, strconv.Itoa(port)))
		// The kernel is still checking this IPv6 address for duplicates, so it is skipped.
		if errors.Is(err, unix.EADDRNOTAVAIL) {
			continue
		}
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, l)
		port = l.Addr().(*net.TCPAddr).Port
	}
	if len(all) == 0 {
		return nil, err
	}
	return all, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

// listenIn opens a permitted port. It fails if fewer than 2*size ports are permitted, because each rank of the node
// needs a second port for the network. The number of ranks on this node is not known yet; it is at most `size`.
func (w ListenSpec) listenIn(size int) (all []net.Listener, err error) {
	if w.First == 0 {
		for range 16 { // the port that is free at the first address may be in use at the next address
			if all, err = w.listenAt(0); !errors.Is(err, unix.EADDRINUSE) {
				break
			}
		}
		return all, err
	}
	n := w.Last - w.First + 1
	if n < 2*size {
		return nil, fmt.Errorf("GOMPIRMA_PORTS has %d ports, but must have at least %d: two for each of %d "+
			"ranks", n, 2*size, size)
	}
	// The ranks of a node start their searches at different ports, because each adds its process id. Their networks
	// search the same ports for a second one. The offset `size` keeps the two kinds of searches apart.
	for i := range n {
		if all, err = w.listenAt(w.First + (os.Getpid()+size+i)%n); err == nil {
			return all, nil
		}
	}
	return nil, err
}

// listen opens this process's port and publishes it. If it cannot listen, it publishes the reason, and this process is
// not watched. It returns nil if the launcher watches the processes, if this is the only process, or if it cannot
// publish.
func listen(c Client, permitted func() ListenSpec) *Neighbour {
	if IsByGompirun(c) || c.Size() == 1 {
		return nil
	}
	where := permitted()
	where.Addresses = where.Addresses[:min(len(where.Addresses), maxAddresses)]
	n := &Neighbour{rank: (c.Rank() + 1) % c.Size(), failed: make(chan struct{}), localAddrs: where.Addresses,
		watchers: map[net.Conn]bool{}}
	all, err := where.listenIn(c.Size())
	text := noPort
	if err != nil {
		text += err.Error()
	} else {
		n.listeners = all
		for _, l := range all {
			go n.accept(l)
		}
		_, port, _ := net.SplitHostPort(all[0].Addr().String())
		text = strings.Join(append([]string{port, netNamespace()}, n.localAddrs...), " ")
	}
	if c.Put(portKey(c.Rank()), text) != nil {
		n.Close()
		return nil
	}
	return n
}

// accept accepts connections of processes that watch this one, and keeps each connection open until the peer closes it
// or this process ends.
func (n *Neighbour) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example, out of descriptors
			<-time.After(10 * time.Millisecond)
			continue
		}
		n.mu.Lock()
		if keep := n.watchers != nil && len(n.watchers) < maxWatchers; keep {
			n.watchers[conn] = true
			go n.holdConn(conn)
		} else {
			conn.Close()
		}
		n.mu.Unlock()
	}
}

func (n *Neighbour) holdConn(conn net.Conn) {
	conn.Write([]byte{0}) // one byte fits into the send buffer, so this does not block
	io.Copy(io.Discard, conn)
	conn.Close()
	n.mu.Lock()
	delete(n.watchers, conn)
	n.mu.Unlock()
}

// netNamespace returns a name for the network namespace of this process. Processes with the same name have the same
// addresses.
func netNamespace() string {
	link, _ := os.Readlink("/proc/self/ns/net")
	return strings.ReplaceAll(bootID()+"/"+link, " ", "")
}

// watch starts to watch the next process, at the address that it has published. The next process counts as failed if
// the network path to it is broken for the time `silent`; 0 means no limit.
func (n *Neighbour) watch(c Client, silent time.Duration) {
	value, err := c.Get(n.rank, portKey(n.rank))
	fields := strings.Fields(value)
	if why, none := strings.CutPrefix(value, noPort); err == nil && (none || len(fields) < 2) {
		err = fmt.Errorf("it has no open port: %s", why)
	}
	if err != nil {
		n.dialErr.Store(&err)
		return
	}
	port, list := fields[0], fields[2:]
	if fields[1] == netNamespace() {
		list = append([]string{"127.0.0.1", "::1"}, list...)
	} else { // on many hosts, container bridges have the same address, so this host's own addresses are skipped
		list = slices.DeleteFunc(list, func(a string) bool { return slices.Contains(n.localAddrs, a) })
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	go n.connect(ctx, list, port, silent)
}

// connect connects to the first address that answers, and waits for the end of the connection.
func (n *Neighbour) connect(ctx context.Context, addresses []string, port string, silent time.Duration) {
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: silent > 0, Idle: roundSeconds(silent / 3),
		Interval: roundSeconds(silent / 6), Count: 3}}
	if silent == 0 {
		dialer.KeepAlive = -1
	}
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, len(addresses))
	for _, a := range addresses {
		go func() {
			conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(a, port))
			results <- result{conn, err}
		}()
	}
	failed := errors.New("all addresses of its host are also addresses of this host")
	var conn net.Conn
	for range addresses {
		r := <-results
		switch {
		case r.err != nil:
			failed = r.err
		case conn != nil:
			r.conn.Close()
		default:
			conn = r.conn
			n.connected.Store(true)
			go n.wait(ctx, conn)
		}
	}
	if conn == nil {
		n.dialErr.Store(&failed)
	}
}

// wait waits for the end of the connection. It then records that the next process has failed, with two exceptions. If
// this side has ended the watch, it records nothing. If the next process had not accepted the connection, it records
// that the state of that process is unknown.
func (n *Neighbour) wait(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	accepted, err := io.Copy(io.Discard, conn)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("the connection was closed")
	}
	if accepted == 0 {
		n.dialErr.Store(&err)
		n.connected.Store(false)
		return
	}
	n.err = err
	close(n.failed)
}

// roundSeconds rounds a time to the kernel's unit: whole seconds, at least one.
func roundSeconds(d time.Duration) time.Duration { return max(d.Round(time.Second), time.Second) }

// DetectsFailure reports whether a failure of the next process would be detected. It is false if n is nil (no process
// is watched).
func (n *Neighbour) DetectsFailure() bool { return n != nil && n.connected.Load() }

// Failed returns a channel that is closed when the next process has ended or is unreachable; Err then returns the
// reason.
func (n *Neighbour) Failed() <-chan struct{} {
	if n == nil {
		return nil
	}
	return n.failed
}

func (n *Neighbour) Err() error {
	return fmt.Errorf("rank %d ended, or its host or network failed: %w", n.rank, n.err)
}

// UnknownDetail returns the reason why it is not known whether the next process lives; "" if it is known.
func (n *Neighbour) UnknownDetail() string {
	if n == nil || n.DetectsFailure() {
		return ""
	}
	if why := n.dialErr.Load(); why != nil {
		return fmt.Sprintf("cannot connect to rank %d: %v", n.rank, *why)
	}
	return fmt.Sprintf("rank %d has not answered", n.rank)
}

// EndWatch ends the watch of the next process at the end of MPI_Init, and closes the port. A process that watches this
// one and is still in MPI_Init keeps its connection.
func (n *Neighbour) EndWatch(c Client) {
	if n != nil {
		if n.cancel != nil {
			n.cancel()
		}
		n.stopListening()
		c.SetWatch(pmi1.Unwatched{})
	}
}

func (n *Neighbour) stopListening() {
	closeAll(n.listeners)
	n.listeners = nil
}

// Close ends the watch and closes all connections. A process that still watches this process then considers this
// process failed.
func (n *Neighbour) Close() {
	if n == nil {
		return
	}
	if n.cancel != nil {
		n.cancel()
	}
	n.stopListening()
	n.mu.Lock()
	defer n.mu.Unlock()
	for conn := range n.watchers {
		conn.Close()
	}
	n.watchers = nil
}
