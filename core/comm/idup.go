package comm

import "gompirma/core/mpierr"

// Draft is a communicator that MPI_Comm_idup makes of one whose members all share memory (MPI-5.0 7.4.2). What its
// leader tells is carried by the caller (capi/coll/idup.h), with what Open returns if that may fail.
type Draft struct {
	n      *Comm
	told   []byte
	opened bool
	mine   error
}

// DraftSize is what the leader tells: whether Open can fail at no member, and an offer.
const DraftSize = 1 + offerSize

// Draft begins a duplicate of c.
func (c *Comm) Draft() *Draft {
	d := &Draft{n: c.child(c.local, c.rank), told: make([]byte, DraftSize)}
	d.n.Topology = c.Topology
	offer := d.told[1:]
	if d.mine = d.n.offer(offer); d.mine != nil || blockIsSure(offer[8:]) {
		d.told[0] = 1
	}
	return d
}

// Told is what this member would tell as the leader.
func (d *Draft) Told() []byte { return d.told }

// Open takes what the leader has told, and returns the class of the error if that is not possible here.
func (d *Draft) Open(told []byte) int32 {
	d.opened = true
	_, d.mine = d.n.accept(told[1:], d.mine)
	return mpierr.ClassOf(d.mine)
}

// End returns the communicator: unless err is not nil, or class, the worst that a member has told.
func (d *Draft) End(told []byte, class int32, err error) (*Comm, error) {
	if err == nil && !d.opened {
		class = max(class, d.Open(told))
	}
	if err := d.n.keepBlock(d.mine, class, err); err != nil {
		return nil, err
	}
	return d.n, nil
}

// Idup is Dup on a context of its own, so that it may run in a goroutine beside other calls on c: for members that do
// not all share memory. number is the one that NextIdup returned for this call: the members count alike, since all make
// their collective calls in the same order.
func (c *Comm) Idup(number int32) (*Comm, error) {
	return c.dup(c.everyone(IdupCreation, number))
}

// NextIdup returns the number of the next Idup on c.
func (c *Comm) NextIdup() int32 { return c.idups.Add(1) }
