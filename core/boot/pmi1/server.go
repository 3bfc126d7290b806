package pmi1

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Limits that the server announces. They equal the limits of Hydra, the most common PMI-1 launcher, so that clients
// written for it work.
const (
	maxKvsName = 256
	maxKey     = 64
	maxValue   = 1024
)

// Conn is a launcher's end of the connection to one process.
type Conn interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
}

// Event is a change of a process's state of which the server notifies the launcher.
type Event int

// The states of which the server notifies the launcher. Waiting means that the process is the first one in a barrier,
// and waits for all others. Failed means that the process violated the protocol after its cmd=init, so that the server
// has closed its connection.
const (
	Initialized Event = iota + 1
	Waiting
	Finalized
	Aborted
	Failed
)

// Config describes a job.
type Config struct {
	Size     int               // number of processes
	KvsName  string            // name of the job's key-value space
	AppNum   []int             // index of the program specification of each process; nil if all are 0
	Universe int               // number of processes that could run
	Values   map[string]string // initial content of the key-value space

	// The server calls Notify after each event of a process, from several goroutines, and holds no lock during the
	// call.
	Notify func(rank int, e Event)
	// Spawn starts processes on behalf of a process, and returns the number of the first one. It may set s.Apart.
	// Several goroutines may call it. It is nil if the launcher cannot start further processes.
	Spawn func(rank int, s *Spawn) (first int, failure *SpawnError)
	// SpawnDone handles Client.SpawnDone. It may be nil if Spawn is nil.
	SpawnDone func(parent string, connected bool)
	Names     *Names // published names; nil if the launcher has none
}

// State is the server's knowledge of a process.
type State struct {
	Initialized bool
	Finalized   bool
	Aborted     bool
	Status      int   // exit status of the abort
	FailedRank  int   // rank of the failed process that caused the abort; -1 if none
	Error       bool  // the error handler of a failed MPI call caused the abort
	Err         error // how the process violated the protocol; nil if it did not
}

// Server is the launcher's side: the key-value space, the barrier, and the state of each process. It is safe for
// concurrent use.
type Server struct {
	cfg   Config
	procs []proc

	mu      sync.Mutex
	values  map[string]string
	waiting int // number of processes in the barrier
	// number of processes that barriers do not wait for (Exclude)
	excluded int
}

type proc struct {
	conn      Conn
	served    chan struct{} // closed when the goroutine of Serve has ended
	state     State         // guarded by Server.mu
	inBarrier bool          // guarded by Server.mu
}

// NewServer returns the server of one job.
func NewServer(cfg Config) *Server {
	s := &Server{cfg: cfg, procs: make([]proc, cfg.Size), values: map[string]string{}}
	for k, v := range cfg.Values {
		s.values[k] = v
	}
	return s
}

// Serve starts a goroutine that answers one process until the connection ends, and then closes the connection.
func (s *Server) Serve(rank int, conn Conn) {
	p := &s.procs[rank]
	p.conn, p.served = conn, make(chan struct{})
	go func() {
		defer close(p.served)
		defer conn.Close()
		s.serve(rank, conn)
	}()
}

func (s *Server) serve(rank int, conn Conn) {
	var l lines
	handle := func(line string) error { return s.handle(rank, line) }
	buf := make([]byte, 2048)
	for {
		n, err := conn.Read(buf)
		if broken := l.add(buf[:n], handle); broken != nil {
			s.fail(rank, broken)
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if broken := readAvailable(conn, buf,
				func(data []byte) error { return l.add(data, handle) }); broken != nil {
				s.fail(rank, broken)
			}
			return
		}
		if err != nil {
			return
		}
	}
}

