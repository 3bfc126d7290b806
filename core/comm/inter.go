package comm

import (
	"encoding/binary"

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
	if err := l.c.host.Recv(l.c, l.x, l.peer, l.tag, in); err != nil {
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
			return l.c.host.Recv(l.c, l.x, l.peer, l.tag, theirs[firstSwapBytes:])
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
func newInter(local *Comm, remote *group.Group, from *Comm) *Comm {
	n := &Comm{host: local.host, local: local.local, remote: remote, rank: local.rank, size: local.size,
		Local: local}
	return n
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
// rank localLeader only. Collective over both groups. Errors: MPI_ERR_COMM if the groups have a member in common.
func (c *Comm) NewInter(localLeader int, peer *Comm, remoteLeader int, tag int32) (*Comm, error) {
	return c.NewInterTo(localLeader, func() (Leader, error) { return Leader{peer, remoteLeader, tag}, nil })
}

// Leader is the leader of a remote group: its rank in a communicator, and the tag of the messages to it.
type Leader struct {
	Peer *Comm
	Rank int
	Tag  int32
}

// NewInterTo creates an intercommunicator as NewInter does. The function `find`, which is called at the member of rank
// localLeader only, returns the leader of the remote group. If `find` returns an error, all members return an error of
// its class.
func (c *Comm) NewInterTo(localLeader int, find func() (Leader, error)) (*Comm, error) {
	var l *leaderLink
	var b []byte
	var err error
	if c.rank == localLeader {
		var remote Leader
		if remote, err = find(); err == nil {
			l, err = c.beginLeaderSwap(remote.Peer, remote.Rank, remote.Tag)
		}
	}
	local, refused := c.Dup() // while the other leader's message is in flight
	if l != nil && err == nil {
		b, err = c.endLeaderSwap(l)
	}
	if refused != nil {
		return nil, refused
	}
	local.Topology = nil
	if b, err = c.rootedTeam(localLeader).bcastOrError(b, err); err != nil {
		local.Free()
		return nil, err
	}
	n := newInter(local, group.Of(unpackInts(b[8:])).DerivedFrom(c.local), c)
	n.id = binary.LittleEndian.Uint64(b)
	return n, nil
}

// beginLeaderSwap begins the leaders' exchange in NewInter: it sends the list of this group's members to the other
// leader.
func (c *Comm) beginLeaderSwap(peer *Comm, remoteLeader int, tag int32) (*leaderLink, error) {
	me, them := c.local.World(c.rank), peer.Peers().World(remoteLeader)
	if c.local.Rank(them) != group.Undefined {
		return nil, mpierr.New(abi.MPI_ERR_COMM,
			"the leader of the remote group (rank %d in MPI_COMM_WORLD) belongs to the local group", them)
	}
	l := &leaderLink{c: peer, x: Leaders, tag: tag, peer: remoteLeader, sendsFirst: me < them}
	mine := make([]byte, 8, 8+4*c.size)
	binary.LittleEndian.PutUint64(mine, c.host.NewID())
	for i := range c.size {
		mine = binary.LittleEndian.AppendUint32(mine, uint32(c.local.World(i)))
	}
	return l, l.begin(mine)
}

// endLeaderSwap ends the leaders' exchange. It returns the identity of the new communicator, followed by the world
// ranks of the other group.
func (c *Comm) endLeaderSwap(l *leaderLink) ([]byte, error) {
	b, err := l.end()
	if err != nil {
		return nil, err
	}
	if len(b) < 12 || len(b)%4 != 0 {
		return nil, mpierr.New(abi.MPI_ERR_OTHER, "the leader of the remote group called another function")
	}
	if l.sendsFirst {
		copy(b[:8], l.mine)
	}
	common, member := 0, int32(0)
	for at := len(b); at > 8; at -= 4 {
		if w := int32(binary.LittleEndian.Uint32(b[at-4:])); c.local.Rank(w) != group.Undefined {
			common, member = common+1, w
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
// group whose first process has the lower world rank comes first. Collective.
func (c *Comm) Merge(high bool) (*Comm, error) {
	l := &leaderLink{c: c, x: Creation, peer: 0, sendsFirst: c.local.World(0) < c.remote.World(0)}
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
	return &leaderLink{c: c, x: x, tag: tag, sendsFirst: c.local.World(0) < c.remote.World(0)}
}

func (c *Comm) dupInter(all *team) (*Comm, error) {
	t := *all
	t.c = c.Local
	local, err := c.Local.dup(&t)
	if err != nil {
		return nil, err
	}
	n := newInter(local, c.remote, c)
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
	n := newInter(local, others, c)
	if err := n.agreeOnID(&leaderLink{c: c, x: Creation, peer: int(theirs[0]),
		sendsFirst: members.World(0) < others.World(0)}); err != nil {
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
