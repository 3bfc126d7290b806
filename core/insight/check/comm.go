package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// comm is a communicator, the same for all its members.
type comm struct {
	name     string
	label    string // that the program has given
	number   int    // among all but the predefined ones, from 1
	members  []int  // ranks in MPI_COMM_WORLD
	remote   []int  // of an intercommunicator's other group
	hints    map[string]string
	counts   map[int]int
	meetings []*meeting // those that not all members have left; the first is number first
	first    int
	sends    map[int][]*send    // by receiver, those that have no receive
	receives map[int][]*receive // by receiver, those that have no message
}

// commKey names a communicator to all its members: who is in it, and the how manieth of these it is.
type commKey struct {
	members string
	number  int
}

// makeComm notes a communicator that a rank has got.
func (c *Checker) makeComm(k *rank, h uint64, members, remote []int) {
	if m := c.countComm(k, members, remote); m != nil {
		k.comms[h] = m
	}
}

// idup is a communicator that a rank has begun to make, and not used yet. MPI may tell its handle when the call
// returns, or not before it is complete: what stood in the variable then may be anything.
type idup struct {
	*comm
	handle uint64
	site   *site // of the call
}

// comm returns what a handle of the rank stands for, nil: nothing that is known. One that is unknown is the next
// communicator that MPI_Comm_idup has made.
func (k *rank) comm(h uint64) *comm {
	m := k.comms[h]
	if m != nil || h < firstMade || len(k.idups) == 0 {
		return m
	}
	i := max(0, slices.IndexFunc(k.idups, func(d idup) bool { return d.handle == h }))
	d, o := k.idups[i], object{"COMMUNICATOR", h}
	k.idups = slices.Delete(k.idups, i, i+1)
	k.comms[h], k.live[o] = d.comm, d.site
	delete(k.freed, o)
	return d.comm
}

// countComm returns the communicator that a rank makes next with these members, the same for all of them. Nil: there
// are none.
func (c *Checker) countComm(k *rank, members, remote []int) *comm {
	if len(members) == 0 {
		return nil
	}
	key := fmt.Sprint(members)
	if len(remote) > 0 { // both sides have one
		a, b := fmt.Sprint(members), fmt.Sprint(remote)
		key = min(a, b) + "/" + max(a, b)
	}
	number := k.made[key]
	k.made[key]++
	known := c.comms[commKey{key, number}]
	if known == nil {
		known = &comm{name: fmt.Sprintf("communicator of ranks %s", strings.Trim(key, "[]")), members: members,
			remote: remote, counts: map[int]int{}, number: len(c.comms) + 1}
		c.comms[commKey{key, number}] = known
	}
	return known
}

// everybody are all processes that take part in its collectives.
func (m *comm) everybody() []int {
	if len(m.remote) == 0 {
		return m.members
	}
	return append(append([]int{}, m.members...), m.remote...)
}

// world returns the rank in MPI_COMM_WORLD of one that a call of k addresses, -1: none.
func (m *comm) world(k *rank, number int) int {
	group := m.members
	if len(m.remote) > 0 {
		group = m.remote
		for _, r := range m.remote {
			if r == k.number {
				group = m.members
			}
		}
	}
	if number < 0 || number >= len(group) {
		return -1
	}
	return group[number]
}

// flow says who comes after whom in a collective.
type flow uint8

const (
	fromNobody flow = iota
	fromAll
	fromRoot
	toRoot
	fromLower
)

// meeting is one collective call of all members.
type meeting struct {
	comm    *comm
	flow    flow
	entered map[int]vector
	exact   bool // flow is not more than what is
	last    int  // who came last, and when
	lastAt  time.Duration
	rootAt  time.Duration // when the root came, 0: it has not
	left    int
	root    int
	window  *window      // that it makes
	parts   map[int]part // of that window, by rank, as far as the call says
	share   share        // of the first member
}

// collectives are the functions that all members call, by their names without what makes them nonblocking or
// persistent.
var collectives = map[string]flow{
	"Barrier": fromAll, "Allreduce": fromAll, "Allgather": fromAll, "Allgatherv": fromAll, "Alltoall": fromAll,
	"Alltoallv": fromAll, "Alltoallw": fromAll, "Reduce_scatter": fromAll, "Reduce_scatter_block": fromAll,
	"Bcast": fromRoot, "Scatter": fromRoot, "Scatterv": fromRoot,
	"Reduce": toRoot, "Gather": toRoot, "Gatherv": toRoot,
	"Scan": fromLower, "Exscan": fromLower,
	"Neighbor_allgather": fromAll, "Neighbor_allgatherv": fromAll, "Neighbor_alltoall": fromAll,
	"Neighbor_alltoallv": fromAll, "Neighbor_alltoallw": fromAll,
	"Win_create": fromAll, "Win_allocate": fromAll, "Win_allocate_shared": fromAll, "Win_create_dynamic": fromAll,
	"Win_fence": fromAll, "Win_free": fromAll,
	"Comm_dup": fromAll, "Comm_dup_with_info": fromAll, "Comm_idup": fromAll, "Comm_idup_with_info": fromAll,
	"Comm_split": fromAll, "Comm_split_type": fromAll, "Comm_create": fromAll, "Comm_free": fromNobody,
	"Cart_create": fromAll, "Cart_sub": fromAll, "Graph_create": fromAll, "Dist_graph_create": fromAll,
	"Dist_graph_create_adjacent": fromAll, "Intercomm_merge": fromAll,
}

