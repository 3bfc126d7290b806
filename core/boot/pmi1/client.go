package pmi1

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// Client is a process's side of the protocol. Its methods may be called from several threads; the requests are sent and
// answered one after the other. Every wait ends with an error when the launcher closes the connection.
type Client struct {
	conn    io.ReadWriteCloser
	kvsname string
	limits  Limits

	requestMu sync.Mutex // held from the sending of a request until its answer has arrived
	writeMu   sync.Mutex // held while writing a line; Abort acquires only writeMu, so as not to wait for a barrier
	answers   chan Message
	closed    chan struct{} // closed when the goroutine of read has ended; err then holds the reason
	lost      chan struct{} // closed when the connection ends before Finalize or Close
	err       error

	// Guarded by requestMu:
	limit       time.Duration
	barrierDone bool
	watch       Watch
	// Set when a request has timed out; all later requests return it. Otherwise the late answer to this request
	// could be mistaken for the answer to a later one.
	timeoutErr error

	mu        sync.Mutex
	finalized bool
}

// Limits holds the launcher's limits in bytes. Each limit includes a terminating zero byte, although no zero byte is
// sent.
type Limits struct{ KvsName, Key, Value int }

// NewClient registers the process with the launcher at the other end of conn: it sends cmd=init and asks for the limits
// and the name of the key-value space. It takes ownership of conn: Finalize, Close and a failure of NewClient close the
// connection.
func NewClient(conn io.ReadWriteCloser) (*Client, error) {
	c := &Client{
		conn:    conn,
		answers: make(chan Message, 1),
		closed:  make(chan struct{}),
		lost:    make(chan struct{}),
		watch:   Unwatched{},
	}
	go c.read()
	// The other end may not be a launcher, so this wait has a limit.
	c.limit = introduceTimeout
	if err := c.introduce(); err != nil {
		c.Close()
		return nil, err
	}
	c.Limit(0)
	return c, nil
}

const introduceTimeout = time.Minute

func (c *Client) introduce() error {
	answer, err := c.ask(New("init", "pmi_version", "1", "pmi_subversion", "1"), "response_to_init")
	if err != nil {
		return err
	}
	if version, err := answer.Int("pmi_version"); err != nil || version != 1 {
		return fmt.Errorf("the launcher does not support PMI version 1: it answered %s",
			shorten(answer.String()))
	}
	answer, err = c.ask(New("get_maxes"), "maxes")
	if err != nil {
		return err
	}
	for _, limit := range []struct {
		key   string
		into  *int
		least int
	}{{"kvsname_max", &c.limits.KvsName, 2}, {"keylen_max", &c.limits.Key, 32}, {"vallen_max", &c.limits.Value,
		64}} {
		if *limit.into, err = answer.Int(limit.key); err != nil {
			return err
		}
		if *limit.into < limit.least {
			return fmt.Errorf("the limit %s=%d of the launcher is below the minimum of "+
				"%d", limit.key, *limit.into, limit.least)
		}
	}
	answer, err = c.ask(New("get_my_kvsname"), "my_kvsname")
	if err != nil {
		return err
	}
	name, ok := answer.Value("kvsname")
	if !ok || name == "" {
		return fmt.Errorf("the launcher did not return the name of the key-value space: it answered "+
			"%s", shorten(answer.String()))
	}
	c.kvsname = name
	return nil
}

// Introduce exchanges the first lines of a connection to a launcher's port. The process sends its id, which it got when
// it was started, and receives its rank and the size of the job.
func Introduce(conn io.ReadWriter, id int) (rank, size int, err error) {
	if err := writeString(conn, New("initack", "pmiid", strconv.Itoa(id)).String()+"\n"); err != nil {
		return 0, 0, fmt.Errorf("cannot write to the launcher: %w", err)
	}
	// Reads byte by byte, so that no byte after these lines is consumed: the reader of NewClient reads those bytes.
	next := func(cmd string) (Message, error) {
		var line []byte
		for b := []byte{0}; ; line = append(line, b[0]) {
			if _, err := io.ReadFull(conn, b); err != nil {
				return Message{}, fmt.Errorf("the launcher closed the connection before it sent "+
					"cmd=%s: %w", cmd, err)
			}
			if b[0] == '\n' {
				break
			}
			if len(line) == MaxLine {
				return Message{}, errLineTooLong
			}
		}
		m, err := Parse(string(line))
		if err == nil {
			err = check(m, cmd)
		}
		return m, err
	}
	if _, err := next("initack"); err != nil {
		return 0, 0, err
	}
	for _, field := range []struct {
		key  string
		into *int
	}{{"size", &size}, {"rank", &rank}, {"debug", nil}} {
		m, err := next("set")
		if err != nil {
			return 0, 0, err
		}
		n, err := m.Int(field.key)
		if err != nil {
			return 0, 0, err
		}
		if field.into != nil {
			*field.into = n
		}
	}
	return rank, size, nil
}

