package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// comm is a communicator, shared by all its members.
type comm struct {
	name           string
	label          string // name set by the program
	number         int    // index among all communicators except the predefined ones, from 1
	members        []int  // ranks; negative for processes that are not recorded
	remote         []int  // the remote group of an intercommunicator
	unknownCount   int    // number of processes of both groups that are not recorded
	hints          map[string]string
	sequence                                     // the collectives of the communicator
	unmatchedSends map[int]*matchQueue[*send]    // by receiver, messages without a receive
	postedReceives map[int]*matchQueue[*receive] // by receiver, receives without a message
	channels       map[channelKey]*channelQueue  // partitioned messages
	key            commKey                       // the communicator's key in Checker.comms
	freeCount      int                           // number of processes that have freed the communicator
	anySource      map[int]bool                  // ranks that receive messages from any source
}

// sequence holds the calls that all members of a communicator make together, in the same order at each member: its
// collectives, or the rounds of a persistent collective.
type sequence struct {
	counts      map[int]int       // by rank, the number of the rank's calls
	collectives []*collectiveCall // calls that some member has not left; element 0 has the number `first`
	first       int
}

// next returns the collectiveCall of a rank's next call. It returns nil if the call has already been dropped, because
// it failed at another member.
func (q *sequence) next(rank int, m *comm) *collectiveCall {
	if q.counts == nil {
		q.counts = map[int]int{}
	}
	number := q.counts[rank]
	q.counts[rank]++
	for number >= q.first+len(q.collectives) {
		q.collectives = append(q.collectives, &collectiveCall{comm: m, sequence: q,
			entered: map[int]vector{}, root: -1})
	}
	if number < q.first {
		return nil
	}
	return q.collectives[number-q.first]
}

// commKey identifies a communicator whose creation is not a collective call on a communicator that the checker knows.
// The key is the same at all members. The field `description` has the function, the parent communicator, the tag and
// the members. The field `number` counts the earlier communicators of the rank with this description.
type commKey struct {
	description string
	number      int
}

// pendingIdup is the result of an MPI_Comm_idup whose handle the rank has not used yet. MPI_Comm_idup returns the
// handle at once, but the communicator becomes usable only later.
type pendingIdup struct {
	*comm
	handle uint64
	site   *callSite // the call of MPI_Comm_idup
}

// commOf returns the communicator of a handle of the rank, or nil if it is unknown. A communicator made by
// MPI_Comm_idup becomes live at the first use of its handle.
func (k *rank) commOf(h uint64) *comm {
	m := k.comms[h]
	if m != nil || h < firstDynamic || len(k.idups) == 0 {
		return m
	}
	i := slices.IndexFunc(k.idups, func(d pendingIdup) bool { return d.handle == h })
	if i < 0 {
		return nil
	}
	d, o := k.idups[i], object{"COMMUNICATOR", h}
	k.idups = slices.Delete(k.idups, i, i+1)
	k.comms[h], k.liveObjects[o] = d.comm, d.site
	delete(k.freed.sites, o)
	return d.comm
}

