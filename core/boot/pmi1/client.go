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

// Client is a process' side of the protocol. Its methods may be called from several threads; requests are answered one
// after the other. Every wait ends with an error when the launcher closes the connection.
type Client struct {
	conn    io.ReadWriteCloser
	kvsname string
	maxes   Maxes

	request sync.Mutex // held for a request and its answer
	write   sync.Mutex // held for one line; Abort takes this one alone, so that it need not wait for a barrier
	answers chan Message
	closed  chan struct{} // the reader has ended; err says why
	lost    chan struct{} // the same, unless this side had finalized
	err     error

	// Under request.
	limit  time.Duration
	met    bool // a barrier is over
	watch  Watch
	silent error // the launcher has not answered in time: what it says now would be the answer to something else

	mu        sync.Mutex
	finalized bool
}

// Maxes are the launcher's limits in bytes, each including a terminating zero byte that the wire does not carry.
type Maxes struct{ KvsName, Key, Value int }

// NewClient introduces the process to the launcher on the other end of conn (cmd=init, the limits and the name of the
// key-value space) and takes conn over: it is closed by Finalize or Close, and when this function fails.
func NewClient(conn io.ReadWriteCloser) (*Client, error) {
	c := &Client{
		conn:    conn,
		answers: make(chan Message, 1),
		closed:  make(chan struct{}),
		lost:    make(chan struct{}),
		watch:   Unwatched{},
	}
	go c.read()
	// Whatever is on the other end may be no launcher at all.
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
		return fmt.Errorf("the launcher does not speak version 1 of the protocol: it answered %s",
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
	}{{"kvsname_max", &c.maxes.KvsName, 2}, {"keylen_max", &c.maxes.Key, 32}, {"vallen_max", &c.maxes.Value, 64}} {
		if *limit.into, err = answer.Int(limit.key); err != nil {
			return err
		}
		if *limit.into < limit.least {
			return fmt.Errorf("the launcher's limit %s=%d is below %d", limit.key, *limit.into, limit.least)
		}
	}
	answer, err = c.ask(New("get_my_kvsname"), "my_kvsname")
	if err != nil {
		return err
	}
	name, ok := answer.Value("kvsname")
	if !ok || name == "" {
		return fmt.Errorf("the launcher named no key-value space: it answered %s", shorten(answer.String()))
	}
	c.kvsname = name
	return nil
}