// read passes each line from the launcher to the pending request, until the connection ends.
func (c *Client) read() {
	var l lines
	buf := make([]byte, 2048)
	for c.err == nil {
		n, err := c.conn.Read(buf)
		c.err = l.add(buf[:n], func(line string) error {
			m, err := Parse(line)
			if err != nil {
				return err
			}
			select {
			case c.answers <- m:
				return nil
			default:
				return fmt.Errorf("the launcher sent %s without a request", shorten(line))
			}
		})
		switch {
		case c.err != nil || err == nil:
		case errors.Is(err, io.EOF):
			c.err = errors.New("the launcher closed the connection")
		default:
			c.err = fmt.Errorf("the connection to the launcher ended: %w", err)
		}
	}
	close(c.closed)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.finalized {
		close(c.lost)
	}
}

func (c *Client) send(m Message) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if err := writeString(c.conn, m.String()+"\n"); err != nil {
		return fmt.Errorf("cannot write cmd=%s to the launcher: %w", m.Cmd, err)
	}
	return nil
}

// ask sends a request and waits for its answer. It returns an error unless the command of the answer equals `expected`
// and its rc, if present, is 0.
func (c *Client) ask(m Message, expected string) (Message, error) {
	answer, err := c.request(m, expected)
	if err == nil {
		err = check(answer, expected)
		if err != nil {
			err = fmt.Errorf("request cmd=%s to the launcher: %w", m.Cmd, err)
		}
	}
	if err != nil {
		return Message{}, err
	}
	return answer, nil
}

// request sends a request and waits for its answer. It returns an error unless the command of the answer equals
// `expected`.
func (c *Client) request(m Message, expected string) (Message, error) {
	c.requestMu.Lock()
	defer c.requestMu.Unlock()
	if c.timeoutErr != nil {
		return Message{}, c.timeoutErr
	}
	if err := c.send(m); err != nil {
		return Message{}, err
	}
	answer, err := c.answer(m.Cmd)
	if err != nil {
		return Message{}, err
	}
	if answer.Cmd != expected {
		return Message{}, fmt.Errorf("request cmd=%s to the launcher: %w", m.Cmd, check(answer, expected))
	}
	return answer, nil
}

// Limit sets the longest wait for an answer of the launcher; 0 means no limit. The limit does not apply to the first
// Barrier, which a process may enter at any time.
func (c *Client) Limit(d time.Duration) {
	c.requestMu.Lock()
	defer c.requestMu.Unlock()
	c.limit = d
}

// SetWatch sets the watch that Barrier uses: Barrier waits without limit while the watch detects failures, and returns
// an error when a watched process fails.
func (c *Client) SetWatch(w Watch) {
	c.requestMu.Lock()
	defer c.requestMu.Unlock()
	c.watch = w
}

// answer waits for the launcher's answer to cmd. The caller holds requestMu.
func (c *Client) answer(cmd string) (Message, error) {
	limit, watch := c.limit, Watch(nil)
	if cmd == barrier {
		watch = c.watch
		if !c.barrierDone {
			limit = 0
		}
	}
	answer, err := Await(c.answers, c.closed, limit, watch)
	switch {
	case err == nil:
		return answer, nil
	case err == ErrClosed:
		select {
		case answer = <-c.answers: // the answer arrived just before the connection ended
			return answer, nil
		default:
			return answer, fmt.Errorf("request cmd=%s to the launcher: %w", cmd, c.err)
		}
	}
	c.timeoutErr = fmt.Errorf("request cmd=%s to the launcher: %w", cmd, err)
	return answer, c.timeoutErr
}

