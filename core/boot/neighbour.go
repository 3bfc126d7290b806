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

// Neighbour is what each process knows of the next one during MPI_Init: whether it lives. So the job knows of all, and
// nobody has to take one that is late for lost, where the launcher does not tell.
//
// Until MPI_Init is over every process listens on a port, and has a connection to that of the next rank, which accepts
// it with one byte. From then on the kernel answers for a process that lives, whatever it does, and ends the connection
// when the process ends; a host or a way that is lost answers no more. The end of a connection that has not been
// accepted means nothing: the next rank may have left MPI_Init, and listen no longer.
type Neighbour struct {
	rank  int
	gone  chan struct{} // closed when it is known not to live
	err   error         // why; after gone
	sees  atomic.Bool   // there is a connection, or was until gone
	tried atomic.Pointer[error]
	over  context.CancelFunc // ends the watch; nil: there is none
	own   []net.Listener     // all at one port
	here  []string           // addresses of this host

	mu       sync.Mutex
	watchers map[net.Conn]bool // connections of who watches this process, nil: Close has been called
}

// mostWatchers is how many connections a process accepts at the same time: one is enough, others are strangers'.
const mostWatchers = 8

// portKey is of each process: port and addresses of its host.
func portKey(rank int) string { return "port." + strconv.Itoa(rank) }

// noPort begins what a process publishes that has none; why follows.
const noPort = "none "

// mostAddresses is how many of a host's are told.
const mostAddresses = 6

// Where is what others may connect to on this host.
type Where struct {
	Addresses   []string // best first
	Only        bool     // these addresses, and no others
	First, Last int      // ports; 0 and 0: any
}

// listenAt listens at a port, 0: any, of the addresses that are permitted: of all, or of each.
func (w Where) listenAt(port int) (all []net.Listener, err error) {
	addresses := []string{""}
	if w.Only {
		addresses = w.Addresses
	}
	err = errors.New("no address is permitted")
	for _, a := range addresses {
		var l net.Listener
		l, err = net.Listen("tcp", net.JoinHostPort(a, strconv.Itoa(port)))
		if errors.Is(err, unix.EADDRNOTAVAIL) { // one of IPv6 that the system has not tried yet: others will do
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

// listenIn opens a port that is permitted. Of few ports none is taken: they are for the network, a port for each rank
// of a node, and nobody knows yet how many those are, at most all.
func (w Where) listenIn(size int) (all []net.Listener, err error) {
	if w.First == 0 {
		for range 16 { // the port of the first address may be taken at the next one
			if all, err = w.listenAt(0); !errors.Is(err, unix.EADDRINUSE) {
				break
			}
		}
		return all, err
	}
	n := w.Last - w.First + 1
	if n < 2*size {
		return nil, fmt.Errorf("%d ports are permitted, %d ranks may want two each", n, size)
	}
	for i := range n { // ranks of a node begin at different ones, and behind those where their networks begin
		if all, err = w.listenAt(w.First + (os.Getpid()+size+i)%n); err == nil {
			return all, nil
		}
	}
	return nil, err
}

// listen opens this process' port and publishes where it is. Whoever cannot listen is not watched. nil: the launcher
// watches, or there is nobody else.
func listen(c Client, permitted func() Where) *Neighbour {
	if byGompirun(c) || c.Size() == 1 {
		return nil
	}
	where := permitted()
	where.Addresses = where.Addresses[:min(len(where.Addresses), mostAddresses)]
	n := &Neighbour{rank: (c.Rank() + 1) % c.Size(), gone: make(chan struct{}), here: where.Addresses,
		watchers: map[net.Conn]bool{}}
	all, err := where.listenIn(c.Size())
	text := noPort
	if err != nil {
		text += err.Error()
	} else {
		n.own = all
		for _, l := range all {
			go n.accept(l)
		}
		_, port, _ := net.SplitHostPort(all[0].Addr().String())
		text = strings.Join(append([]string{port, interfaces()}, n.here...), " ")
	}
	if c.Put(portKey(c.Rank()), text) != nil {
		n.Close()
		return nil
	}
	return n
}

// accept accepts those who watch this process, and keeps their connections until they close them, or this process ends.
func (n *Neighbour) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptor is left, say
			<-time.After(10 * time.Millisecond)
			continue
		}
		n.mu.Lock()
		if keep := n.watchers != nil && len(n.watchers) < mostWatchers; keep {
			n.watchers[conn] = true
			go n.keep(conn)
		} else {
			conn.Close()
		}
		n.mu.Unlock()
	}
}

