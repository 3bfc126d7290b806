package comm

import (
	"encoding/binary"
	"slices"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// An intercommunicator joins two groups. Each group has an intracommunicator of its own (Local). To exchange data
// between the groups, the two leaders send it to each other, and each leader broadcasts what it received over Local. An
// intercommunicator has no control block: its collectives use Local and messages.

// leaderLink is the connection of this group's leader to the leader of the other group, whose rank in `c` is `peer`.
// Their messages have context x and the given tag.
type leaderLink struct {
	c          *Comm
	x          Context
	tag        int32
	peer       int
	sendsFirst bool // true on one of the two sides: that side sends its second message, if any, before it receives
	mine       []byte
	head       [2][8 + firstSwapBytes]byte // first messages of this side and of the other side
}

// Maximum number of data bytes in the first message, which also carries the length of the data. A second message
// carries all further bytes.
const (
	firstBcastBytes = MaxShortBytes - 16 // for a broadcast in bcastOrError
	firstSwapBytes  = 64 - 8             // for a message between leaders
)

// swap sends the data `mine` to the other leader and returns that leader's data.
func (l *leaderLink) swap(mine []byte) ([]byte, error) {
	if err := l.begin(mine); err != nil {
		return nil, err
	}
	return l.end()
}

// begin is the first half of swap: it sends the first message and does not wait for the other leader. The method end is
// the second half.
func (l *leaderLink) begin(mine []byte) error {
	l.mine = mine
	out := l.head[0][:]
	binary.LittleEndian.PutUint64(out, uint64(len(mine)))
	copy(out[8:], mine)
	return l.c.host.Send(l.c, l.x, l.peer, l.tag, out)
}

func (l *leaderLink) end() ([]byte, error) {
	in := l.head[1][:]
	if err := l.c.host.Recv(l.c, l.x, l.peer, l.tag, in, nil); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint64(in)
	if size > 1<<32 {
		return nil, mpierr.New(abi.MPI_ERR_OTHER,
			"the leader of the remote group sent %d bytes, which shows that it called another function",
			size)
	}
	theirs := in[8 : 8+min(size, firstSwapBytes)]
	if size > firstSwapBytes {
		theirs = append(make([]byte, 0, size), theirs...)[:size]
	}
	rest := func(speak bool) error {
		switch {
		case speak && len(l.mine) > firstSwapBytes:
			return l.c.host.Send(l.c, l.x, l.peer, l.tag, l.mine[firstSwapBytes:])
		case !speak && size > firstSwapBytes:
			return l.c.host.Recv(l.c, l.x, l.peer, l.tag, theirs[firstSwapBytes:], nil)
		}
		return nil
	}
	err := rest(l.sendsFirst)
	if err == nil {
		err = rest(!l.sendsFirst)
	}
	return theirs, err
}

// bcastOrError broadcasts b from member 0 of the team and returns b at all members. If member 0 passes an error in
// `failed`, all members return an error of its class instead.
func (t *team) bcastOrError(b []byte, failed error) ([]byte, error) {
	if t.size() == 1 {
		return b, failed
	}
	head := make([]byte, 16+firstBcastBytes)
	binary.LittleEndian.PutUint64(head[0:], uint64(len(b)))
	binary.LittleEndian.PutUint64(head[8:], uint64(mpierr.ClassOf(failed)))
	copy(head[16:], b)
	if err := t.bcast(head); err != nil {
		return nil, err
	}
	if class := int32(binary.LittleEndian.Uint64(head[8:])); class != 0 {
		if failed != nil {
			return nil, failed
		}
		return nil, mpierr.New(class, "the call failed at the leader of the local group; its error message "+
			"states the reason")
	}
	size := binary.LittleEndian.Uint64(head)
	if t.me != 0 {
		b = make([]byte, size)
		copy(b, head[16:])
	}
	if size <= firstBcastBytes {
		return b, nil
	}
	return b, t.bcast(b[firstBcastBytes:])
}

func packInts(xs []int32) []byte {
	b := make([]byte, 0, 4*len(xs))
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

func unpackInts(b []byte) []int32 {
	xs := make([]int32, len(b)/4)
	for i := range xs {
		xs[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return xs
}

// newInter returns an intercommunicator without an identity.
func newInter(local *Comm, remote *group.Group, isFirst bool) *Comm {
	return &Comm{host: local.host, local: local.local, remote: remote, rank: local.rank, size: local.size,
		Local: local, isFirst: isFirst, Outer: local.Outer}
}

// agreeOnID sets the identity of an intercommunicator. The leader whose link has sendsFirst set creates the identity.
// The argument `leader` is this side's link to the other leader; only rank 0 uses it.
func (n *Comm) agreeOnID(leader *leaderLink) error {
	var b []byte
	var err error
	if n.rank == 0 {
		mine := binary.LittleEndian.AppendUint64(nil, n.host.NewID())
		b, err = leader.swap(mine)
		if leader.sendsFirst {
			b = mine
		}
		if err == nil && len(b) != 8 {
			err = mpierr.New(abi.MPI_ERR_OTHER, "the leader of the remote group called another function")
		}
	}
	if b, err = n.Local.collectiveTeam().bcastOrError(b, err); err != nil {
		return err
	}
	n.id = binary.LittleEndian.Uint64(b)
	return nil
}

// NewInter creates an intercommunicator of the group of c and the group whose leader has rank remoteLeader in the
// communicator `peer` (MPI_Intercomm_create). The arguments `peer` and remoteLeader are significant at the member of
// rank localLeader only. Collective over both groups. Errors: MPI_ERR_COMM if the groups have a member in common, or if
// this process does not know a member of the other group.
func (c *Comm) NewInter(localLeader int, peer *Comm, remoteLeader int, tag int32) (*Comm, error) {
	var l *leaderLink
	var b []byte
	var err error
	if c.rank == localLeader {
		l, err = c.beginLeaderSwap(peer, remoteLeader, tag)
	}
	local, refused := c.Dup() // while the other leader's message is in flight
	if l != nil && err == nil {
		b, err = c.endLeaderSwap(l)
	}
	if refused != nil {
		return nil, refused
	}
	local.Topology = nil
	if b, err = c.BcastFrom(localLeader, b, err); err != nil {
		local.Free()
		return nil, err
	}
	members, err := c.unpackMembers(b[9:])
	if err != nil {
		local.Free()
		return nil, err
	}
	return c.joined(local, members, b[:9]), nil
}

// BcastFrom broadcasts b from the member of the given rank and returns b at all members. If that member passes an error
// in `failed`, all members return an error of its class instead. Collective.
func (c *Comm) BcastFrom(root int, b []byte, failed error) ([]byte, error) {
	return c.rootedTeam(root).bcastOrError(b, failed)
}

// NewInterOver creates an intercommunicator with a group of processes of another job. The member of rank localLeader
// exchanges data with the leader of that group by the function `swap`. This data consists of the descriptions `mine` of
// all members, in the order of their ranks; all descriptions have the same length. A member that cannot connect passes
// zeros, and all members of its group then return MPI_ERR_OTHER. The function `find` returns the numbers of the
// processes of the other group from their descriptions. The argument isFirst is true in one of the two groups. If
// `agrees` is set, no member returns before all members have called `find`, and if `find` fails at one of them, all
// return an error of the same class. Collective over both groups.
func (c *Comm) NewInterOver(localLeader int, isFirst, agrees bool, mine []byte,
	swap func(all []byte) ([]byte, error), find func(theirs []byte) ([]int32, error)) (*Comm, error) {
	local, err := c.Dup()
	if err != nil {
		return nil, err
	}
	local.Topology = nil
	t := c.rootedTeam(localLeader)
	cyclic := make([]byte, len(mine)*c.size)
	err = t.gatherToLeader(mine, cyclic)
	var b []byte
	if c.rank == localLeader && err == nil {
		b = make([]byte, 9, 9+len(cyclic))
		binary.LittleEndian.PutUint64(b, c.host.NewID())
		at := (c.size - localLeader) % c.size * len(mine) // offset of the entry of rank 0
		b = append(append(b, cyclic[at:]...), cyclic[:at]...)
		id, canConnect := [8]byte(b), !hasZeros(cyclic, len(mine))
		if b, err = swap(b); err == nil && len(b) < 9 {
			err = mpierr.New(abi.MPI_ERR_OTHER, "the call failed in the other group")
		}
		if err == nil && isFirst {
			copy(b, id[:])
		}
		if err == nil && !canConnect {
			b[8] = 1
		}
	}
	if b, err = t.bcastOrError(b, err); err == nil {
		var members []int32
		if members, err = find(b[9:]); err == nil && b[8] != 0 {
			err = mpierr.New(abi.MPI_ERR_OTHER, "another process of this group cannot connect to "+
				"the other group")
		}
		if agrees {
			err = t.agreeOver(err, swap)
		}
		if err == nil {
			b[8] = 0
			if isFirst {
				b[8] = 1
			}
			return c.joined(local, members, b[:9]), nil
		}
	}
	local.Free()
	return nil, err
}

// hasZeros returns whether one of the blocks of the given length in b contains only zeros.
func hasZeros(b []byte, length int) bool {
	for ; len(b) > 0; b = b[length:] {
		if !slices.ContainsFunc(b[:length], func(x byte) bool { return x != 0 }) {
			return true
		}
	}
	return false
}

// agreeOver returns an error at all members of two groups if a member of one of them passes an error in `mine`. All
// errors have the same class. The leaders exchange data by the function `swap`.
func (t *team) agreeOver(mine error, swap func([]byte) ([]byte, error)) error {
	le := binary.LittleEndian
	classes := make([]byte, 4*t.size())
	err := t.gatherToLeader(le.AppendUint32(nil, uint32(mpierr.ClassOf(mine))), classes)
	var b []byte // the maxima of both groups
	if t.me == 0 && err == nil {
		most := uint32(0)
		for ; len(classes) > 0; classes = classes[4:] {
			most = max(most, le.Uint32(classes))
		}
		own := le.AppendUint32(nil, most)
		if b, err = swap(own); err == nil && len(b) != len(own) {
			err = mpierr.New(abi.MPI_ERR_OTHER, "the call failed in the other group")
		}
		b = append(own, b...)
	}
	if b, err = t.bcastOrError(b, err); err != nil {
		return err
	}
	class := int32(le.Uint32(b))
	switch theirs := int32(le.Uint32(b[4:])); {
	case mine != nil:
		return mpierr.New(max(class, theirs), "%v", mine)
	case class != 0:
		return mpierr.New(max(class, theirs), "another process of this group has failed to connect to "+
			"the other group")
	case theirs != 0:
		return mpierr.New(theirs, "a process of the other group cannot connect to this group")
	}
	return nil
}

// joined returns the intercommunicator of a duplicate of c and the given processes. The argument `head` has its
// identity, and whether the group of c is the first one.
func (c *Comm) joined(local *Comm, members []int32, head []byte) *Comm {
	n := newInter(local, group.Of(members).DerivedFrom(c.local), head[8] != 0)
	n.id = binary.LittleEndian.Uint64(head)
	return n
}

// memberBytes is the number of bytes by which a process is identified in messages between processes that may use
// different numbers for it (Host.Identify).
const memberBytes = 12

func (c *Comm) packMembers(b []byte) []byte {
	for i := range c.size {
		universe, number := c.host.Identify(c.local.World(i))
		b = binary.LittleEndian.AppendUint64(b, universe)
		b = binary.LittleEndian.AppendUint32(b, number)
	}
	return b
}

func (c *Comm) unpackMembers(b []byte) ([]int32, error) {
	var members []int32
	for ; len(b) > 0; b = b[memberBytes:] {
		w, ok := c.host.Find(binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:]))
		if !ok {
			return nil, mpierr.New(abi.MPI_ERR_COMM, "a member of the remote group belongs to a job that "+
				"this process is not connected to: connect the jobs (MPI_Comm_connect) first")
		}
		members = append(members, w)
	}
	return members, nil
}

// beginLeaderSwap begins the leaders' exchange in NewInter: it sends the list of this group's members to the other
// leader.
func (c *Comm) beginLeaderSwap(peer *Comm, remoteLeader int, tag int32) (*leaderLink, error) {
	them := peer.Peers().World(remoteLeader)
	if c.local.Rank(them) != group.Undefined {
		return nil, mpierr.New(abi.MPI_ERR_COMM,
			"the leader of the remote group (rank %d in MPI_COMM_WORLD) belongs to the local group", them)
	}
	isFirst := peer.rank < remoteLeader
	if peer.IsInter() {
		isFirst = peer.isFirst
	}
	l := &leaderLink{c: peer, x: Leaders, tag: tag, peer: remoteLeader, sendsFirst: isFirst}
	mine := make([]byte, 9, 9+memberBytes*c.size)
	binary.LittleEndian.PutUint64(mine, c.host.NewID())
	return l, l.begin(c.packMembers(mine))
}

// endLeaderSwap ends the leaders' exchange. It returns the identity of the new communicator, a byte that is 1 if this
// group is the first one, and the members of the other group.
func (c *Comm) endLeaderSwap(l *leaderLink) ([]byte, error) {
	b, err := l.end()
	if err != nil {
		return nil, err
	}
	if len(b) < 9+memberBytes || (len(b)-9)%memberBytes != 0 {
		return nil, mpierr.New(abi.MPI_ERR_OTHER, "the leader of the remote group called another function")
	}
	b[8] = 0
	if l.sendsFirst {
		copy(b[:8], l.mine)
		b[8] = 1
	}
	theirs, err := c.unpackMembers(b[9:])
	if err != nil {
		return nil, err
	}
	common, member := 0, int32(0)
	for i := len(theirs) - 1; i >= 0; i-- {
		if c.local.Rank(theirs[i]) != group.Undefined {
			common, member = common+1, theirs[i]
		}
	}
	if common > 0 {
		return nil, mpierr.New(abi.MPI_ERR_COMM,
			"the local and the remote group must be disjoint, but have common members (number: %d), for "+
				"example rank %d in MPI_COMM_WORLD", common, member)
	}
	return b, nil
}

// Merge creates an intracommunicator of both groups of an intercommunicator (MPI_Intercomm_merge). All members of one
// group pass the same value of `high`. The group that passes false comes first. If both groups pass the same value, the
// first of the two groups (field isFirst) comes first. Collective.
func (c *Comm) Merge(high bool) (*Comm, error) {
	l := &leaderLink{c: c, x: Creation, peer: 0, sendsFirst: c.isFirst}
	var b []byte
	var err error
	if c.rank == 0 {
		mine := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0}
		if high {
			mine[0] = 1
		}
		binary.LittleEndian.PutUint64(mine[1:], c.host.NewID())
		if b, err = l.swap(mine); err == nil && len(b) != 9 {
			err = mpierr.New(abi.MPI_ERR_OTHER, "the leader of the remote group called another function")
		}
		if err == nil {
			id := b[1:]
			if l.sendsFirst {
				id = mine[1:]
			}
			before := byte(0) // 0 if this group comes first, else 1
			if b[0] != mine[0] && high || b[0] == mine[0] && !l.sendsFirst {
				before = 1
			}
			b = append([]byte{before}, id...)
		}
	}
	if b, err = c.Local.collectiveTeam().bcastOrError(b, err); err != nil {
		return nil, err
	}
	g, rank := group.Union(c.local, c.remote), c.rank
	if b[0] != 0 {
		g, rank = group.Union(c.remote, c.local), c.rank+c.remote.Size()
	}
	n := c.child(g, rank)
	n.id = binary.LittleEndian.Uint64(b[1:])
	if err := n.AttachBlock(); err != nil {
		return nil, err
	}
	return n, nil
}

// interLink returns the link of rank 0 with rank 0 of the other group.
func (c *Comm) interLink(x Context, tag int32) *leaderLink {
	return &leaderLink{c: c, x: x, tag: tag, sendsFirst: c.isFirst}
}

func (c *Comm) dupInter(all *team) (*Comm, error) {
	t := *all
	t.c = c.Local
	local, err := c.Local.dup(&t)
	if err != nil {
		return nil, err
	}
	n := newInter(local, c.remote, c.isFirst)
	if err := n.agreeOnID(c.interLink(all.x, all.tag)); err != nil {
		local.Free()
		return nil, err
	}
	return n, nil
}

// remoteBytes returns, at every member, the bytes that the other group passes. All members of a group pass the same
// bytes.
func (c *Comm) remoteBytes(mine []byte) ([]byte, error) {
	var b []byte
	var err error
	if c.rank == 0 {
		b, err = c.interLink(Creation, 0).swap(mine)
	}
	return c.Local.collectiveTeam().bcastOrError(b, err)
}

// subInter creates an intercommunicator of some members of each group. The list `mine` has the ranks of the members of
// this group, and `theirs` those of the other group. It returns nil if a list is empty or the caller is not in the list
// `mine`. Collective over the listed members.
func (c *Comm) subInter(mine, theirs []int32) (*Comm, error) {
	me := group.Of(mine).Rank(int32(c.rank))
	if len(mine) == 0 || len(theirs) == 0 || me == group.Undefined {
		return nil, nil
	}
	members, err := group.Include(c.local, mine)
	if err != nil {
		return nil, err
	}
	others, err := group.Include(c.remote, theirs)
	if err != nil {
		return nil, err
	}
	local, err := c.Local.createSub(Creation, 0, members, group.Of(mine))
	if err != nil {
		return nil, err
	}
	n := newInter(local, others, c.isFirst)
	if err := n.agreeOnID(&leaderLink{c: c, x: Creation, peer: int(theirs[0]), sendsFirst: c.isFirst}); err != nil {
		local.Free()
		return nil, err
	}
	return n, nil
}

func (c *Comm) splitInter(color, key int32) (*Comm, error) {
	mine, err := c.Local.colors(color, key)
	if err != nil {
		return nil, err
	}
	theirs, err := c.remoteBytes(mine)
	if err != nil || color == abi.MPI_UNDEFINED {
		return nil, err
	}
	return c.subInter(ranksOf(mine, color), ranksOf(theirs, color))
}

func (c *Comm) createInter(g *group.Group) (*Comm, error) {
	mine, err := c.ranksIn(g)
	if err != nil {
		return nil, err
	}
	theirs, err := c.remoteBytes(packInts(mine))
	if err != nil {
		return nil, err
	}
	return c.subInter(mine, unpackInts(theirs))
}
