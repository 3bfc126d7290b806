package comm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// An agreement is a collective call that ends with the same result at all members, also if members fail during the call
// or after it (MPIX_Comm_agree). The members on a node decide in shared memory, which survives them. The nodes then
// exchange their decisions by messages.
//
// A decision on a node has a number, which counts the decisions of the communicator. Each member writes a vote and
// then its number. A member that sees the votes of all members that have not failed combines them, writes the result to
// memory of its own, and tries to make it the decision by one compare-and-swap. The decision is thus always complete,
// whichever members fail afterwards. Memory is used in turn for even and odd numbers: decision k+2 needs the votes of
// all members for k+1, and a member writes its vote only after it has read decision k.
//
// Over n nodes there are n-1 rounds. In each round the lowest live member of each node sends the node's last decision
// to all members on other nodes, receives theirs, and votes with the combination of all. The other members of the node
// vote without a value. If the lowest member fails, the next one repeats the exchange.
//
// A node does not wait for a node of which all members have failed. It then ignores that node in all later rounds,
// since its messages may arrive late. So a vote that reaches a node only in the last round has come through a different
// node in each round before, and all of these n-1 nodes have failed. So no other node is left. Hence all nodes have the
// same decision in the end. A failure that members notice during the rounds does not change the decision, since it
// might reach a part of the nodes only. A member whose vote is missing in the decision counts as failed.
//
// On an intercommunicator both groups agree, in the order of joinGroups. The members of one group on a node count as a
// node of their own, because only they share the control block (Comm.Local).

// vote is a member's contribution to a decision, or the decision itself.
type vote struct {
	flags   [2]uint64 // of each group, combined by bitwise AND; an intracommunicator is a first group
	id      uint64    // combined by minimum
	localID [2]uint64 // for the local communicator of each group of an intercommunicator, combined by minimum
	failed  []byte    // flag of each member: 1 if it has failed; combined by maximum
	acked   []byte    // flag of each member: 1 if its failure is acknowledged; combined by minimum
	absent  []byte    // flag of each member: 1 unless the combination has its vote; combined by minimum
	ignored []byte    // flag of each member: 1 if messages of its node are ignored; combined by maximum
}

// merge combines v with another vote.
func (v *vote) merge(w *vote) {
	for i := range v.flags {
		v.flags[i] &= w.flags[i]
		v.localID[i] = min(v.localID[i], w.localID[i])
	}
	v.id = min(v.id, w.id)
	for i := range v.failed {
		v.failed[i] = max(v.failed[i], w.failed[i])
		v.acked[i] = min(v.acked[i], w.acked[i])
		v.absent[i] = min(v.absent[i], w.absent[i])
		v.ignored[i] = max(v.ignored[i], w.ignored[i])
	}
}

func (v *vote) encode(b []byte) {
	for i, x := range []uint64{v.flags[0], v.flags[1], v.id, v.localID[0], v.localID[1]} {
		binary.LittleEndian.PutUint64(b[8*i:], x)
	}
	b = b[voteHead:]
	for _, flags := range [][]byte{v.failed, v.acked, v.absent, v.ignored} {
		b = b[copy(b, flags):]
	}
}

func decodeVote(b []byte, n int) *vote {
	flags := func(i int) []byte { return slices.Clone(b[voteHead+i*n : voteHead+(i+1)*n]) }
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return &vote{flags: [2]uint64{word(0), word(1)}, id: word(2), localID: [2]uint64{word(3), word(4)},
		failed: flags(0), acked: flags(1), absent: flags(2), ignored: flags(3)}
}

const (
	voteHead    = 40 // bytes of a vote before the flags of the members
	messageHead = 16 // bytes of a message before the vote: number of the decision, number of the node
	// The memory of an agreement begins with two cache lines for the words of even and odd decisions.
	decisionWords = 2 * cacheLine
	// In the control block, after the number of members that have released it and the shared file pointer
	agreementOffset = 16
	// A vote's number is shifted by one bit. The low bit is set if the vote has a value.
	hasValue = 1
)

// agreement is the state of a communicator's agreements at one member.
type agreement struct {
	c        *Comm  // for an intercommunicator, the result of joinGroups
	inter    *Comm  // the intercommunicator; nil for an intracommunicator
	first    int    // rank in c of the first member of this process' group
	side     int    // 1 in the second group of an intercommunicator, else 0
	n, place int    // number of members on this node, and index of this member among them
	memory   []byte // nil until the first agreement
	name     uint64 // name of the block of memory; 0 if only this process uses it
	number   uint64 // number of the last decision
	messages map[message][]byte

	mu   sync.Mutex
	last chan struct{} // closed when the last agreement that has been started has ended; nil if there is none
}