// readAvailable reads the data that a socket holds without waiting for more. Drain interrupts the reader by a deadline,
// after which a read fails even if data is available. But the process may have written data just before it ended, so
// readAvailable reads this data.
func readAvailable(conn Conn, buf []byte, do func([]byte) error) error {
	raw, ok := conn.(syscall.Conn)
	if !ok || conn.SetReadDeadline(time.Time{}) != nil {
		return nil
	}
	rc, err := raw.SyscallConn()
	if err != nil {
		return nil
	}
	var broken error
	rc.Read(func(fd uintptr) bool {
		for broken == nil {
			n, err := syscall.Read(int(fd), buf)
			if err == syscall.EINTR {
				continue
			}
			if err != nil || n <= 0 {
				break
			}
			broken = do(buf[:n])
		}
		return true
	})
	return broken
}

// Drain processes the remaining data of a process that has ended, and closes its connection even if a descendant of the
// process holds the other end. Afterwards State is complete.
func (s *Server) Drain(rank int) {
	p := &s.procs[rank]
	if p.conn == nil {
		return
	}
	p.conn.SetReadDeadline(time.Unix(1, 0))
	<-p.served
}

// InBarrier returns whether a process waits in the barrier for others.
func (s *Server) InBarrier() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting > 0
}

// Wait waits until the connection to a process has ended.
func (s *Server) Wait(rank int) { <-s.procs[rank].served }

// State returns the current state of a process.
func (s *Server) State(rank int) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.procs[rank].state
}

func (s *Server) fail(rank int, err error) {
	s.change(rank, Failed, func(st *State) bool {
		st.Err = err
		return st.Initialized // a process that never sent cmd=init may write anything to the descriptor
	})
}

// change calls the function `do`, which changes the state of a process and returns whether the launcher must be
// notified. If so, change notifies the launcher of the event. change returns the result of `do`.
func (s *Server) change(rank int, e Event, do func(*State) bool) bool {
	s.mu.Lock()
	happened := do(&s.procs[rank].state)
	s.mu.Unlock()
	if happened && s.cfg.Notify != nil {
		s.cfg.Notify(rank, e)
	}
	return happened
}

func (s *Server) handle(rank int, line string) error {
	m, err := Parse(line)
	if err != nil {
		return err
	}
	if m.Cmd != "init" && !s.State(rank).Initialized {
		return fmt.Errorf("%s arrived before cmd=init", shorten(line))
	}
	switch m.Cmd {
	case "init":
		return s.init(rank, m)
	case "get_maxes":
		return s.answer(rank, New("maxes", "kvsname_max", strconv.Itoa(maxKvsName), "keylen_max",
			strconv.Itoa(maxKey), "vallen_max", strconv.Itoa(maxValue)))
	case "get_appnum":
		app := 0
		if s.cfg.AppNum != nil {
			app = s.cfg.AppNum[rank]
		}
		return s.answer(rank, New("appnum", "appnum", strconv.Itoa(app)))
	case "get_universe_size":
		return s.answer(rank, New("universe_size", "size", strconv.Itoa(s.cfg.Universe)))
	case "get_my_kvsname":
		return s.answer(rank, New("my_kvsname", "kvsname", s.cfg.KvsName))
	case "put":
		return s.answer(rank, result("put_result", s.put(m)))
	case "get":
		return s.answer(rank, s.get(m))
	case "barrier_in":
		return s.barrier(rank)
	case "spawn":
		return s.spawn(rank, m)
	case "spawn_done":
		return s.spawnDone(m)
	case "publish_name", "lookup_name", "unpublish_name":
		return s.name(rank, m)
	case "finalize":
		s.change(rank, Finalized, func(st *State) bool { st.Finalized = true; return true })
		return s.answer(rank, New("finalize_ack"))
	case "abort":
		status, err := m.Int("exitcode")
		if err != nil {
			return err
		}
		lost, err := m.Int(lostKey)
		if err != nil || lost < 0 || lost >= s.cfg.Size || lost == rank {
			lost = -1
		}
		s.change(rank, Aborted, func(st *State) bool {
			st.Aborted, st.Status, st.FailedRank = true, status, lost
			_, st.Error = m.Value(errorKey)
			return true
		})
		return nil
	default:
		return s.answer(rank, result(m.Cmd+"_result", "unknown_command"))
	}
}