// Introduce speaks the first lines of a connection to a port: the process gives the id it was started with and learns
// its place.
func Introduce(conn io.ReadWriter, id int) (rank, size int, err error) {
	if err := writeString(conn, New("initack", "pmiid", strconv.Itoa(id)).String()+"\n"); err != nil {
		return 0, 0, fmt.Errorf("writing to the launcher: %w", err)
	}
	// Byte by byte: what follows belongs to NewClient's reader.
	next := func(cmd string) (Message, error) {
		var line []byte
		for b := []byte{0}; ; line = append(line, b[0]) {
			if _, err := io.ReadFull(conn, b); err != nil {
				return Message{}, fmt.Errorf("the launcher closed the connection before cmd=%s: %w",
					cmd, err)
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

// read hands each line from the launcher to whoever asked, until the connection ends.
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
				return fmt.Errorf("the launcher sent %s, which nobody asked for", shorten(line))
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
	c.write.Lock()
	defer c.write.Unlock()
	if err := writeString(c.conn, m.String()+"\n"); err != nil {
		return fmt.Errorf("writing cmd=%s to the launcher: %w", m.Cmd, err)
	}
	return nil
}

// ask sends a request and waits for its answer, whose command must be as expected and whose rc, if there is one, 0.
func (c *Client) ask(m Message, expected string) (Message, error) {
	c.request.Lock()
	defer c.request.Unlock()
	if c.silent != nil {
		return Message{}, c.silent
	}
	if err := c.send(m); err != nil {
		return Message{}, err
	}
	answer, err := c.answer(m.Cmd)
	if err != nil {
		return Message{}, err
	}
	if err := check(answer, expected); err != nil {
		return Message{}, fmt.Errorf("cmd=%s: %w", m.Cmd, err)
	}
	return answer, nil
}

// Limit sets how long is waited for an answer of the launcher; 0: for ever. For the first Barrier it does not count: a
// process may come to that late.
func (c *Client) Limit(d time.Duration) {
	c.request.Lock()
	defer c.request.Unlock()
	c.limit = d
}

// Watched has Barrier wait for processes that live, however late they are, and end with an error when one does not.
func (c *Client) Watched(w Watch) {
	c.request.Lock()
	defer c.request.Unlock()
	c.watch = w
}

// answer waits for the launcher's answer to cmd.
func (c *Client) answer(cmd string) (Message, error) {
	limit, watch := c.limit, Watch(nil)
	if cmd == barrier {
		watch = c.watch
		if !c.met {
			limit = 0
		}
	}
	answer, err := Await(c.answers, c.closed, limit, watch)
	switch {
	case err == nil:
		return answer, nil
	case err == ErrClosed:
		select {
		case answer = <-c.answers: // it came just before the end
			return answer, nil
		default:
			return answer, fmt.Errorf("cmd=%s: %w", cmd, c.err)
		}
	}
	c.silent = fmt.Errorf("cmd=%s: %w", cmd, err)
	return answer, c.silent
}

// check says whether an answer is the expected one and reports success. An answer without rc is taken as success: some
// have none.
func check(m Message, expected string) error {
	if m.Cmd != expected {
		return fmt.Errorf("the launcher answered %s instead of cmd=%s", shorten(m.String()), expected)
	}
	if rc, ok := m.Value("rc"); ok && rc != "0" {
		reason, ok := m.Value("msg")
		if !ok {
			reason = "no reason given"
		}
		return fmt.Errorf("the launcher refused: rc=%s, %s", rc, shorten(reason))
	}
	return nil
}

// KvsName returns the name of the job's key-value space, which no other job of this launcher has.
func (c *Client) KvsName() string { return c.kvsname }

// Maxes returns the launcher's limits.
func (c *Client) Maxes() Maxes { return c.maxes }

// AppNum returns which of the launcher's program specifications started this process, from 0; negative if it has none.
func (c *Client) AppNum() (int, error) {
	answer, err := c.ask(New("get_appnum"), "appnum")
	if err != nil {
		return 0, err
	}
	return answer.Int("appnum")
}

// UniverseSize returns how many processes the launcher could run; negative if it does not say.
func (c *Client) UniverseSize() (int, error) {
	answer, err := c.ask(New("get_universe_size"), "universe_size")
	if err != nil {
		return 0, err
	}
	return answer.Int("size")
}

// Put stores a value that others can Get after the next Barrier. The key must be new in this job.
//
// Preconditions: neither holds a space, a newline or a zero byte, key no '='; both are shorter than Maxes says.
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
		c.request.Lock()
		c.met = true
		c.request.Unlock()
	}
	return err
}

// Finalize tells the launcher that this process may end, and closes the connection.
func (c *Client) Finalize() error {
	_, err := c.ask(New("finalize"), "finalize_ack")
	c.Close()
	return err
}

// Abort asks the launcher to end the job with a status. It does not wait for anything; the caller ends its process
// next. lost is the process whose end is why, negative: none is, or the launcher has no ear for it.
func (c *Client) Abort(status, lost int) error {
	m := New("abort", "exitcode", strconv.Itoa(status))
	if lost >= 0 {
		m.pairs = append(m.pairs, pair{lostKey, strconv.Itoa(lost)})
	}
	return c.send(m)
}

// lostKey is of gompirun's abort alone.
const lostKey = "lost"

// Lost is closed when the connection ends although this side did not end it: the launcher is gone.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// Close ends the connection without a word.
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
		return nil, 0, 0, fmt.Errorf("connecting to the launcher: %w", err)
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