// message identifies the message of a node in a round.
type message struct {
	number uint64
	node   int
}

func (c *Comm) voteBytes() int64 { return int64(voteHead + 4*c.size) }

// entryBytes is the size of the memory of a member for one of two decisions: number, vote, result. For even decisions,
// a word after the number names a new control block (offer).
func (a *agreement) entryBytes() int64 {
	return (16 + 2*a.c.voteBytes() + cacheLine - 1) / cacheLine * cacheLine
}

func (a *agreement) bytes() int64 { return decisionWords + 2*int64(a.n)*a.entryBytes() }

// open maps the memory. The first member that needs it allocates it.
func (a *agreement) open() (err error) {
	c := a.c
	if a.memory != nil {
		return nil
	}
	a.n, a.place = c.LocalMembers()
	if c.Block == nil {
		a.memory = make([]byte, a.bytes())
		return nil
	}
	word := c.Block[BarrierSize(a.n)+agreementOffset:]
	if a.name = loadWord(word); a.name == 0 {
		var b []byte
		var mine uint64
		if b, mine, err = c.host.AllocBlock(a.bytes()); err != nil {
			return err
		}
		if swapWord(word, 0, mine) {
			a.memory, a.name = b, mine
			return nil
		}
		c.host.FreeBlock(mine, a.bytes(), 0)
		a.name = loadWord(word)
	}
	a.memory, err = c.host.OpenBlock(a.name, a.bytes())
	return err
}

// entry returns the memory of the member at an index for the current decision.
func (a *agreement) entry(place int) []byte {
	at := decisionWords + (2*int64(place)+int64(a.number&1))*a.entryBytes()
	return a.memory[at : at+a.entryBytes()]
}

func (a *agreement) result(place int) []byte { return a.entry(place)[16+a.c.voteBytes():] }

// process returns the number of the process of the member at an index on this node.
func (a *agreement) process(place int) int32 { return a.c.local.World(a.c.LocalMember(place)) }

// wake wakes the other members on this node.
func (a *agreement) wake() {
	for i := range a.n {
		if i != a.place {
			a.c.host.Wake(a.process(i))
		}
	}
}

// cast publishes this member's vote for the current decision; nil for a vote without a value. It removes the offer that
// an earlier decision has left in this memory.
func (a *agreement) cast(v *vote) {
	e, number := a.entry(a.place), a.number<<1
	storeWord(e[8:], 0)
	if v != nil {
		v.encode(e[16:])
		number |= hasValue
	}
	storeWord(e, number)
}

// isLowest returns whether all members on this node with lower ranks have failed.
func (a *agreement) isLowest() bool {
	for i := range a.place {
		if !a.c.host.Failed(a.process(i)) {
			return false
		}
	}
	return true
}

// decision returns the current decision, nil if there is none yet. It makes the decision if all members on this node
// have voted or failed.
func (a *agreement) decision() *vote {
	word := a.memory[(a.number&1)*cacheLine:]
	made := loadWord(word)
	if made>>16 == a.number {
		return decodeVote(a.result(int(made&0xffff)), a.c.size)
	}
	voted := func(i int) bool { return loadWord(a.entry(i))>>1 == a.number }
	for i := range a.n {
		// The failure is read before the vote: a member may vote and then fail.
		if failed := a.c.host.Failed(a.process(i)); !voted(i) && !failed {
			return nil
		}
	}
	var all *vote
	for i := range a.n {
		switch {
		case loadWord(a.entry(i)) != a.number<<1|hasValue:
		case all == nil:
			all = decodeVote(a.entry(i)[16:], a.c.size)
		default:
			all.merge(decodeVote(a.entry(i)[16:], a.c.size))
		}
	}
	if all == nil {
		return nil
	}
	all.encode(a.result(a.place))
	if swapWord(word, made, a.number<<16|uint64(a.place)) {
		a.wake()
		return all
	}
	return a.decision()
}

// noteFailed adds the failures that this process knows to v.
func (c *Comm) noteFailed(v *vote) {
	for i := range v.failed {
		if v.failed[i] == 0 && c.host.Failed(c.local.World(i)) {
			v.failed[i] = 1
		}
	}
}

// decide makes the next decision on this node, with the vote v of this member.
func (a *agreement) decide(v *vote) (*vote, error) {
	a.number++
	a.cast(v)
	return a.await(func() *vote { return a.decision() })
}

