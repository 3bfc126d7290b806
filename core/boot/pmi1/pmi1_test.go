package pmi1

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// socketpair returns the kind of connection that a launcher uses.
func socketpair(t testing.TB) (Conn, *os.File) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC,
		0)
	require.NoError(t, err)
	return os.NewFile(uintptr(fds[0]), "launcher"), os.NewFile(uintptr(fds[1]), "process")
}

// job starts a server and one client for each process.
func job(t *testing.T, cfg Config) (*Server, []*Client) {
	cfg.KvsName = "kvs_test"
	s := NewServer(cfg)
	clients := make([]*Client, cfg.Size)
	for i := range clients {
		var ours Conn
		var theirs io.ReadWriteCloser
		if i%2 == 0 {
			ours, theirs = socketpair(t)
		} else {
			ours, theirs = net.Pipe()
		}
		s.Serve(i, ours)
		c, err := NewClient(theirs)
		require.NoError(t, err)
		clients[i] = c
		t.Cleanup(c.Close)
	}
	return s, clients
}

// each calls the function `do` for every client concurrently.
func each(t *testing.T, clients []*Client, do func(rank int, c *Client) error) {
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = do(i, c)
		}()
	}
	wg.Wait()
	for i, err := range errs {
		require.NoError(t, err, "rank %d", i)
	}
}