// newComm returns the communicator that a call makes for the given members. All members share one comm. The collective
// that makes the communicator identifies it, so ranks may make communicators of different parents in any order. The
// result is nil if there are no members.
func (c *Checker) newComm(k *rank, e *event, members, remote []int) *comm {
	if len(members) == 0 {
		return nil
	}
	key := fmt.Sprint(members)
	if len(remote) > 0 { // both groups share one communicator
		a, b := fmt.Sprint(members), fmt.Sprint(remote)
		key = min(a, b) + "/" + max(a, b)
	}
	known := func() *comm {
		c.commCount++
		m := &comm{name: c.nameOfComm(key, members, remote), members: members, remote: remote,
			number: c.commCount}
		for _, r := range m.allRanks() {
			if r < 0 {
				m.unknownCount++
				c.hasUnknown = true
			}
		}
		c.liveComms[m] = true
		return m
	}
	if meet := e.call.collective; meet != nil && !isDynamic(e.name) {
		if meet.newComms == nil {
			meet.newComms = map[string]*comm{}
		}
		if meet.newComms[key] == nil {
			meet.newComms[key] = known()
		}
		return meet.newComms[key]
	}
	parent := 0 // number of the parent communicator, for MPI_Comm_create_group
	if m := k.commOf(e.In("comm").Uint()); m != nil {
		parent = m.number
	}
	what := fmt.Sprint(e.name, parent, e.In("tag").Int(), e.In("stringtag").Text(), key)
	if c.recordsLost { // the members only, since collectives are no longer tracked
		what = key
	} else if isDynamic(e.name) { // the two groups call different functions
		what = "dynamic" + key
	}
	numbered := commKey{what, k.commCounts[what]}
	k.commCounts[what]++
	if c.comms[numbered] == nil {
		c.comms[numbered] = known()
		c.comms[numbered].key = numbered
	}
	return c.comms[numbered]
}

// nameOfComm returns the name of a communicator that the program has not named. The argument `key` is the text of its
// members.
func (c *Checker) nameOfComm(key string, members, remote []int) string {
	if len(c.jobs) == 1 {
		return "communicator of ranks " + strings.Trim(key, "[]")
	}
	const shown = 8
	var names []string
	for _, r := range slices.Concat(members, remote) {
		switch {
		case len(names) == shown:
			return "communicator of " + strings.Join(names, ", ") + ", ..."
		case r >= 0:
			names = append(names, c.jobs.Name(r))
		}
	}
	return "communicator of " + strings.Join(names, ", ")
}

// isDynamic reports whether a function returns an intercommunicator between jobs.
func isDynamic(name string) bool {
	switch strings.TrimPrefix(name, "MPI_Comm_") {
	case "spawn", "spawn_multiple", "get_parent", "accept", "connect", "join":
		return true
	}
	return false
}

// freeComm records that one more process has freed a communicator. Once all processes have freed it, freeComm drops it.
func (c *Checker) freeComm(m *comm) {
	if m == nil || m.number == 0 {
		return
	}
	if m.freeCount++; m.freeCount == len(m.allRanks())-m.unknownCount {
		delete(c.liveComms, m)
		delete(c.comms, m.key)
		c.reportUnreceived(m)
	}
}

// allRanks returns all processes that take part in the communicator's collectives.
func (m *comm) allRanks() []int {
	if len(m.remote) == 0 {
		return m.members
	}
	return append(append([]int{}, m.members...), m.remote...)
}

// worldRank returns the process that rank k addresses by the given number on m. The result is negative for
// MPI_PROC_NULL, for wildcards, and for processes that are not recorded.
func (m *comm) worldRank(k *rank, number int) int {
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

// flow states which members' entries into a collective precede the return of a member.
type flow uint8

const (
	noOrder flow = iota
	fromAll
	fromRoot
	toRoot
	fromLower
)

// collectiveCall is one collective call, made by all members.
type collectiveCall struct {
	comm         *comm
	sequence     *sequence
	flow         flow
	entered      map[int]vector
	waitsExactly bool // members wait for all members that `flow` states, and not only for some of them
	last         int  // rank that arrived last, at time lastAt
	lastAt       time.Duration
	rootAt       time.Duration // time of the root's arrival; 0 if it has not arrived
	leftCount    int
	root         int
	window       *window              // the window that the call makes
	file         *file                // the file that the call opens
	windowParts  map[int]memberMemory // by rank: its memory of `window`, as far as its arguments show it
	arguments    collArguments        // arguments of the first member that arrived
	lists        map[int]lists
	newComms     map[string]*comm // communicators that the call makes, by key of their members
	rounds       sequence         // rounds of the persistent collective that the call makes
	replays      map[int]*replay  // by rank, the replay of the thread that has arrived
	isReplayed   map[int]bool     // by rank, whether the rank's arrival has been replayed
}

// collectives maps collective functions to their flow. Names omit MPI_, the I of nonblocking variants and the _init of
// persistent variants. The standard does not say that collectives on files synchronize; the table assumes that they do.
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
	"Comm_split": fromAll, "Comm_split_type": fromAll, "Comm_create": fromAll, "Comm_free": noOrder,
	"Cart_create": fromAll, "Cart_sub": fromAll, "Graph_create": fromAll, "Dist_graph_create": fromAll,
	"Dist_graph_create_adjacent": fromAll, "Intercomm_merge": fromAll,
	"Comm_spawn": fromAll, "Comm_spawn_multiple": fromAll, "Comm_accept": fromAll, "Comm_connect": fromAll,
	"File_open": fromAll, "File_close": fromAll, "File_set_view": fromAll, "File_set_size": fromAll,
	"File_preallocate": fromAll, "File_set_info": fromAll, "File_set_atomicity": fromAll, "File_sync": fromAll,
	"File_seek_shared": fromAll,
	"File_read_all":    fromAll, "File_read_at_all": fromAll, "File_read_ordered": fromAll,
	"File_write_all": fromAll, "File_write_at_all": fromAll, "File_write_ordered": fromAll,
	"File_read_all_begin": fromAll, "File_read_at_all_begin": fromAll, "File_read_ordered_begin": fromAll,
	"File_write_all_begin": fromAll, "File_write_at_all_begin": fromAll, "File_write_ordered_begin": fromAll,
}