// await waits until the function f returns a decision.
func (a *agreement) await(f func() *vote) (v *vote, err error) {
	err = a.c.host.AwaitSurvivors(func() bool {
		v = f()
		return v != nil
	})
	return v, err
}

// run executes an agreement on v. It returns the decision.
func (a *agreement) run(v *vote) (*vote, error) {
	if err := a.open(); err != nil {
		return nil, err
	}
	a.c.noteFailed(v)
	rounds := 0
	if a.c.Hierarchy != nil {
		rounds = len(a.c.Hierarchy.Leaders) - 1
		if err := a.drain(); err != nil {
			return nil, err
		}
	}
	v, err := a.decide(v)
	for range rounds {
		if err == nil {
			v, err = a.round(v)
		}
	}
	if err != nil {
		return nil, err
	}
	for i, isAbsent := range v.absent {
		v.failed[i] |= isAbsent
	}
	return v, nil
}

// round exchanges the decision v of this node with the other nodes, and returns the decision on the combination.
func (a *agreement) round(v *vote) (*vote, error) {
	a.number++
	if !a.isLowest() {
		a.cast(nil)
	}
	for voted := false; ; {
		if !voted && a.isLowest() {
			all, err := a.exchange(v)
			if err != nil {
				return nil, err
			}
			a.cast(all)
			voted = true
		}
		var made *vote
		err := a.c.host.AwaitSurvivors(func() bool {
			made = a.decision()
			return made != nil || !voted && a.isLowest()
		})
		if made != nil || err != nil {
			return made, err
		}
	}
}

// exchange sends the decision v of this node to all members on other nodes. It returns the combination of v and the
// decisions of the other nodes, except for nodes that are ignored. When it returns, the messages have arrived:
// otherwise they would be lost if this member failed, and no other member would repeat them after it has voted.
func (a *agreement) exchange(v *vote) (*vote, error) {
	c, h := a.c, a.c.Hierarchy
	out := make([]byte, messageHead+c.voteBytes())
	binary.LittleEndian.PutUint64(out, a.number)
	binary.LittleEndian.PutUint64(out[8:], uint64(h.Node))
	v.encode(out[messageHead:])
	var deliveries []func() bool
	for i, node := range h.NodeOf {
		if int(node) == h.Node || c.host.Failed(c.local.World(i)) {
			continue
		}
		// A send may fail before the failure of the member is known.
		err := c.host.Send(c, Agreement, i, 0, out)
		if class := mpierr.ClassOf(err); class != abi.MPI_SUCCESS && class != abi.MPI_ERR_PROC_ABORTED {
			return nil, err
		}
		deliveries = append(deliveries, c.host.RequestDelivery(c.local.World(i)))
	}
	hasHeardAll := func() bool {
		for i, node := range h.NodeOf {
			if int(node) == h.Node || v.ignored[i] != 0 || c.host.Failed(c.local.World(i)) {
				continue
			}
			if a.messages[message{a.number, int(node)}] == nil {
				return false
			}
		}
		return true
	}
	for !hasHeardAll() {
		if _, err := a.receive(hasHeardAll); err != nil {
			return nil, err
		}
	}
	err := c.host.AwaitSurvivors(func() bool {
		deliveries = slices.DeleteFunc(deliveries, func(isDelivered func() bool) bool { return isDelivered() })
		return len(deliveries) == 0
	})
	if err == nil {
		// A member of a failed node may have returned the result before. The node's messages have then arrived.
		err = a.receiveArrived()
	}
	if err != nil {
		return nil, err
	}
	all := decodeVote(out[messageHead:], c.size)
	isMerged := make([]bool, len(h.Leaders))
	isMerged[h.Node] = true
	for i, node := range h.NodeOf {
		switch b := a.messages[message{a.number, int(node)}]; {
		case isMerged[node]:
		case b == nil || v.ignored[i] != 0:
			all.ignored[i] = 1
		default:
			isMerged[node] = true
			all.merge(decodeVote(b, c.size))
		}
	}
	return all, nil
}

// receive receives a message of another node, unless the function stop returns true while it waits. It discards
// messages of earlier rounds.
func (a *agreement) receive(stop func() bool) (received bool, err error) {
	b := make([]byte, messageHead+a.c.voteBytes())
	received, err = a.c.host.RecvUnless(a.c, Agreement, b, stop)
	if number := binary.LittleEndian.Uint64(b); received && number >= a.number {
		a.messages[message{number, int(binary.LittleEndian.Uint64(b[8:]))}] = b[messageHead:]
	}
	return received, err
}

// drain receives the messages that have arrived, and discards those of earlier rounds.
func (a *agreement) drain() (err error) {
	for m := range a.messages {
		if m.number <= a.number {
			delete(a.messages, m)
		}
	}
	return a.receiveArrived()
}

