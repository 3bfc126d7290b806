package comm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/group"
)

// simulation runs the agreements of several simulated processes, which may fail at any time. One process runs at a
// time, and each call of its Host may pass control to another one. A failed process never runs again. Some of its
// messages in flight are lost. Others arrive later, also after its failure is known. A node learns of a failure after
// some time.
type simulation struct {
	random *rand.Rand
	nodes  [][]int // processes of each node
	nodeOf []int
	failed []bool
	known  [][]bool     // [node][process]: the failure of the process is known on the node
	links  [][][][]byte // [from][to]: messages in flight
	// [from][to]: number of messages sent, and delivered
	sent, delivered [][]int
	arrived         [][][]byte // [to]
	turn            []chan bool
	yielded         chan bool
	memory          [][]byte
}

// simulated is the Host of one process. The simulation implements only the functions that agreements use.
type simulated struct {
	Host
	*simulation
	me int
}

// yield lets other processes run. It ends the goroutine of a process that has failed.
func (h simulated) yield() {
	h.yielded <- true
	h.await()
}

func (h simulated) await() {
	if !<-h.turn[h.me] {
		runtime.Goexit()
	}
}

func (h simulated) NewID() uint64    { return uint64(h.me + 1) }
func (h simulated) Node(w int32) int { return h.nodeOf[w] }
func (h simulated) Wake(int32)       {}
func (h simulated) Failed(w int32) bool {
	h.yield()
	return h.known[h.nodeOf[h.me]][w]
}

func (h simulated) AwaitSurvivors(done func() bool) error {
	for !done() {
		h.yield()
	}
	return nil
}

func (h simulated) Send(_ *Comm, _ Context, dest int, _ int32, b []byte) error {
	h.yield()
	h.sent[h.me][dest]++
	h.links[h.me][dest] = append(h.links[h.me][dest], slices.Clone(b))
	return nil
}

func (h simulated) RequestDelivery(w int32) (isDelivered func() bool) {
	number := h.sent[h.me][w]
	return func() bool { return h.delivered[h.me][w] >= number || h.known[h.nodeOf[h.me]][w] }
}

func (h simulated) RecvUnless(_ *Comm, _ Context, b []byte, stop func() bool) (bool, error) {
	for {
		if q := h.arrived[h.me]; len(q) > 0 {
			h.arrived[h.me] = q[1:]
			copy(b, q[0])
			return true, nil
		}
		if stop() {
			return false, nil
		}
		h.yield()
	}
}

func (h simulated) AllocBlock(size int64) ([]byte, uint64, error) {
	h.memory = append(h.memory, make([]byte, size))
	return h.memory[len(h.memory)-1], uint64(len(h.memory)), nil
}

func (h simulated) OpenBlock(name uint64, _ int64) ([]byte, error) { return h.memory[name-1], nil }
func (h simulated) FreeBlock(uint64, int64, int64)                 {}

// fail makes a process fail. Of the last messages on each of its links, a random number is lost.
func (s *simulation) fail(process int) {
	s.failed[process] = true
	for to, link := range s.links[process] {
		s.links[process][to] = link[:s.random.IntN(len(link)+1)]
	}
}

// detect makes a failure known on a random node.
func (s *simulation) detect() {
	node, process := s.random.IntN(len(s.nodes)), s.random.IntN(len(s.failed))
	if s.failed[process] {
		s.known[node][process] = true
	}
}

// deliver delivers the first message of a random link.
func (s *simulation) deliver() {
	from, to := s.random.IntN(len(s.failed)), s.random.IntN(len(s.failed))
	if link := s.links[from][to]; len(link) > 0 {
		s.links[from][to] = link[1:]
		s.delivered[from][to]++
		s.arrived[to] = append(s.arrived[to], link[0])
	}
}

func newSimulation(seed uint64, nodes ...int) *simulation {
	s := &simulation{random: rand.New(rand.NewPCG(seed, 0)), yielded: make(chan bool)}
	for node, n := range nodes {
		s.nodes = append(s.nodes, nil)
		for range n {
			s.nodes[node] = append(s.nodes[node], len(s.nodeOf))
			s.nodeOf = append(s.nodeOf, node)
		}
	}
	n := len(s.nodeOf)
	s.failed, s.arrived = make([]bool, n), make([][][]byte, n)
	for range n {
		s.links = append(s.links, make([][][]byte, n))
		s.turn = append(s.turn, make(chan bool))
		s.sent, s.delivered = append(s.sent, make([]int, n)), append(s.delivered, make([]int, n))
	}
	for range nodes {
		s.known = append(s.known, make([]bool, n))
		s.memory = append(s.memory, make([]byte, 1<<12), make([]byte, 1<<12)) // for each group
	}
	return s
}