type variant uint8

const (
	blocking variant = iota
	nonblocking
	persistentInit // creates a persistent request; each start of the request is a round
)

// splitCollective splits the name of a function into the base name and the variant. The result `is` is false if the
// function is not a collective.
func splitCollective(name string) (base string, how variant, is bool) {
	base = strings.TrimPrefix(name, "MPI_")
	if _, is = collectives[base]; is {
		if strings.HasPrefix(base, "Comm_idup") || strings.HasSuffix(base, "_begin") {
			how = nonblocking
		}
		return base, how, true
	}
	if rest, isFile := strings.CutPrefix(base, "File_i"); isFile {
		_, is = collectives["File_"+rest]
		return "File_" + rest, nonblocking, is
	}
	if made, init := strings.CutSuffix(base, "_init"); init {
		_, is = collectives[made]
		return made, persistentInit, is
	}
	if strings.HasPrefix(base, "I") && len(base) > 1 {
		base = strings.ToUpper(base[1:2]) + base[2:]
		_, is = collectives[base]
		return base, nonblocking, is
	}
	return base, blocking, false
}

// movesNoData reports whether a collective moves no data. Its members then need not wait for each other.
func movesNoData(e *event) bool {
	for _, name := range []string{"count", "sendcount", "recvcount"} {
		if v := e.In(name); v.HasValue() && v.Item.Form == insight.Word && v.Int() != 0 {
			return false
		} else if v.HasValue() && v.Item.Form == insight.List {
			return false
		}
	}
	return e.In("count").HasValue() || e.In("sendcount").HasValue()
}

// enterCollective records the arrival of a rank at a collective.
func (c *Checker) enterCollective(k *rank, e *event) {
	base, how, is := splitCollective(e.name)
	if !is {
		return
	}
	var m *comm
	if w := k.wins[e.In("win").Uint()]; w != nil {
		m = w.comm
	} else if f := k.files[e.In("fh").Uint()]; f != nil {
		m = f.comm
	} else {
		for _, name := range []string{"comm", "comm_old", "intercomm"} {
			if m == nil {
				m = k.commOf(e.In(name).Uint())
			}
		}
	}
	if m == nil || c.recordsLost {
		return
	}
	meet := m.next(k.number, m)
	if meet == nil {
		return
	}
	if c.follow == nil {
		mine := k.collArgumentsOf(e, m, base, how)
		if len(meet.entered) == 0 {
			meet.arguments = mine
		} else {
			c.compareArguments(m, meet.arguments, mine)
		}
		c.compareLists(k, e, meet, base)
	}
	c.enter(k, e, meet, base, how)
}