func TestJob(t *testing.T) {
	var mu sync.Mutex
	events := map[Event]int{}
	s, clients := job(t, Config{Size: 5, AppNum: []int{0, 0, 1, 1, 2}, Universe: 7,
		Values: map[string]string{"given": "(vector,(0,1,5))"},
		Notify: func(rank int, e Event) { mu.Lock(); events[e]++; mu.Unlock() }})
	require.Equal(t, Limits{256, 64, 1024}, clients[0].Limits())
	require.Equal(t, "kvs_test", clients[4].KvsName())
	each(t, clients, func(rank int, c *Client) error {
		if n, err := c.AppNum(); err != nil || n != []int{0, 0, 1, 1, 2}[rank] {
			return fmt.Errorf("appnum %d %v", n, err)
		}
		if n, err := c.UniverseSize(); err != nil || n != 7 {
			return fmt.Errorf("universe %d %v", n, err)
		}
		if v, err := c.Get("given"); err != nil || v != "(vector,(0,1,5))" {
			return fmt.Errorf("given %q %v", v, err)
		}
		for round := 0; round < 20; round++ {
			if err := c.Put(fmt.Sprintf("k-%d-%d", round, rank),
				fmt.Sprint("value=", rank*round)); err != nil {
				return err
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			for r := range clients {
				if v, err := c.Get(fmt.Sprintf("k-%d-%d", round, r)); err != nil ||
					v != fmt.Sprint("value=", r*round) {
					return fmt.Errorf("round %d, of rank %d: %q %v", round, r, v, err)
				}
			}
		}
		return nil
	})
	for r, c := range clients {
		require.Equal(t, State{Initialized: true}, s.State(r))
		require.NoError(t, c.Finalize())
		s.Drain(r)
		require.Equal(t, State{Initialized: true, Finalized: true}, s.State(r))
		select {
		case <-c.Lost():
			t.Fatal("lost after Finalize")
		case <-c.closed:
		}
	}
	require.Equal(t, map[Event]int{Initialized: 5, Waiting: 20, Finalized: 5}, events)
}

func TestRefusals(t *testing.T) {
	_, clients := job(t, Config{Size: 1})
	c := clients[0]
	_, err := c.Get("absent")
	require.ErrorContains(t, err, "absent")
	require.NoError(t, c.Put("k", "v"))
	require.ErrorContains(t, c.Put("k", "w"), "duplicate")
	require.NoError(t, c.Put(strings.Repeat("k", 63), strings.Repeat("v", 1023)))
	require.ErrorContains(t, c.Put(strings.Repeat("k", 64), "v"), "key_too_long")
	require.ErrorContains(t, c.Put("long", strings.Repeat("v", 1024)), "value_too_long")
	_, err = c.ask(New("spawn"), "spawn_result")
	require.ErrorContains(t, err, "unknown_command")
	_, err = c.ask(New("get", "kvsname", "other", "key", "k"), "get_result")
	require.ErrorContains(t, err, "unknown_kvsname")
	require.ErrorContains(t, c.introduce(), "before")
	require.NoError(t, c.Barrier(), "the connection still works")
}

func TestAbort(t *testing.T) {
	aborted := make(chan int, 1)
	s, clients := job(t, Config{Size: 2, Notify: func(rank int, e Event) {
		if e == Aborted {
			aborted <- rank
		}
	}})
	inBarrier := make(chan error)
	go func() { inBarrier <- clients[1].Barrier() }()
	require.NoError(t, clients[1].Abort(42, 0), "while another thread is in a barrier")
	require.Equal(t, 1, <-aborted)
	require.Equal(t, State{Initialized: true, Aborted: true, Status: 42, FailedRank: 0}, s.State(1))
	require.NoError(t, clients[0].Abort(1, ByError), "an MPI error has ended the job")
	require.Equal(t, 0, <-aborted)
	require.Equal(t, State{Initialized: true, Aborted: true, Status: 1, FailedRank: -1, Error: true}, s.State(0))
	clients[1].Close()
	require.Error(t, <-inBarrier)
}

func TestServerDies(t *testing.T) {
	ours, theirs := socketpair(t)
	s := NewServer(Config{Size: 2, KvsName: "k"})
	s.Serve(0, ours)
	c, err := NewClient(theirs)
	require.NoError(t, err)
	done := make(chan error)
	go func() { done <- c.Barrier() }()
	ours.Close()
	require.ErrorContains(t, <-done, "launcher")
	<-c.Lost()
	require.Error(t, c.Barrier())
	require.Error(t, c.Finalize())
}

// Checks that the server reads the data that a process wrote before it ended, even if a descendant still holds the
// process's end of the connection open.
func TestDrainOpenConnection(t *testing.T) {
	ours, theirs := socketpair(t)
	s := NewServer(Config{Size: 1, KvsName: "k"})
	s.Serve(0, ours)
	_, err := io.WriteString(theirs, "cmd=init pmi_version=1 pmi_subversion=1\ncmd=finalize\n")
	require.NoError(t, err)
	s.Drain(0)
	require.True(t, s.State(0).Finalized)
	s.Drain(0) // a second Drain has no effect
	theirs.Close()
}

// serverOn answers each line that it reads with the next of the given answers, then closes the connection.
func serverOn(conn io.ReadWriteCloser, answers ...string) {
	go func() {
		defer conn.Close()
		for _, answer := range answers {
			for b := []byte{0}; b[0] != '\n'; {
				if _, err := conn.Read(b); err != nil {
					return
				}
			}
			io.WriteString(conn, answer)
		}
	}()
}

func TestClientRejectsBadAnswers(t *testing.T) {
	const init = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"
	const maxes = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
	for name, c := range map[string]struct {
		answers []string
		says    string
	}{
		"closed":        {nil, "closed"},
		"closed later":  {[]string{init}, "closed"},
		"no line":       {[]string{"cmd=response_to_init"}, "closed"},
		"garbage":       {[]string{"hello\n"}, "hello"},
		"other command": {[]string{maxes}, "instead of cmd=response_to_init"},
		"version": {[]string{"cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"},
			"version 1"},
		"refused":            {[]string{"cmd=response_to_init rc=-1 msg=go_away\n"}, "go_away"},
		"refused, no reason": {[]string{"cmd=response_to_init rc=3\n"}, "rc=3"},
		"limit missing":      {[]string{init, "cmd=maxes kvsname_max=256 keylen_max=64\n"}, "vallen_max"},
		"limit no number": {[]string{init, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=x\n"},
			"vallen_max"},
		"limit too small": {[]string{init, "cmd=maxes kvsname_max=256 keylen_max=3 vallen_max=1024\n"},
			"keylen_max=3"},
		"no name": {[]string{init, maxes, "cmd=my_kvsname\n"},
			"did not return the name of the key-value space"},
		"two answers":         {[]string{init + init + init, maxes}, "response_to_init"},
		"line without an end": {[]string{strings.Repeat("x", MaxLine+1)}, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			serverOn(ours, c.answers...)
			_, err := NewClient(theirs)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Checks that a launcher may send the pairs in any order and may add pairs.
func TestClientIsLenient(t *testing.T) {
	ours, theirs := net.Pipe()
	serverOn(ours, "cmd=response_to_init rc=0 pmi_subversion=1 pmi_version=1 more=x\n",
		"cmd=maxes vallen_max=512 kvsname_max=64 keylen_max=64 rc=0\n",
		"cmd=my_kvsname kvsname=a.b-c=d\n", "cmd=barrier_out rc=0\n", "cmd=get_result rc=0 value=x\n")
	c, err := NewClient(theirs)
	require.NoError(t, err)
	require.Equal(t, "a.b-c=d", c.KvsName())
	require.NoError(t, c.Barrier())
	v, err := c.Get("k")
	require.NoError(t, err)
	require.Equal(t, "x", v)
}

func TestIntroduce(t *testing.T) {
	ours, theirs := net.Pipe()
	serverOn(ours, "cmd=initack rc=0\ncmd=set size=8\ncmd=set rank=3\ncmd=set debug=0\n",
		"cmd=response_to_init rc=0 pmi_version=1\n",
		"cmd=maxes vallen_max=512 kvsname_max=64 keylen_max=64\n", "cmd=my_kvsname kvsname=k\n")
	rank, size, err := Introduce(theirs, 3)
	require.NoError(t, err)
	require.Equal(t, []int{3, 8}, []int{rank, size})
	_, err = NewClient(theirs)
	require.NoError(t, err, "nothing after the introduction was swallowed")
	for name, answer := range map[string]string{"closed": "", "order": "cmd=initack rc=0\ncmd=set rank=3\n",
		"refused": "cmd=initack rc=-1\n"} {
		ours, theirs := net.Pipe()
		serverOn(ours, answer)
		_, _, err := Introduce(theirs, 3)
		require.Error(t, err, name)
	}
}

// FuzzServer checks that no input from a process makes the server panic or block.
func FuzzServer(f *testing.F) {
	f.Add("cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=barrier_in\ncmd=finalize\n")
	f.Add("cmd=init pmi_version=2\ncmd=init\n")
	f.Add("cmd=init pmi_version=1 pmi_subversion=1\ncmd=put kvsname=k key= value=\ncmd=get\ncmd=abort\n")
	f.Add("cmd=init pmi_version=1\ncmd=barrier_in\ncmd=barrier_in\nmcmd=spawn\nendcmd\n")
	f.Add("\x00\n\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		ours, theirs := socketpair(t)
		s := NewServer(Config{Size: 2, KvsName: "k", Notify: func(int, Event) {}})
		s.Serve(0, ours)
		go io.Copy(io.Discard, theirs)
		io.WriteString(theirs, text)
		s.Drain(0)
		if st := s.State(0); st.Finalized || st.Aborted {
			require.True(t, st.Initialized)
		}
		theirs.Close()
	})
}

func TestSpawnAndNames(t *testing.T) {
	names := NewNames()
	var asked *Spawn
	s := NewServer(Config{Size: 1, KvsName: "job", Names: names,
		Spawn: func(rank int, what *Spawn) (int, *SpawnError) {
			asked = what
			switch what.Parts[0].Command {
			case "absent":
				return 0, &SpawnError{Part: 0, Reason: "absent: not found in PATH"}
			case "many":
				return 0, &SpawnError{Part: -1, Reason: "too many", Most: 12}
			case "apart":
				what.Apart = true
			}
			return 7, nil
		}})
	ours, theirs := net.Pipe()
	s.Serve(0, theirs)
	c, err := NewClient(ours)
	require.NoError(t, err)
	want := &Spawn{Parts: []SpawnPart{{Command: "a b", Args: []string{"", "x=y\nz"}, N: 3, Dir: "/tmp",
		Env: []string{"A=1 2"}}}, Parent: "0.1"}
	first, err := c.Spawn(want)
	require.NoError(t, err)
	require.Equal(t, 7, first)
	require.Equal(t, want, asked)
	_, err = c.Spawn(&Spawn{Parts: []SpawnPart{{Command: "absent", N: 1}}})
	require.Equal(t, &SpawnError{Part: 0, Reason: "absent: not found in PATH"}, err)
	_, err = c.Spawn(&Spawn{Parts: []SpawnPart{{Command: "many", N: 100}}})
	require.Equal(t, &SpawnError{Part: -1, Reason: "too many", Most: 12}, err)
	require.False(t, want.Apart)
	elsewhere := &Spawn{Parts: []SpawnPart{{Command: "apart", N: 1, Hosts: "a:2,b", HostFile: "/f", MapBy: "slot"}},
		Port: "port"}
	_, err = c.Spawn(elsewhere)
	require.NoError(t, err)
	require.True(t, elsewhere.Apart)
	require.Equal(t, elsewhere, asked)
	_, err = c.Spawn(&Spawn{Parts: []SpawnPart{{Command: strings.Repeat("x", MaxLine), N: 1}}})
	require.ErrorContains(t, err, "too long")

	_, err = c.Lookup("a service")
	require.ErrorIs(t, err, ErrName)
	require.NoError(t, c.Publish("a service", "port 1"))
	require.ErrorIs(t, c.Publish("a service", "port 2"), ErrName)
	port, err := c.Lookup("a service")
	require.NoError(t, err)
	require.Equal(t, "port 1", port)
	require.True(t, names.Has("a service"))
	require.NoError(t, c.Unpublish("a service"))
	require.False(t, names.Take("a service"))
	names.Publish("another", "port 3")
	require.True(t, names.Take("another"))
	require.False(t, names.Has("another"))
	require.ErrorIs(t, c.Unpublish("a service"), ErrName)
	require.NoError(t, c.Finalize())
}
