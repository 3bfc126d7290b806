package boot

import (
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/boot/pmi1"
	"gompirma/core/mpierr"
	"gompirma/docs"
)

// environment returns a lookup function for Open, like os.LookupEnv.
func environment(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}

// openJob starts a job of n processes within this process. It passes descriptors as a launcher does.
func openJob(t *testing.T, n int, more map[string]string) []Client {
	s := pmi1.NewServer(pmi1.Config{Size: n, KvsName: "job.7", Universe: n})
	clients := make([]Client, n)
	for i := range clients {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
		require.NoError(t, err)
		s.Serve(i, os.NewFile(uintptr(fds[0]), "launcher"))
		env := map[string]string{"PMI_FD": strconv.Itoa(fds[1]), "PMI_RANK": strconv.Itoa(i),
			"PMI_SIZE": strconv.Itoa(n), EnvLocalRank: strconv.Itoa(i)}
		for k, v := range more {
			env[k] = v
		}
		clients[i], err = open(environment(env))
		require.NoError(t, err)
		flags, err := unix.FcntlInt(uintptr(fds[1]), unix.F_GETFD, 0)
		require.NoError(t, err)
		require.Equal(t, unix.FD_CLOEXEC, flags)
		t.Cleanup(func() { clients[i].Finalize() })
	}
	return clients
}

// each calls the function `do` for every client concurrently.
func each(t *testing.T, clients []Client, do func(c Client) error) {
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = do(c)
		}()
	}
	wg.Wait()
	for i, err := range errs {
		require.NoError(t, err, "rank %d", i)
	}
}

// samples returns values to publish, with lengths around the limits, and with every possible byte.
func samples() []string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	out := []string{"", " ", "=", "\n", "\x00", "plain.value:1/2", "söme", string(all),
		strings.Repeat(string(all), 40)}
	for _, n := range []int{749, 750, 751, 998, 999, 1000, 1001, 1023, 1024, 2000, 5000} {
		out = append(out, strings.Repeat("x", n), strings.Repeat("\xff", n))
	}
	return out
}

func TestValues(t *testing.T) {
	single, err := open(environment(nil))
	require.NoError(t, err)
	for _, clients := range [][]Client{{single}, openJob(t, 2, nil)} {
		each(t, clients, func(c Client) error {
			for i, v := range samples() {
				if err := c.Put(fmt.Sprintf("v-%d_%d.x", i, c.Rank()), v); err != nil {
					return err
				}
			}
			if err := c.Fence(); err != nil {
				return err
			}
			for i, v := range samples() {
				for r := range clients {
					got, err := c.Get(r, fmt.Sprintf("v-%d_%d.x", i, r))
					if err != nil || got != v {
						return fmt.Errorf("sample %d of rank %d: %d bytes instead of %d, %v", i,
							r, len(got), len(v), err)
					}
				}
			}
			return nil
		})
		c := clients[0]
		for _, key := range []string{"", "a b", "a=b", "a/0", "a\n", strings.Repeat("k", MaxKey+1)} {
			require.Error(t, c.Put(key, "v"), "%q", key)
		}
		require.NoError(t, c.Put(strings.Repeat("k", MaxKey), strings.Repeat("v", 9000)))
		err := c.Put(strings.Repeat("k", MaxKey), "again")
		require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
		_, err = c.Get(0, "absent")
		require.ErrorContains(t, err, "absent")
		require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
	}
}

func TestFetchRefusesForeignValues(t *testing.T) {
	for _, stored := range []string{"", "x", "(vector,(0,1,4))", "b*", "m", "m0", "m-1", "mx", "m2"} {
		_, err := fetch(func(key string) (string, error) {
			if key != "k" {
				return "", failure("no %s", key)
			}
			return stored, nil
		}, "k")
		require.Error(t, err, "%q", stored)
	}
}

func TestSingleton(t *testing.T) {
	a, err := open(environment(nil))
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 1}, []int{a.Rank(), a.Size(), a.UniverseSize()})
	_, ok := a.AppNum()
	require.False(t, ok)
	_, ok = a.Control()
	require.False(t, ok)
	require.Nil(t, a.LauncherLost())
	require.NoError(t, a.Fence())
	require.NoError(t, a.Abort(1, -1))
	p, err := Nodes(a, anywhere, 0)
	require.NoError(t, err)
	require.Equal(t, &NodeMap{NodeOf: []int32{0}, NodeCount: 1, Local: []int{0}, hosts: []string{host()}}, p)
	require.NoError(t, a.Finalize())
}