// enter records the arrival of a rank at a collective, or at a round of a persistent one.
func (c *Checker) enter(k *rank, e *event, meet *collectiveCall, base string, how variant) {
	m := meet.comm
	meet.flow = collectives[base]
	// the count may differ between the members
	mayDiffer := strings.HasPrefix(base, "File_") || strings.HasPrefix(base, "Comm_")
	if meet.flow != noOrder && base != "Barrier" && !mayDiffer && movesNoData(e) || how == persistentInit {
		meet.flow = noOrder
	}
	if meet.flow == fromRoot || meet.flow == toRoot {
		switch root := e.In("root").Int(); {
		case len(m.remote) > 0:
			if root == abi.MPI_ROOT {
				meet.root = k.number
			}
		default:
			meet.root = m.worldRank(k, int(root))
		}
	}
	meet.waitsExactly = waitsExactly(e, m, base)
	meet.noteArrival(k, e)
	c.addStep(k, e.Thread, step{enter: meet})
	meet.entered[k.number] = k.clock.clone()
	e.call.collective = meet
}

// leaveMember records that a rank has completed its part of the collective. It orders the rank after the entries of the
// members for which the rank waited.
func (m *collectiveCall) leaveMember(k *rank) {
	m.noteWait(k)
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
	m.leftCount++
	members := len(m.comm.allRanks()) - m.comm.unknownCount
	for q := m.sequence; len(q.collectives) > 0 && q.collectives[0].leftCount >= members; q.first++ {
		q.collectives = q.collectives[1:]
	}
}

func freesComm(name string) bool { return name == "MPI_Comm_free" || name == "MPI_Comm_disconnect" }

// leaveCollective records the return of a collective, and the communicators that the call has made or freed.
func (c *Checker) leaveCollective(k *rank, e *event) {
	_, how, is := splitCollective(e.name)
	if is && e.call.collective != nil {
		if how == nonblocking {
			c.addRequest(k, e, &request{meeting: e.call.collective})
		} else {
			e.call.collective.leaveMember(k)
			c.addStep(k, e.Thread, step{leave: e.call.collective})
		}
	}
	for i := range e.Outputs {
		v := &e.Outputs[i]
		if v.Item.Param.Kind.Name != "COMMUNICATOR" || v.Item.Form != insight.List || !v.HasValue() {
			continue
		}
		if old := k.commOf(e.In("comm").Uint()); strings.HasPrefix(e.name, "MPI_Comm_idup") && old != nil {
			if m := c.newComm(k, e, old.members, old.remote); m != nil {
				k.idups = append(k.idups, pendingIdup{m, v.Uint(), k.newSite(e)})
				if strings.HasSuffix(e.name, "_with_info") {
					m.hints = hintsOf(k, e)
				}
			}
			continue
		} else if v.Uint() != abi.MPI_COMM_NULL && !freesComm(e.name) {
			if m := c.newComm(k, e, e.Members(false), e.Members(true)); m != nil {
				k.comms[v.Uint()] = m
			}
		}
		if made := k.comms[v.Uint()]; made != nil && strings.HasSuffix(e.name, "dup_with_info") {
			made.hints = hintsOf(k, e)
		}
	}
	if m := k.commOf(e.In("comm").Uint()); m != nil && e.name == "MPI_Comm_set_name" && m.number > 0 {
		m.label = e.In("comm_name").Text()
	}
	if m := k.commOf(e.In("comm").Uint()); m != nil && e.name == "MPI_Comm_set_info" {
		m.hints = hintsOf(k, e)
	}
	if h := e.In("comm").Uint(); freesComm(e.name) {
		// Before this call returned, another thread may have received the same handle for a new communicator.
		m := k.comms[h]
		if meet := e.call.collective; meet == nil || m == meet.comm {
			delete(k.comms, h)
		} else {
			m = meet.comm
		}
		c.freeComm(m)
	}
}
