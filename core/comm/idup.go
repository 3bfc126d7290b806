package comm

import "gompirma/core/mpierr"

// Draft is an unfinished communicator: the result of an MPI_Comm_idup in progress (MPI-5.0 7.4.2) whose members all
// share memory. The caller sends the leader's message to the other members. If Open may fail, the caller also exchanges
// the results of Open (capi/coll/idup.h).
type Draft struct {
	n      *Comm
	offer  []byte
	opened bool
	err    error
}

// DraftSize is the size in bytes of the leader's message: one byte, then the message of writeOffer. The byte is 1 if
// Open certainly has the same result at all members, so that they need not exchange their results.
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

// Offer returns this member's message. Only the leader's message is sent to the other members.
func (d *Draft) Offer() []byte { return d.offer }

// Open reads the leader's message, opens the control block and returns the class of this member's error.
func (d *Draft) Open(leaderOffer []byte) int32 {
	d.opened = true
	_, d.err = d.n.readOffer(leaderOffer[1:], d.err)
	return mpierr.ClassOf(d.err)
}

// End returns the communicator, or an error if `class` or `err` is one. The argument `class` is the largest error class
// of all members, and `err` the error of the exchange of these classes. If the members have not called Open, because it
// has the same result at all of them, End calls Open.
func (d *Draft) End(leaderOffer []byte, class int32, err error) (*Comm, error) {
	if err == nil && !d.opened {
		class = max(class, d.Open(leaderOffer))
	}
	if err := d.n.commitBlock(d.err, class, err); err != nil {
		return nil, err
	}
	return d.n, nil
}

// Idup duplicates c as Dup does, but sends its messages in a separate context. So it may run in a goroutine,
// concurrently with other calls on c. It is used if not all members share memory. The argument `number` is the result
// of NextIdup for this call. The number is the same at all members, since they make their collective calls in the same
// order.
func (c *Comm) Idup(number int32) (*Comm, error) {
	return c.dup(c.newTeam(IdupCreation, number))
}

// NextIdup returns the number of the next Idup on c.
func (c *Comm) NextIdup() int32 { return c.idups.Add(1) }