// receiveArrived receives the messages that have arrived.
func (a *agreement) receiveArrived() (err error) {
	for more := true; more && err == nil; {
		more, err = a.receive(func() bool { return true })
	}
	return err
}

// start returns a function that executes the agreement f after the agreements that have been started before.
func (a *agreement) start(f func() error) (run func() error) {
	a.mu.Lock()
	before, mine := a.last, make(chan struct{})
	a.last = mine
	a.mu.Unlock()
	return func() error {
		if before != nil {
			<-before
		}
		defer close(mine)
		return f()
	}
}

func (c *Comm) agreements() *agreement {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agreement != nil {
		return c.agreement
	}
	a := &agreement{c: c, messages: map[message][]byte{}}
	if c.remote != nil {
		a.c, a.inter, a.first = c.joinGroups(), c, 0
		if !c.isFirst {
			a.first, a.side = c.remote.Size(), 1
		}
		c.Local.mu.Lock()
		c.Local.agreement = a // Local releases the memory with its control block
		c.Local.mu.Unlock()
	}
	c.agreement = a
	return a
}

// joinGroups returns a communicator of the members of both groups of an intercommunicator, with its identity. The first
// group comes first. The members of one group on a node count as a node, which has the control block of Local.
func (c *Comm) joinGroups() *Comm {
	groups, rank := [2]*group.Group{c.local, c.remote}, c.rank
	if !c.isFirst {
		groups, rank = [2]*group.Group{c.remote, c.local}, c.remote.Size()+c.rank
	}
	all := c.child(group.Union(groups[0], groups[1]), rank)
	all.id, all.Handle, all.Block = c.id, c.Handle, c.Local.Block
	all.Hierarchy = newHierarchy(all.size, func(i int) int {
		node := 2 * c.host.Node(all.local.World(i))
		if i >= groups[0].Size() {
			node++
		}
		return node
	}, rank)
	return all
}

// newVote returns a vote. The flags of acked are those of the members whose failures this member has acknowledged; nil
// if the acknowledgements do not matter. In an intercommunicator the flags of the remote group come first.
func (a *agreement) newVote(flags uint32, acked []byte) *vote {
	const none = ^uint64(0)
	n := a.c.size
	v := &vote{flags: [2]uint64{none, none}, id: a.c.host.NewID(), localID: [2]uint64{none, none},
		failed: make([]byte, n), acked: make([]byte, n), absent: bytes.Repeat([]byte{1}, n),
		ignored: make([]byte, n)}
	v.flags[a.side] = uint64(flags)
	v.absent[a.c.rank] = 0
	copy(v.acked, acked)
	if a.inter != nil {
		v.localID[a.side] = a.c.host.NewID()
		if remote := a.inter.remote.Size(); a.side == 0 && acked != nil {
			copy(v.acked[copy(v.acked, acked[remote:]):], acked[:remote])
		}
	}
	return v
}

// Agree starts MPIX_Comm_agree. The function that it returns stores the bitwise AND of the flags of all members, or of
// the remote group of an intercommunicator, in *flags and waits. The argument acked is as in newVote. Errors:
// MPI_ERR_PROC_ABORTED, at all members, if a member has failed and not all members have acknowledged its failure;
// *flags is valid then.
func (c *Comm) Agree(flags *uint32, acked []byte) (run func() error) {
	a := c.agreements()
	v := a.newVote(*flags, acked)
	return a.start(func() error {
		v, err := a.run(v)
		if err != nil {
			return err
		}
		*flags = uint32(v.flags[0])
		if a.inter != nil {
			*flags = uint32(v.flags[1-a.side])
		}
		for i := range v.failed {
			if v.failed[i] != 0 && v.acked[i] == 0 {
				return mpierr.New(abi.MPI_ERR_PROC_ABORTED, "%s has failed, and not all members have "+
					"acknowledged the failure", a.nameOf(i))
			}
		}
		return nil
	})
}

// nameOf returns the name of a member for messages. The argument is its rank in the field c.
func (a *agreement) nameOf(i int) string {
	switch j := i - a.first; {
	case a.inter == nil:
		return fmt.Sprintf("rank %d", i)
	case j >= 0 && j < a.inter.size:
		return fmt.Sprintf("rank %d of the local group", j)
	default:
		return fmt.Sprintf("rank %d of the remote group", i-(1-a.side)*a.inter.size)
	}
}