func TestOpenRefuses(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	closed, err := syscall.Dup(int(null.Fd()))
	require.NoError(t, err)
	syscall.Close(closed)
	with := func(values ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(values); i += 2 {
			m[values[i]] = values[i+1]
		}
		return m
	}
	for says, env := range map[string]map[string]string{
		"PMI_FD=x is not":      with("PMI_FD", "x", "PMI_RANK", "0", "PMI_SIZE", "1"),
		"PMI_FD=-1 is not":     with("PMI_FD", "-1", "PMI_RANK", "0", "PMI_SIZE", "1"),
		"not set PMI_RANK":     with("PMI_FD", "0", "PMI_SIZE", "1"),
		"PMI_SIZE=many":        with("PMI_FD", "0", "PMI_RANK", "0", "PMI_SIZE", "many"),
		"PMI_ID":               with("PMI_PORT", "localhost:1"),
		"PMI_PORT=localhost:1": with("PMI_PORT", "localhost:1", "PMI_ID", "0"),
		"PMIX_RANK=3":          with("PMIX_RANK", "3"),
		fmt.Sprintf("(PMI_FD=%d) is not open", closed): with("PMI_FD", strconv.Itoa(closed), "PMI_RANK", "0",
			"PMI_SIZE", "1"),
		fmt.Sprintf("(PMI_FD=%d) is not open", null.Fd()): with("PMI_FD", strconv.Itoa(int(null.Fd())),
			"PMI_RANK", "0", "PMI_SIZE", "1"),
	} {
		_, err := open(environment(env))
		if says == "not set PMI_RANK" {
			says = "did " + says
		}
		require.ErrorContains(t, err, says)
		require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
	}
}

func TestInvalidRankRefused(t *testing.T) {
	for _, place := range [][2]string{{"2", "2"}, {"-1", "2"}, {"0", "0"}} {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
		require.NoError(t, err)
		s := pmi1.NewServer(pmi1.Config{Size: 2, KvsName: "job"})
		s.Serve(0, os.NewFile(uintptr(fds[0]), "launcher"))
		_, err = open(environment(map[string]string{"PMI_FD": strconv.Itoa(fds[1]), "PMI_RANK": place[0],
			"PMI_SIZE": place[1]}))
		require.ErrorContains(t, err, "rank "+place[0]+" of "+place[1])
	}
}

func TestPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	s := pmi1.NewServer(pmi1.Config{Size: 4, KvsName: "job"})
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		line := make([]byte, len("cmd=initack pmiid=3\n"))
		if n, _ := conn.Read(line); string(line[:n]) != "cmd=initack pmiid=3\n" {
			conn.Close()
			return
		}
		fmt.Fprint(conn, "cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=2\ncmd=set debug=0\n")
		s.Serve(2, conn.(pmi1.Conn))
	}()
	c, err := open(environment(map[string]string{"PMI_PORT": listener.Addr().String(), "PMI_ID": "3"}))
	require.NoError(t, err)
	require.Equal(t, []int{2, 4}, []int{c.Rank(), c.Size()})
	require.NoError(t, c.Finalize())
}

func TestUniverseAndControl(t *testing.T) {
	fd, err := unix.MemfdCreate("control", 0)
	require.NoError(t, err)
	f := os.NewFile(uintptr(fd), "control")
	defer f.Close()
	other, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer other.Close()
	control := map[string]string{EnvJob: "job.7", EnvControlFd: strconv.Itoa(int(f.Fd())), EnvLocalRanks: "2"}
	for i, c := range openJob(t, 2, control) {
		got, ok := c.Control()
		require.True(t, ok)
		require.Equal(t, Control{Fd: int(f.Fd()), NodeRank: i, NodeSize: 2}, got)
		require.Equal(t, 2, c.UniverseSize())
		n, ok := c.AppNum()
		require.True(t, ok)
		require.Zero(t, n)
		// gompirun reported that all processes run on this node. Nodes then exchanges no values, so calling it
		// for one process after the other does not block.
		p, err := Nodes(c, anywhere, 0)
		require.NoError(t, err)
		require.Equal(t, &NodeMap{NodeOf: []int32{0, 0}, NodeCount: 1, Local: []int{0, 1}, LocalIndex: i,
			hosts: []string{host()}}, p)
	}
	for _, change := range [][2]string{{EnvJob, "job.6"}, {EnvControlFd, "99999"},
		{EnvControlFd, strconv.Itoa(int(other.Fd()))}, {EnvLocalRanks, "x"}} {
		env := map[string]string{}
		for k, v := range control {
			env[k] = v
		}
		env[change[0]] = change[1]
		_, ok := openJob(t, 1, env)[0].Control()
		require.False(t, ok, "%v", change)
	}
}