// communicator returns the communicator of all processes or, if `split` is not 0, an intercommunicator whose first
// group has the first `split` processes.
func (h simulated) communicator(split int) *Comm {
	intra := func(first, n, side int) *Comm {
		c := &Comm{host: h, local: group.Range(int32(first), int32(n), 1), rank: h.me - first, size: n,
			Block: h.memory[2*h.nodeOf[h.me]+side]}
		c.Hierarchy = hierarchyOf(h, c.local, c.rank)
		if local, _ := c.LocalMembers(); local == 1 {
			c.Block = nil
		}
		return c
	}
	n := len(h.nodeOf)
	switch {
	case split == 0:
		return intra(0, n, 0)
	case h.me < split:
		return newInter(intra(0, split, 0), group.Range(int32(split), int32(n-split), 1), true)
	default:
		return newInter(intra(split, n-split, 1), group.Range(0, int32(split), 1), false)
	}
}

// run executes `count` agreements in each process. It returns the decisions of each process, or an error if the
// processes do not end.
func (s *simulation) run(count, split int) ([][]*vote, error) {
	n := len(s.nodeOf)
	votes, ended := make([][]*vote, n), make([]bool, n)
	for i := range n {
		h := simulated{simulation: s, me: i}
		c := h.communicator(split)
		go func() {
			h.await()
			a := c.agreements()
			for k := range count {
				v, err := a.run(a.newVote(^uint32(0)^uint32(1)<<i^uint32(k)<<16, nil))
				if err != nil {
					panic(err)
				}
				votes[i] = append(votes[i], v)
			}
			ended[i] = true
			s.yielded <- true
		}()
	}
	defer func() {
		for i, end := range ended {
			if !end {
				s.turn[i] <- false
			}
		}
	}()
	kills := s.random.IntN(n)
	for steps := 0; slices.Contains(ended, false); steps++ {
		isLive := func(i int) bool { return !s.failed[i] && !ended[i] }
		if !slices.ContainsFunc(order(n), isLive) {
			break
		}
		if steps > 200000 {
			return nil, fmt.Errorf("no end: failed %v, ended %v", s.failed, ended)
		}
		switch s.random.IntN(8) {
		case 0:
			s.detect()
		case 1, 2, 3:
			s.deliver()
		}
		i := s.random.IntN(n)
		if kills > 0 && isLive(i) && s.random.IntN(60) == 0 {
			s.fail(i)
			kills--
		}
		if isLive(i) {
			s.turn[i] <- true
			<-s.yielded
		}
	}
	return votes, nil
}

func order(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestAgreement checks that all processes come to the same decision, which contains the votes of those that have not
// failed, whichever processes fail at whatever time. A process that fails after its decision has the same decision.
func TestAgreement(t *testing.T) {
	const count = 3
	for _, c := range []struct {
		split int
		nodes []int
	}{{0, []int{4}}, {0, []int{2, 2}}, {0, []int{1, 1, 1, 1}}, {0, []int{1, 1, 1, 1, 1}}, {0, []int{2, 1, 1, 2}},
		{0, []int{3, 3}}, {2, []int{4}}, {1, []int{5}}, {3, []int{2, 2}}, {2, []int{1, 1, 1, 1}},
		{3, []int{4, 1}}} {
		for seed := range uint64(300) {
			name := fmt.Sprintf("%+v, seed %d", c, seed)
			s := newSimulation(seed, c.nodes...)
			votes, err := s.run(count, c.split)
			require.NoError(t, err, name)
			var first []*vote
			for i := range votes {
				if !s.failed[i] {
					require.Len(t, votes[i], count, name)
				}
				for k, v := range votes[i] {
					if k == len(first) {
						first = append(first, v)
					}
					require.Equal(t, first[k].flags, v.flags,
						"%s: flags of decision %d at process %d", name, k, i)
					require.Equal(t, first[k].failed, v.failed,
						"%s: failed members in decision %d at process %d", name, k, i)
					if s.failed[i] {
						continue
					}
					both := v.flags[0] & v.flags[1]
					require.Zero(t, both>>i&1, "%s: vote %d of %d is missing", name, k, i)
					require.Zero(t, v.failed[i], "%s: process %d is alive", name, i)
				}
			}
		}
	}
}
