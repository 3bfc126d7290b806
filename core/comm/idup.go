package comm

import "gompirma/core/mpierr"

// Draft is a communicator during MPI_Comm_idup of one whose members all share memory (MPI-5.0 7.4.2). The caller
// carries the leader's message, and the result of Open if it may fail, to the other members (capi/coll/idup.h).
type Draft struct {
	n      *Comm
	offer  []byte
	opened bool
	err    error
}

// DraftSize is the size of the leader's message: whether Open cannot fail at any member, and an offer.
const DraftSize = 1 + offerBytes

// Draft begins a duplicate of c.
func (c *Comm) Draft() *Draft {
	d := &Draft{n: c.child(c.local, c.rank), offer: make([]byte, DraftSize)}
	d.n.Topology = c.Topology
	offer := d.offer[1:]
	if d.err = d.n.writeOffer(offer); d.err != nil || cannotFailToOpen(offer[8:]) {
		d.offer[0] = 1
	}
	return d
}

// Offer returns the message to send if this member is the leader.
func (d *Draft) Offer() []byte { return d.offer }

// Open evaluates the leader's message and returns the class of this member's error.
func (d *Draft) Open(leaderOffer []byte) int32 {
	d.opened = true
	_, d.err = d.n.readOffer(leaderOffer[1:], d.err)
	return mpierr.ClassOf(d.err)
}

// End returns the communicator, or an error if err is not nil or class, the largest class of all members, is an error.
func (d *Draft) End(leaderOffer []byte, class int32, err error) (*Comm, error) {
	if err == nil && !d.opened {
		class = max(class, d.Open(leaderOffer))
	}
	if err := d.n.commitBlock(d.err, class, err); err != nil {
		return nil, err
	}
	return d.n, nil
}

// Idup is Dup on a context of its own, so that it may run in a goroutine concurrently with other calls on c. It is for
// members that do not all share memory. number is the result of NextIdup for this call: all members have the same
// count, since they make their collective calls in the same order.
func (c *Comm) Idup(number int32) (*Comm, error) {
	return c.dup(c.newTeam(IdupCreation, number))
}

// NextIdup returns the number of the next Idup on c.
func (c *Comm) NextIdup() int32 { return c.idups.Add(1) }