func TestNodes(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, n := range []int{1, 2, 3, 4, 5, 9, 10, 37} {
		clients := openJob(t, n, nil)
		host := make([]int, n)
		for i := range host {
			host[i] = rnd.Intn(4)
		}
		places := make([]*NodeMap, n)
		each(t, clients, func(c Client) (err error) {
			places[c.Rank()], err = nodes(c, fmt.Sprint("host", host[c.Rank()]),
				fmt.Sprint("name", host[c.Rank()]))
			return err
		})
		for r, p := range places {
			require.Equal(t, places[0].NodeOf, p.NodeOf)
			require.Equal(t, r, p.Local[p.LocalIndex])
			require.Equal(t, p.LocalIndex, int(p.LocalIndices()[r]))
			highest := int32(-1)
			for s := range host {
				require.Equal(t, host[s] == host[r], p.NodeOf[s] == p.NodeOf[r])
				require.Equal(t, fmt.Sprint("name", host[s]), p.Host(s))
				require.Equal(t, host[s] == host[r], p.LocalIndices()[s] >= 0)
				if p.NodeOf[s] > highest {
					require.Equal(t, highest+1, p.NodeOf[s], "numbered by the lowest rank")
					highest++
				}
			}
			require.Equal(t, int(highest)+1, p.NodeCount)
		}
	}
	require.Equal(t, identity(), identity())
}

func TestAllGather(t *testing.T) {
	for _, n := range []int{1, 4, 7} {
		each(t, openJob(t, n, nil), func(c Client) error {
			got, err := AllGather(c, "test", strings.Repeat("\xfe", 300*c.Rank()))
			if err != nil {
				return err
			}
			for r, v := range got {
				if v != strings.Repeat("\xfe", 300*r) {
					return fmt.Errorf("AllGather returned %d bytes of rank %d, which differ from "+
						"the %d bytes that it passed", len(v), r, 300*r)
				}
			}
			return nil
		})
	}
	for _, joined := range []string{"", "\x05abc", "\x01a\x01b\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x01a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"} {
		require.Error(t, splitValues(joined, 0, make([]string, 2)), "%q", joined)
	}
}

func TestLauncherDies(t *testing.T) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
	require.NoError(t, err)
	ours := os.NewFile(uintptr(fds[0]), "launcher")
	pmi1.NewServer(pmi1.Config{Size: 2, KvsName: "job"}).Serve(0, ours)
	c, err := open(environment(map[string]string{"PMI_FD": strconv.Itoa(fds[1]), "PMI_RANK": "0", "PMI_SIZE": "2"}))
	require.NoError(t, err)
	ours.Close()
	<-c.LauncherLost()
	err = c.Fence()
	require.ErrorContains(t, err, "launcher")
	require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
	require.Error(t, c.Finalize())
}

// TestLimit checks that the first Fence waits for a late process without limit, and that later Fences report a failed
// process after the limit.
func TestLimit(t *testing.T) {
	const limit = 20 * time.Millisecond
	clients, _ := pmixJobOf(t, 2)
	for _, clients := range [][]Client{openJob(t, 2, nil), clients} {
		for _, c := range clients {
			c.Limit(limit)
		}
		each(t, clients, func(c Client) error {
			if c.Rank() == 1 {
				time.Sleep(5 * limit)
			}
			return c.Fence()
		})
		err := clients[0].Fence()
		require.ErrorContains(t, err, "this process has waited in MPI_Init for other processes for 20ms")
		require.ErrorContains(t, err, EnvTimeout)
		require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
		require.NoError(t, clients[0].Abort(1, -1))
	}
	clients = openJob(t, 2, nil)
	each(t, clients, Client.Fence)
	clients[0].Limit(limit)
	require.ErrorContains(t, clients[0].Fence(), "barrier_in")
	_, err := clients[0].Get(1, "x")
	require.ErrorContains(t, err, "barrier_in", "what is answered late is no answer to this")
	clients[1].Limit(limit)
	clients[1].Limit(0)
	go func() {
		time.Sleep(5 * limit)
		clients[1].Abort(1, -1)
	}()
	require.NotContains(t, fmt.Sprint(clients[1].Fence()), "not answered")
}

func TestPeerTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 30 * time.Second, "0": 0, "3": 3 * time.Second,
		"0.5": 500 * time.Millisecond, "500ms": 500 * time.Millisecond, "2m": 2 * time.Minute} {
		got, err := peerTimeout(text)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
	}
	for _, text := range []string{"x", "-1", "50ms", "1e9", "Inf", "NaN", "2000h", "3 s"} {
		_, err := peerTimeout(text)
		require.ErrorContains(t, err, fmt.Sprintf("%s is %q; it must be a time", EnvTimeout, text), "%q", text)
		require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
	}
}

