package main

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/capi/engine"
	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/p2p"
	"gompirma/core/rma"
	"gompirma/core/shm"
)

// bigJob is a simulated job. Members of its first node are in this process. The data of the other nodes is generated.
type bigJob struct {
	n, nodes, here int
	turns          bool // ranks are assigned to nodes round-robin, not in blocks
	members        []*bigMember
	file           *os.File // the node's memory

	// words writes a rank's contribution to the current exchange into b.
	words func(rank int, b []byte)
	size  int

	// counters of the first member's messages between nodes: number of messages sent, bytes sent, number of rounds,
	// bytes received
	sends, sent, rounds, received int
}

// bigMember is a member on the first node. It implements comm.Host: the messages that create a communicator, and the
// network of its collectives.
type bigMember struct {
	job     *bigJob
	rank    int
	nd      *shm.Node
	c       *comm.Comm
	e       *coll.Engine
	from    map[int]chan []byte
	words   *coll.SharedAllgather
	first   []byte // the result of the first exchange in shared memory
	blocks  []bigBlock
	ids     atomic.Uint64
	peer    int // rank of the node leader that wire.Recv simulates
	ahead   int // number of nodes, starting with the node of `peer`, whose data wire.Recv has generated
	perNode int
}

// bigBlock is a block that a member has allocated.
type bigBlock struct {
	name shm.BlockRef
	size int64
}

func (j *bigJob) nodeOf(rank int) int {
	if j.turns {
		return rank % j.nodes
	}
	return rank / j.here
}

// rankOf returns the rank of member i of a node.
func (j *bigJob) rankOf(node, i int) int {
	if j.turns {
		return node + i*j.nodes
	}
	return node*j.here + i
}

func (j *bigJob) index(rank int) int {
	switch {
	case j.nodeOf(rank) != 0:
		return -1
	case j.turns:
		return rank / j.nodes
	}
	return rank
}

func (m *bigMember) Send(_ *comm.Comm, _ comm.Context, dest int, _ int32, b []byte) error {
	if i := m.job.index(dest); i >= 0 && i < len(m.job.members) {
		m.job.members[i].from[m.rank] <- bytes.Clone(b)
	}
	return nil
}

// Recv receives a message of a member on this node. For any other member it stores zeros, which mean success.
func (m *bigMember) Recv(_ *comm.Comm, _ comm.Context, source int, _ int32, b []byte, _ []int32) error {
	clear(b)
	if i := m.job.index(source); i >= 0 && i < len(m.job.members) {
		copy(b, <-m.from[source])
	}
	return nil
}

func (m *bigMember) Identify(w int32) (uint64, uint32)               { return 0, uint32(w) }
func (m *bigMember) Find(_ uint64, number uint32) (w int32, ok bool) { return int32(number), true }
func (m *bigMember) NewID() uint64                                   { return uint64(m.rank+1)<<40 | m.ids.Add(1)<<4 }
func (m *bigMember) Node(w int32) int                                { return m.job.nodeOf(int(w)) }
func (m *bigMember) Forget(*comm.Comm)                               {}
func (m *bigMember) FreeBlock(name uint64, size, used int64) {
	m.nd.FreeBlock(shm.BlockRef(name), size, used)
}
func (m *bigMember) BlockMapped(uint64, int32) bool { return false }
func (m *bigMember) AllocBlock(size int64) ([]byte, uint64, error) {
	b, name, err := m.nd.AllocBlock(size)
	m.blocks = append(m.blocks, bigBlock{name, size})
	return b, uint64(name), err
}
func (m *bigMember) OpenBlock(name uint64, size int64) ([]byte, error) {
	return m.nd.OpenBlock(shm.BlockRef(name), size)
}
func (m *bigMember) Failed(int32) bool                 { return false }
func (m *bigMember) Wake(int32)                        {}
func (m *bigMember) RequestDelivery(int32) func() bool { panic("unused") }
func (m *bigMember) AwaitSurvivors(func() bool) error  { panic("unused") }
func (m *bigMember) RecvUnless(*comm.Comm, comm.Context, []byte, func() bool) (bool, error) {
	panic("unused")
}
func (m *bigMember) Bcast(*comm.Comm, int, []byte) (bool, error)        { return false, nil }
func (m *bigMember) Allgather(*comm.Comm, []byte) ([]byte, bool, error) { return nil, false, nil }