// Shrunk starts MPIX_Comm_shrink. The function that it returns creates the communicator of the members that have not
// failed. The members agree on these, create the communicator, and agree on the result. If a further member has failed
// meanwhile, they begin again.
func (c *Comm) Shrunk() (run func() (*Comm, error)) {
	a := c.agreements()
	var n *Comm
	start := a.start(func() (err error) {
		v, err := a.run(a.newVote(1, nil))
		for err == nil {
			var mine error
			if n, mine = a.create(v); n == nil {
				return mine
			}
			w := a.newVote(1, nil)
			if mine != nil {
				w.flags[a.side] = 0
			}
			copy(w.failed, v.failed)
			if w, err = a.run(w); err != nil {
				break
			}
			same := slices.Equal(v.failed, w.failed)
			if same && w.flags[0] != 0 && w.flags[1] != 0 {
				return nil
			}
			local := n
			if a.inter != nil {
				local = n.Local
			}
			if err = local.commitBlock(mine, abi.MPI_ERR_NO_MEM, nil); !same {
				err = nil
			}
			v = w
		}
		n = nil
		return err
	})
	return func() (*Comm, error) {
		err := start()
		return n, err
	}
}

// create creates the communicator of the members that have not failed according to the decision v. If it cannot map the
// control block, it also returns an error. Errors without a communicator are the same at all members.
func (a *agreement) create(v *vote) (*Comm, error) {
	if a.inter == nil {
		return a.createLocal(a.c, v.id, v.failed)
	}
	i := a.inter
	mine := v.failed[a.first : a.first+i.size]
	theirs := v.failed[:a.first]
	if a.side == 0 {
		theirs = v.failed[i.size:]
	}
	others, err := group.Include(i.remote, survivors(theirs))
	if err != nil {
		return nil, err
	}
	if others.Size() == 0 {
		return nil, mpierr.New(abi.MPI_ERR_PROC_ABORTED, "all processes of the remote group have failed")
	}
	local, err := a.createLocal(i.Local, v.localID[a.side], mine)
	if local == nil {
		return nil, err
	}
	n := newInter(local, others, i.isFirst)
	n.id = v.id
	return n, err
}

// survivors returns the ranks whose flags are 0.
func survivors(failed []byte) []int32 {
	ranks := make([]int32, 0, len(failed))
	for i := range failed {
		if failed[i] == 0 {
			ranks = append(ranks, int32(i))
		}
	}
	return ranks
}

// createLocal creates an intracommunicator of the members of c whose flags are 0, with the given identity. The members
// of c on this node are those of the agreement.
func (a *agreement) createLocal(c *Comm, id uint64, failed []byte) (*Comm, error) {
	ranks := survivors(failed)
	g, err := group.Include(c.local, ranks)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(ranks, int32(c.rank)) {
		return nil, mpierr.New(abi.MPI_ERR_PROC_ABORTED, "the other members believe that this process "+
			"has failed")
	}
	n := c.child(g, slices.Index(ranks, int32(c.rank)))
	n.id = id
	if n.size == 1 {
		return n, nil
	}
	n.Hierarchy = hierarchyOf(c.host, n.local, n.rank)
	sharers, place := n.LocalMembers()
	if sharers == 1 {
		return n, nil
	}
	if place == 0 {
		n.Block, n.block, err = c.host.AllocBlock(n.blockSize())
		a.offer(n.block)
		return n, err
	}
	n.block, err = a.offered(n.local.World(n.LocalMember(0)))
	if err == nil {
		n.Block, err = c.host.OpenBlock(n.block, n.blockSize())
	}
	return n, err
}

// offer publishes the name of a control block that this member has allocated after the current decision; 0 if it has
// failed. The decision that follows uses other memory.
func (a *agreement) offer(name uint64) {
	e := a.entry(a.place)
	storeWord(e[8:], name<<1|1)
	a.wake()
}

// offered waits for the name that another process has offered.
func (a *agreement) offered(process int32) (name uint64, err error) {
	place := 0
	for a.process(place) != process {
		place++
	}
	e := a.entry(place)
	err = a.c.host.AwaitSurvivors(func() bool {
		failed := a.c.host.Failed(process)
		name = loadWord(e[8:])
		return name != 0 || failed
	})
	if err == nil && name <= 1 {
		err = mpierr.New(abi.MPI_ERR_NO_MEM, "a member cannot allocate the control block of the new "+
			"communicator")
	}
	return name >> 1, err
}

// release frees the memory. The last member on the node that releases the communicator calls it.
func (a *agreement) release() {
	if a != nil && a.name != 0 {
		a.c.host.FreeBlock(a.name, a.bytes(), -1)
	}
}