func (n *Neighbour) keep(conn net.Conn) {
	conn.Write([]byte{0}) // fits whatever the other side does
	io.Copy(io.Discard, conn)
	conn.Close()
	n.mu.Lock()
	delete(n.watchers, conn)
	n.mu.Unlock()
}

// interfaces names what this process' addresses belong to: those of processes with the same name are the same hosts'.
func interfaces() string {
	link, _ := os.Readlink("/proc/self/ns/net")
	return strings.ReplaceAll(bootID()+"/"+link, " ", "")
}

// watch begins to watch the next process, by what it has published. silent is for how long the way to it may be lost,
// 0: for ever.
func (n *Neighbour) watch(c Client, silent time.Duration) {
	value, err := c.Get(n.rank, portKey(n.rank))
	fields := strings.Fields(value)
	if why, none := strings.CutPrefix(value, noPort); err == nil && (none || len(fields) < 2) {
		err = fmt.Errorf("it has no port: %s", why)
	}
	if err != nil {
		n.tried.Store(&err)
		return
	}
	port, list := fields[0], fields[2:]
	if fields[1] == interfaces() {
		list = append([]string{"127.0.0.1", "::1"}, list...)
	} else { // bridges of containers have the same address on many hosts
		list = slices.DeleteFunc(list, func(a string) bool { return slices.Contains(n.here, a) })
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.over = cancel
	go n.run(ctx, list, port, silent)
}

// run connects by the first address that answers, and waits for the end of the connection.
func (n *Neighbour) run(ctx context.Context, addresses []string, port string, silent time.Duration) {
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: silent > 0, Idle: inSteps(silent / 3),
		Interval: inSteps(silent / 6), Count: 3}}
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
	failed := errors.New("its host has no address that this one has not")
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
			n.sees.Store(true)
			go n.wait(ctx, conn)
		}
	}
	if conn == nil {
		n.tried.Store(&failed)
	}
}

// wait tells when the connection ends by itself.
func (n *Neighbour) wait(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	accepted, err := io.Copy(io.Discard, conn)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("its connection has ended")
	}
	if accepted == 0 {
		n.tried.Store(&err)
		n.sees.Store(false)
		return
	}
	n.err = err
	close(n.gone)
}

// inSteps is a time as the kernel has those: whole seconds, at least one.
func inSteps(d time.Duration) time.Duration { return max(d.Round(time.Second), time.Second) }

// Sees returns whether it is known if the next process lives. nil: nobody is watched.
func (n *Neighbour) Sees() bool { return n != nil && n.sees.Load() }

// Gone is closed when the next process does not live, or is not reached any longer; Err says so.
func (n *Neighbour) Gone() <-chan struct{} {
	if n == nil {
		return nil
	}
	return n.gone
}

func (n *Neighbour) Err() error {
	return fmt.Errorf("rank %d has ended, or its host or the way to it is lost: %w", n.rank, n.err)
}

// Unknown says why it is not known whether the next process lives; "" if it is.
func (n *Neighbour) Unknown() string {
	if n == nil || n.Sees() {
		return ""
	}
	if why := n.tried.Load(); why != nil {
		return fmt.Sprintf("rank %d cannot be asked: %v", n.rank, *why)
	}
	return fmt.Sprintf("rank %d has not answered", n.rank)
}

// Settled ends the watch of the next process, when MPI_Init is over, and listens no longer. Who watches this process,
// and has not heard that yet, keeps its connection.
func (n *Neighbour) Settled(c Client) {
	if n != nil {
		if n.over != nil {
			n.over()
		}
		n.stopListening()
		c.Watched(pmi1.Unwatched{})
	}
}

func (n *Neighbour) stopListening() {
	closeAll(n.own)
	n.own = nil
}

// Close ends all of it: whoever still watches this process takes it for gone.
func (n *Neighbour) Close() {
	if n == nil {
		return
	}
	if n.over != nil {
		n.over()
	}
	n.stopListening()
	n.mu.Lock()
	defer n.mu.Unlock()
	for conn := range n.watchers {
		conn.Close()
	}
	n.watchers = nil
}