// wire is the network between the first member of this node and the leaders of the other nodes.
type wire struct{ *bigMember }

func (w wire) Send(_ *comm.Comm, to int, b []byte) error {
	w.job.sends++
	w.job.sent += len(b)
	return nil
}

// Recv generates the message that a node leader sends in a round: the data of the members of its node, and then of the
// following nodes. Another call for the same leader continues with the next node.
func (w wire) Recv(_ *comm.Comm, from int, b []byte) error {
	j := w.job
	if from != w.peer {
		w.peer, w.ahead = from, 0
		j.rounds++
	}
	w.job.received += len(b)
	for ; len(b) > 0; w.ahead++ {
		node := (j.nodeOf(from) + w.ahead) % j.nodes
		for i := range j.here {
			j.words(j.rankOf(node, i), b[:j.size])
			b = b[j.size:]
		}
	}
	return nil
}

// singleMemberShm implements coll.Shm if only one member of the node is in this process. It generates the data of the
// other members.
type singleMemberShm struct{ *bigJob }

func (singleMemberShm) Supports(coll.Kind) bool        { return true }
func (singleMemberShm) Barrier() error                 { panic("not a call of windows") }
func (singleMemberShm) Close()                         {}
func (singleMemberShm) Leave() bool                    { return false }
func (singleMemberShm) Bcast(int, []byte) error        { panic("not a call of windows") }
func (singleMemberShm) Allgather([]byte, []byte) error { panic("not a call of windows") }
func (singleMemberShm) Used() bool                     { return false }
func (singleMemberShm) Clean()                         {}
func (s singleMemberShm) RunOnNode(x *coll.ShmCall) error {
	for i, b := range x.Outs[min(1, len(x.Outs)):] {
		s.words(s.rankOf(0, i+1), b)
	}
	return nil
}

// newBigJob creates a job with MPI_COMM_WORLD. The given number of members of its first node are in this process.
func newBigJob(t *testing.T, n, nodes int, turns bool, members int) *bigJob {
	j := &bigJob{n: n, nodes: nodes, here: n / nodes, turns: turns}
	f, err := shm.CreateControl(j.here, 1)
	require.NoError(t, err)
	j.file = f
	t.Cleanup(func() { f.Close() })
	for i := range members {
		fd, err := unix.Dup(int(f.Fd()))
		require.NoError(t, err)
		m := &bigMember{job: j, rank: j.rankOf(0, i), from: map[int]chan []byte{}, peer: -1}
		m.nd, err = shm.Open(fd, i)
		require.NoError(t, err)
		for k := range j.here {
			m.from[j.rankOf(0, k)] = make(chan []byte, 1)
		}
		m.c = comm.NewWorld(m, 0, m.rank, n)
		m.e = coll.NewOverWire(wire{m})
		j.members = append(j.members, m)
	}
	places, nodeOf := make([]int32, n), make([]int32, n)
	for r := range n {
		places[r], nodeOf[r] = int32(j.index(r)), int32(j.nodeOf(r))
	}
	all, err := dataPath{}.NewProcesses()
	require.NoError(t, err)
	_, err = all.Add(0, nodeOf, places)
	require.NoError(t, err)
	all.SetSelf(int32(j.members[0].rank), 0, all.Count())
	first := j.members[0].nd
	dataPath{}.Open(first, all)
	require.NoError(t, first.Commit(shm.MessageRing(first.Slots, first.Me), shm.MessageRingSize))
	carrier, err := engine.Open(&p2p.CarrierConfig{Control: first.Control(), Rings: shm.MessageRing(first.Slots, 0),
		CellStride: shm.CellSize(first.Slots), RingBytes: shm.MessageRingSize, N: first.Slots, Me: first.Me,
		Processes: all})
	require.NoError(t, err)
	carrier.Enter()
	t.Cleanup(carrier.Leave)
	require.NoError(t, j.all(func(m *bigMember) error { return m.c.AttachBlock() }))
	return j
}