// collective returns the name of a collective without what says how it is called, and whether it begins one only.
func collective(name string) (base string, starts, is bool) {
	base = strings.TrimPrefix(name, "MPI_")
	if _, is = collectives[base]; is {
		return base, strings.HasPrefix(base, "Comm_idup"), true
	}
	if strings.HasPrefix(base, "I") && len(base) > 1 {
		base = strings.ToUpper(base[1:2]) + base[2:]
		_, is = collectives[base]
		return base, true, is
	}
	return base, false, false
}

// nothing reports whether a collective moves no data, so that nobody need wait for anybody.
func nothing(e *event) bool {
	for _, name := range []string{"count", "sendcount", "recvcount"} {
		if v := e.In(name); v.Given() && v.Item.Form == insight.Word && v.Int() != 0 {
			return false
		} else if v.Given() && v.Item.Form == insight.List {
			return false
		}
	}
	return e.In("count").Given() || e.In("sendcount").Given()
}

// enterCollective notes that a rank takes part.
func (c *Checker) enterCollective(k *rank, e *event) {
	base, _, is := collective(e.name)
	if !is {
		return
	}
	var m *comm
	if w := k.wins[e.In("win").Uint()]; w != nil {
		m = w.meets
	} else {
		m = k.comm(e.In("comm").Uint())
	}
	if m == nil || c.broken {
		return
	}
	c.enter(k, e, m, base)
}

func (c *Checker) enter(k *rank, e *event, m *comm, base string) {
	number := m.counts[k.number]
	m.counts[k.number]++
	for number >= m.first+len(m.meetings) {
		m.meetings = append(m.meetings, &meeting{comm: m, entered: map[int]vector{}, root: -1})
	}
	if number < m.first {
		return // it has failed for somebody
	}
	meet := m.meetings[number-m.first]
	meet.flow = collectives[base]
	if meet.flow != fromNobody && base != "Barrier" && nothing(e) {
		meet.flow = fromNobody
	}
	if meet.flow == fromRoot || meet.flow == toRoot {
		switch root := e.In("root").Int(); {
		case len(m.remote) > 0:
			if root == abi.MPI_ROOT {
				meet.root = k.number
			}
		default:
			meet.root = m.world(k, int(root))
		}
	}
	meet.exact = exactly(e, m, base)
	meet.gives(k, e)
	if c.follow != nil {
		meet.entered[k.number] = nil
		e.call.meeting = meet
		return
	}
	if len(meet.entered) == 0 {
		meet.share = k.shareOf(e, m, base)
	} else {
		c.agrees(m, meet.share, k.shareOf(e, m, base))
	}
	meet.entered[k.number] = k.clock.clone()
	e.call.meeting = meet
}

// leave notes that a rank has what the collective gives it.
func (m *meeting) leave(k *rank) {
	m.awaited(k)
	switch m.flow {
	case fromAll:
		for _, v := range m.entered {
			k.clock.join(v)
		}
	case fromRoot:
		if v := m.entered[m.root]; v != nil {
			k.clock.join(v)
		}
	case toRoot:
		if k.number == m.root {
			for _, v := range m.entered {
				k.clock.join(v)
			}
		}
	case fromLower:
		for _, r := range m.comm.members {
			if r == k.number {
				break
			}
			if v := m.entered[r]; v != nil {
				k.clock.join(v)
			}
		}
	}
	m.left++
	all := m.comm
	for len(all.meetings) > 0 && all.meetings[0].left >= len(all.everybody()) {
		all.meetings = all.meetings[1:]
		all.first++
	}
}

// leaveCollective notes that a collective has returned, and what it has made.
func (c *Checker) leaveCollective(k *rank, e *event) {
	_, starts, is := collective(e.name)
	if is && e.call.meeting != nil {
		if starts {
			c.begin(k, e, &request{meeting: e.call.meeting})
		} else {
			e.call.meeting.leave(k)
		}
	}
	for i := range e.Outputs {
		v := &e.Outputs[i]
		if v.Item.Param.Kind.Name != "COMMUNICATOR" || v.Item.Form != insight.List || !v.Given() {
			continue
		}
		if old := k.comm(e.In("comm").Uint()); strings.HasPrefix(e.name, "MPI_Comm_idup") && old != nil {
			if m := c.countComm(k, old.members, old.remote); m != nil {
				k.idups = append(k.idups, idup{m, v.Uint(), k.site(e)})
				if strings.HasSuffix(e.name, "_with_info") {
					m.hints = hintsOf(k, e)
				}
			}
			continue
		} else if v.Uint() != abi.MPI_COMM_NULL && e.name != "MPI_Comm_free" {
			c.makeComm(k, v.Uint(), e.Members(false), e.Members(true))
		}
		if made := k.comms[v.Uint()]; made != nil && strings.HasSuffix(e.name, "dup_with_info") {
			made.hints = hintsOf(k, e)
		}
	}
	if m := k.comm(e.In("comm").Uint()); m != nil && e.name == "MPI_Comm_set_name" && m.number > 0 {
		m.label = e.In("comm_name").Text()
	}
	if m := k.comm(e.In("comm").Uint()); m != nil && e.name == "MPI_Comm_set_info" {
		m.hints = hintsOf(k, e)
	}
	if e.name == "MPI_Comm_free" {
		delete(k.comms, e.In("comm").Uint())
	}
}