// TestCheckEnvironment checks that the text on an invalid value has the name of the variable and the valid values.
func TestCheckEnvironment(t *testing.T) {
	require.NoError(t, CheckEnvironment())
	for _, c := range []struct{ name, valid, invalid, want string }{
		{"GOMPIRMA_NO_CMA", "1", "yes", "0 or 1"},
		{"GOMPIRMA_SHOW_GO", "0", "true", "0 or 1"},
		{"GOMPIRMA_FT", "1", "2", "0 or 1"},
		{"GOMPIRMA_LOCK_EVENT_US", "0", "1ms", "a number of microseconds from 0 to 2147483647"},
		{"GOMPIRMA_LOCK_EVENT_US", "2147483647", "-1", "a number of microseconds"},
		{"GOMPIRMA_LOCK_EVENT_US", "", "2147483648", "a number of microseconds"},
	} {
		t.Setenv(c.name, c.valid)
		require.NoError(t, CheckEnvironment(), c.name)
		t.Setenv(c.name, c.invalid)
		err := CheckEnvironment()
		require.ErrorContains(t, err, fmt.Sprintf("%s is %q; it must be %s", c.name, c.invalid, c.want))
		require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
		t.Setenv(c.name, "")
	}
}

// TestDocumentedVariables checks the defaults that docs/VARIABLES.md states, and that an invalid value of each flag is
// an error.
func TestDocumentedVariables(t *testing.T) {
	defaults := map[string]string{}
	for _, v := range docs.Variables() {
		name := strings.Trim(v.Names, "`")
		defaults[name] = v.Default()
		if v.Control == "flag" {
			require.Equal(t, "0", v.Default(), name)
			t.Setenv(name, "yes")
			require.ErrorContains(t, CheckEnvironment(), name)
			t.Setenv(name, "")
		}
	}
	want, err := peerTimeout("")
	require.NoError(t, err)
	documented, err := peerTimeout(defaults[EnvTimeout])
	require.NoError(t, err)
	require.Equal(t, want, documented)
	handler, err := InitialErrhandler("")
	require.NoError(t, err)
	require.Equal(t, handler, InitialErrhandlers[defaults[EnvInitialErrhandler]])
}

// underHydra names the environment variable that is set if a launcher has started this test program as a process of a
// job.
const underHydra = "GOMPIRMA_TEST_UNDER_LAUNCHER"

func TestMain(m *testing.M) {
	if os.Getenv(underHydra) == "" {
		os.Exit(m.Run())
	}
	if err := process(); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func process() error {
	c, err := Open()
	if err != nil {
		return err
	}
	places, err := Nodes(c, anywhere, 0)
	if err != nil {
		return err
	}
	if places.NodeCount != 1 || len(places.Local) != c.Size() || c.UniverseSize() < c.Size() {
		return fmt.Errorf("expected one node with all %d ranks and a universe of at least this size, "+
			"but got %+v and universe %d", c.Size(), places, c.UniverseSize())
	}
	if n, ok := c.AppNum(); !ok || n != 0 {
		return fmt.Errorf("AppNum returned %d, %v; expected 0, true", n, ok)
	}
	for i, v := range samples() {
		if err := c.Put(fmt.Sprintf("v%d.%d", i, c.Rank()), v); err != nil {
			return err
		}
	}
	if err := c.Fence(); err != nil {
		return err
	}
	for i, v := range samples() {
		next := (c.Rank() + 1) % c.Size()
		if got, err := c.Get(next, fmt.Sprintf("v%d.%d", i, next)); err != nil || got != v {
			return fmt.Errorf("sample %d: %d bytes instead of %d, %v", i, len(got), len(v), err)
		}
	}
	if os.Getenv(underHydra) == "abort" && c.Rank() == 1 {
		if err := c.Abort(23, -1); err != nil {
			return err
		}
	}
	if os.Getenv(underHydra) == "abort" {
		return c.Fence() // never completes; the launcher ends this process
	}
	if err := c.Finalize(); err != nil {
		return err
	}
	fmt.Println("fine", c.Rank(), "of", c.Size())
	return nil
}

func TestUnderHydra(t *testing.T) {
	mpiexec, err := exec.LookPath("mpiexec.mpich")
	if err != nil {
		t.Skip("mpiexec.mpich is not installed (Debian package mpich)")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	self, err = filepath.EvalSymlinks(self)
	require.NoError(t, err)
	run := func(mode string, args ...string) (string, error) {
		cmd := exec.Command(mpiexec, append(args, "-n", "6", self)...)
		cmd.Env = append(os.Environ(), underHydra+"="+mode)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{nil, {"-pmi-port"}} {
		out, err := run("run", args...)
		require.NoError(t, err, out)
		for r := 0; r < 6; r++ {
			require.Contains(t, out, fmt.Sprintf("fine %d of 6\n", r))
		}
	}
	out, err := run("abort")
	require.ErrorContains(t, err, "exit status 23", out)
}