// all runs f concurrently for all members that are in this process.
func (j *bigJob) all(f func(m *bigMember) error) error {
	errs := make([]error, len(j.members))
	var wg sync.WaitGroup
	for i, m := range j.members {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = f(m)
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// allgather runs an allgather of size bytes per member, and checks the result at the members in this process. If shared
// is true, it uses the members' SharedAllgather objects.
func (j *bigJob) allgather(size int, shared bool, words func(rank int, b []byte)) error {
	j.size, j.words = size, words
	want := make([]byte, size*j.n)
	for r := range j.n {
		words(r, want[r*size:(r+1)*size])
	}
	return j.all(func(m *bigMember) error {
		m.peer = -1
		var all []byte
		var err error
		if mine := bytes.Clone(want[m.rank*size : (m.rank+1)*size]); shared {
			all, err = m.words.Allgather(mine)
		} else {
			all, err = m.e.Allgather(m.c, mine)
		}
		if shared && size == mostWords {
			m.first = all
		}
		if err == nil && !bytes.Equal(want, all) {
			err = fmt.Errorf("rank %d received wrong data", m.rank)
		}
		return err
	})
}

// mostWords is the number of bytes of each member's data in the first exchange of a SharedAllgather. It is so large
// that even the smallest job with several members per node (15 members) uses shared memory for the result.
const mostWords = 20 << 10

// TestAllgatherOfManyNodes checks allgathers at the members of one node, for several numbers of nodes, with ranks
// assigned to nodes in blocks and round-robin. An error in the algorithm would store data at the place of another rank,
// or need more rounds than the logarithm of the number of nodes.
func TestAllgatherOfManyNodes(t *testing.T) {
	for _, shape := range [][2]int{{1, 2}, {1, 3}, {3, 5}, {4, 17}, {5, 100}} {
		for _, turns := range []bool{false, true} {
			here, nodes := shape[0], shape[1]
			j := newBigJob(t, here*nodes, nodes, turns, here)
			said := func(call int) func(rank int, b []byte) {
				return func(rank int, b []byte) {
					for i := range b {
						b[i] = byte(rank*31 + call*7 + i)
					}
				}
			}
			inUse := 0
			for call, size := range []int{1, 8, 72, 72, mostWords, 1, 72, 8} {
				before := *j
				if call == 4 { // this call and all later calls use shared memory
					inUse = j.members[0].nd.BlocksInUse()
					for _, m := range j.members {
						m.words = m.e.NewSharedAllgather(m.c, mostWords, 72)
					}
				}
				require.NoError(t, j.allgather(size, call >= 4, said(call)))
				require.Equal(t, bits.Len(uint(nodes-1)), j.rounds-before.rounds, "%v", shape)
				require.LessOrEqual(t, j.sends-before.sends, 2*(j.rounds-before.rounds))
				require.Equal(t, size*here*(nodes-1), j.received-before.received)
			}
			// Shared memory that the communicator allocates now must be distinct from the memory of the
			// exchanges.
			more := make([][]byte, here)
			if here > 1 {
				inUse++
				require.NoError(t, j.all(func(m *bigMember) (err error) {
					i := j.index(m.rank)
					if more[i], err = m.c.Extend(100); err == nil {
						more[i][i] = 1
					}
					return err
				}))
			}
			want := make([]byte, mostWords*j.n)
			for r := range j.n {
				said(4)(r, want[r*mostWords:(r+1)*mostWords])
			}
			for i, m := range j.members {
				require.Equal(t, want, m.first, "a later exchange changed the result of the first one")
				// each member has its own mapping: a store through one must be visible in the others if
				// they share the result
				if &m.first[0] != &j.members[0].first[0] {
					m.first[0] ^= 1
					require.Equal(t, m.first[0] == j.members[0].first[0], here > 1, "member %d", i)
					m.first[0] ^= 1
				}
				m.words.Close()
			}
			require.Equal(t, inUse, j.members[0].nd.BlocksInUse(), "number of blocks that are in use")
			for i, b := range more {
				require.True(t, b == nil || b[i] == 1, "the exchange overwrote another block")
			}
		}
	}
}

// envBigWindow makes TestWindowScale create one window in this process. Its value has three numbers: the window's
// members, the nodes, and the members in this process.
const envBigWindow = "GOMPIRMA_TEST_BIG_WINDOW"

// TestWindowScale checks the time and memory of windows with up to 10^6 members on 10^4 nodes. Each window has its own
// test process, in which only the network is simulated. docs/SCALING.md has the figures.
func TestWindowScale(t *testing.T) {
	if shape := os.Getenv(envBigWindow); shape != "" {
		var n, nodes, members int
		_, err := fmt.Sscan(shape, &n, &nodes, &members)
		require.NoError(t, err)
		bigWindow(t, n, nodes, members)
		return
	}
	shapes := []string{
		// one member in the test process: measures the memory of a process
		"1000 10 1", "10000 100 1", "100000 1000 1", "100000 100 1", "100000 10000 1", "1000000 10000 1",
		// all members of a node in the test process: measures the memory of the node
		"1000 10 100", "10000 100 100", "100000 1000 100",
	}
	for _, shape := range shapes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWindowScale$", "-test.v")
		cmd.Env = append(os.Environ(), envBigWindow+"="+shape)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		for line := range strings.Lines(string(out)) {
			if _, words, ok := strings.Cut(line, ".go:"); ok {
				_, words, _ = strings.Cut(words, ": ")
				t.Log(strings.TrimSpace(words))
			}
		}
	}
}

// memory returns a value of /proc/self/status in bytes.
func memory(t *testing.T, name string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(status), name+":")
	require.True(t, found, name)
	kib, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
	require.NoError(t, err)
	return kib << 10
}