// answer writes one line. It ignores a failed write, because the process has then ended, which does not violate the
// protocol.
func (s *Server) answer(rank int, m Message) error {
	io.WriteString(s.procs[rank].conn, m.String()+"\n")
	return nil
}

// result returns an answer that only reports success or failure. An empty `reason` stands for success.
func result(cmd, reason string) Message {
	if reason == "" {
		return New(cmd, "rc", "0", "msg", "success")
	}
	return New(cmd, "rc", "-1", "msg", reason)
}

func (s *Server) init(rank int, m Message) error {
	version, err := m.Int("pmi_version")
	if err != nil {
		return err
	}
	reason := ""
	if version != 1 {
		reason = "only_version_1_is_spoken"
	} else if !s.change(rank, Initialized, func(st *State) bool {
		first := !st.Initialized
		st.Initialized = true
		return first
	}) {
		// A shell script may run two MPI programs one after the other. The second one is refused: the published
		// values and the shared memory of the first one still exist.
		reason = "this_process_was_initialized_before"
	}
	answer := result("response_to_init", reason)
	answer.pairs = append([]pair{{"pmi_version", "1"}, {"pmi_subversion", "1"}}, answer.pairs...)
	return s.answer(rank, answer)
}

func (s *Server) put(m Message) (refusal string) {
	name, _ := m.Value("kvsname")
	key, ok1 := m.Value("key")
	value, ok2 := m.Value("value")
	switch {
	case name != s.cfg.KvsName:
		return "unknown_kvsname"
	case !ok1 || !ok2 || key == "":
		return "key_or_value_missing"
	case len(key) >= maxKey:
		return "key_too_long"
	case len(value) >= maxValue:
		return "value_too_long"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[key]; ok {
		return "duplicate_key_" + key
	}
	s.values[key] = value
	return ""
}

func (s *Server) get(m Message) Message {
	name, _ := m.Value("kvsname")
	key, _ := m.Value("key")
	if name != s.cfg.KvsName {
		return result("get_result", "unknown_kvsname")
	}
	s.mu.Lock()
	value, ok := s.values[key]
	s.mu.Unlock()
	if !ok {
		return New("get_result", "rc", "-1", "msg", "key_"+key+"_not_found", "value", "unknown")
	}
	return New("get_result", "rc", "0", "msg", "success", "value", value)
}

// barrier registers a process in the barrier. The last process to arrive releases all processes, with one write for
// each.
func (s *Server) barrier(rank int) error {
	s.mu.Lock()
	if s.procs[rank].inBarrier {
		s.mu.Unlock()
		return errors.New("it sent cmd=barrier_in again before the barrier was complete")
	}
	s.procs[rank].inBarrier = true
	s.waiting++
	first := s.waiting == 1
	if !s.releaseAndUnlock() && first && s.cfg.Notify != nil {
		s.cfg.Notify(rank, Waiting)
	}
	return nil
}

// Exclude removes a process that has failed from the barriers, so that the others do not wait for it.
func (s *Server) Exclude(rank int) {
	s.mu.Lock()
	if p := &s.procs[rank]; p.inBarrier {
		p.inBarrier = false
		s.waiting--
	}
	s.excluded++
	s.releaseAndUnlock()
}

// releaseAndUnlock releases the processes in the barrier if all have arrived, and reports whether it did. The caller
// holds mu, which it unlocks.
func (s *Server) releaseAndUnlock() bool {
	released := s.waiting > 0 && s.waiting == s.cfg.Size-s.excluded
	var waiting []int
	for i := range s.procs {
		if p := &s.procs[i]; released && p.inBarrier {
			p.inBarrier = false
			waiting = append(waiting, i)
		}
	}
	if released {
		s.waiting = 0
	}
	s.mu.Unlock()
	for _, i := range waiting {
		s.answer(i, New("barrier_out"))
	}
	return released
}