// check returns an error unless m is the expected answer and reports success. An answer without rc counts as success:
// some launchers send none.
func check(m Message, expected string) error {
	if m.Cmd != expected {
		return fmt.Errorf("the launcher answered %s instead of cmd=%s", shorten(m.String()), expected)
	}
	if rc, ok := m.Value("rc"); ok && rc != "0" {
		reason, ok := m.Value("msg")
		if !ok {
			reason = "no reason given"
		}
		return fmt.Errorf("the launcher reported an error: rc=%s, %s", rc, shorten(reason))
	}
	return nil
}

// KvsName returns the name of the job's key-value space, which is unique among the jobs of this launcher.
func (c *Client) KvsName() string { return c.kvsname }

// Limits returns the launcher's limits.
func (c *Client) Limits() Limits { return c.limits }

// AppNum returns the index, from 0, of the program specification that started this process; negative if the launcher
// has none.
func (c *Client) AppNum() (int, error) {
	answer, err := c.ask(New("get_appnum"), "appnum")
	if err != nil {
		return 0, err
	}
	return answer.Int("appnum")
}

// UniverseSize returns the number of processes that the launcher could run; negative if the launcher does not report
// it.
func (c *Client) UniverseSize() (int, error) {
	answer, err := c.ask(New("get_universe_size"), "universe_size")
	if err != nil {
		return 0, err
	}
	return answer.Int("size")
}

// Put stores a value that other processes can Get after the next Barrier. The key must be new in this job.
//
// Preconditions: both key and value are free of spaces, newlines and zero bytes, the key has no '=', and both are
// shorter than Limits.
func (c *Client) Put(key, value string) error {
	_, err := c.ask(New("put", "kvsname", c.kvsname, "key", key, "value", value), "put_result")
	return err
}

// Get returns the value that some process stored under the key before the last Barrier.
func (c *Client) Get(key string) (string, error) {
	answer, err := c.ask(New("get", "kvsname", c.kvsname, "key", key), "get_result")
	if err != nil {
		return "", fmt.Errorf("key %s: %w", shorten(key), err)
	}
	value, ok := answer.Value("value")
	if !ok {
		return "", fmt.Errorf("key %s: the launcher's answer %s has no value", shorten(key),
			shorten(answer.String()))
	}
	return value, nil
}

const barrier = "barrier_in"

// Barrier waits until every process of the job has called it.
func (c *Client) Barrier() error {
	_, err := c.ask(New(barrier), "barrier_out")
	if err == nil {
		c.requestMu.Lock()
		c.barrierDone = true
		c.requestMu.Unlock()
	}
	return err
}

// Finalize notifies the launcher that this process may end, waits for the answer, and closes the connection.
func (c *Client) Finalize() error {
	_, err := c.ask(New("finalize"), "finalize_ack")
	c.Close()
	return err
}

// Abort asks the launcher to end the job with a status. It does not wait for an answer; the caller must then end its
// process. The argument `lost` is the rank of the failed process that caused the abort, or ByError if an MPI error
// caused it. It is -1 for MPI_Abort, or if the launcher understands only the status.
func (c *Client) Abort(status, lost int) error {
	m := New("abort", "exitcode", strconv.Itoa(status))
	switch {
	case lost == ByError:
		m.pairs = append(m.pairs, pair{errorKey, "1"})
	case lost >= 0:
		m.pairs = append(m.pairs, pair{lostKey, strconv.Itoa(lost)})
	}
	return c.send(m)
}

// Keys of cmd=abort that only gompirun understands.
const (
	lostKey  = "lost"
	errorKey = "error"
)

// ByError is the value of Abort's argument `lost` if the error handler of a failed MPI call ends the job.
const ByError = -2

// Lost returns a channel that is closed when the launcher ends the connection.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// Close ends the connection without a message to the launcher.
func (c *Client) Close() {
	c.mu.Lock()
	c.finalized = true
	c.mu.Unlock()
	c.conn.Close()
}

// Dial connects to a launcher that listens on host:port.
func Dial(address string, id int) (c *Client, rank, size int, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("cannot connect to the launcher: %w", err)
	}
	if rank, size, err = Introduce(conn, id); err != nil {
		conn.Close()
		return nil, 0, 0, err
	}
	if c, err = NewClient(conn); err != nil {
		return nil, 0, 0, err
	}
	return c, rank, size, nil
}