// bigWindow creates a window and reports its time and memory. The given number of members of the first node are in this
// process; the other members are simulated.
func bigWindow(t *testing.T, n, nodes, members int) {
	var j *bigJob
	alone := members == 1
	if alone {
		old := coll.OpenShm
		t.Cleanup(func() { coll.OpenShm = old })
		coll.OpenShm = func(h coll.ShmHost) (coll.Shm, error) { return singleMemberShm{j}, nil }
	}
	j = newBigJob(t, n, nodes, false, members)
	first := j.members[0]
	calls := 0
	h := &rma.Host{Node: first.nd, Data: meetsNobody{}, InChunks: first.nd.InChunks,
		NodeOf:    func(w int32) int32 { return int32(j.nodeOf(int(w))) },
		NodeIndex: func(w int32) int { return j.index(int(w)) },
		SharedAllgather: func(_ *comm.Comm, firstBytes, laterBytes int) rma.SharedAllgather {
			return newBigWords(j, firstBytes, laterBytes, &calls)
		},
	}
	create := func(spec rma.Spec) *rma.Window {
		w, err := rma.Create(h, first.c, spec)
		require.NoError(t, err)
		require.Equal(t, n, w.Group.Size())
		return w
	}
	spec := rma.Spec{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: 4096, DispUnit: 8}
	create(spec) // the first window also allocates memory that all windows share
	debug.FreeOSMemory()
	var then, later runtime.MemStats
	runtime.ReadMemStats(&then)
	calls, j.rounds, j.sends, j.received = 0, 0, 0, 0
	before, onNode := memory(t, "RssAnon"), j.nodeMemory(t)
	peaks := j.watch(t)
	began := time.Now()
	windows := []*rma.Window{create(spec)}
	took := time.Since(began)
	peak, nodePeak := peaks()
	rounds, received := bits.Len(uint(nodes-1)), float64(j.received)/1e6
	sends := j.sends
	require.Equal(t, 3, calls)
	require.Equal(t, 3*rounds, j.rounds)
	require.LessOrEqual(t, sends, 2*3*rounds)
	// Go returns memory to the system in units of 2 MiB, which is more than a window needs. So measure the average
	// of several windows.
	for alone && len(windows) < 8 {
		windows = append(windows, create(spec))
	}
	debug.FreeOSMemory()
	runtime.ReadMemStats(&later)
	number := int64(len(windows))
	kept, inGo := (memory(t, "RssAnon")-before)/number, int64(later.HeapAlloc-then.HeapAlloc)/number
	shared := (j.nodeMemory(t) - onNode) / number
	require.Less(t, shared, int64(rma.WinRemoteBytes*n+(rma.WinMemberBytes+4096+j.here)*j.here+2<<20))
	if alone {
		require.Less(t, kept, int64(300<<10), "memory of a process must not grow with the number of members")
		require.Less(t, inGo, int64(128*j.here+4*nodes+8<<10),
			"Go memory of a process must not grow with the number of members")
	}
	runtime.KeepAlive(windows)
	who := "a process"
	if !alone {
		who = "all processes of the node"
	}
	t.Logf("%7d members on %5d nodes, %3d of them here: %6.1f ms, 3 exchanges of %2d rounds, %d messages and "+
		"%.1f MB for the first of a node; %s %.1f kB, %.1f MB at the peak; shared by the node %.1f MB, "+
		"%.1f MB at the peak", n, nodes, members, float64(took.Microseconds())/1000, rounds, sends, received,
		who, float64(kept)/1e3, float64(peak-before)/1e6, float64(shared)/1e6, float64(nodePeak-onNode)/1e6)
}

// meetsNobody is the data path of the one member that creates windows in bigWindow. Its barrier returns immediately,
// because no other member calls it.
type meetsNobody struct{ dataPath }

func (meetsNobody) NodeBarrier(uintptr, uintptr) error { return nil }

// bigWords is the SharedAllgather of the first member. All members in this process take part in its exchanges, with the
// data of the first member.
type bigWords struct {
	j     *bigJob
	calls *int
}

func newBigWords(j *bigJob, firstBytes, laterBytes int, calls *int) bigWords {
	for _, m := range j.members {
		m.words = m.e.NewSharedAllgather(m.c, firstBytes, laterBytes)
		m.blocks = nil
	}
	return bigWords{j, calls}
}

func (b bigWords) Allgather(mine []byte) (all []byte, err error) {
	j := b.j
	*b.calls++
	j.size, j.words = len(mine), func(_ int, b []byte) { copy(b, mine) }
	return all, j.all(func(m *bigMember) error {
		m.peer = -1
		heard, err := m.words.Allgather(bytes.Clone(mine))
		if m == j.members[0] {
			all = heard
		}
		return err
	})
}

func (b bigWords) Close() {
	for _, m := range b.j.members {
		m.words.Close()
	}
	// Simulated members do not release the blocks that the first member has allocated. So free these blocks here.
	if m := b.j.members[0]; len(b.j.members) < b.j.here {
		for _, x := range m.blocks {
			m.nd.FreeBlock(x.name, x.size, shm.Dirty)
		}
	}
}

// nodeMemory returns the memory in bytes that the file of the node's shared memory occupies.
func (j *bigJob) nodeMemory(t *testing.T) int64 {
	var s unix.Stat_t
	require.NoError(t, unix.Fstat(int(j.file.Fd()), &s))
	return s.Blocks * 512
}

// watch samples the memory of this process and of the node until the returned function is called. The returned function
// returns the maxima of both.
func (j *bigJob) watch(t *testing.T) func() (process, node int64) {
	var process, node int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			process, node = max(process, memory(t, "RssAnon")), max(node, j.nodeMemory(t))
			select {
			case <-stop:
				return
			case <-time.After(500 * time.Microsecond):
			}
		}
	}()
	return func() (int64, int64) {
		close(stop)
		<-done
		return process, node
	}
}
