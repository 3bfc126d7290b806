package check

import (
	"strings"
	"time"
)

// A partitioned message orders the receiver after the actions of the sender that precede MPI_Pready of the received
// partitions. When a receive completes, all partitions have been received. MPI_Parrived reports single partitions.

// channelKey identifies partitioned requests that match in order: the n-th request that the sender initializes matches
// the n-th request that the receiver initializes (MPI-5.0 4.2.1).
type channelKey struct{ from, to, tag int }

// channelQueue holds the requests of one side that have not been matched with a request of the other side.
type channelQueue struct {
	channels []*channel
	sending  bool
}

// channel is a pair of matching partitioned requests.
type channel struct {
	from      int
	sendBytes int64                    // size of a partition at the sender, in bytes
	recvBytes int64                    // size of a partition at the receiver, in bytes
	rounds    map[int]*readyPartitions // rounds that the receiver has not completed, by number from 1
}

// readyPartitions holds the partitions of a round that the sender has marked ready.
type readyPartitions struct {
	clocks map[int]vector
	at     time.Duration // time of the latest MPI_Pready
}

// partitioned is the additional state of a partitioned request.
type partitioned struct {
	channel  *channel
	sending  bool
	round    int
	accesses []*access // accesses to its buffer, for up to maxPartitions partitions
}

// maxPartitions is the largest number of partitions of a request whose buffer accesses are tracked.
const maxPartitions = 1 << 16

// openChannel assigns a new partitioned request to the channel of the matching request, or to a new channel.
func (c *Checker) openChannel(k *rank, p *persistent, e *event) {
	m := k.commOf(e.In("comm").Uint())
	if !strings.HasPrefix(e.name, "MPI_P") || m == nil || c.recordsLost {
		return
	}
	p.sending = e.name == "MPI_Psend_init"
	key := channelKey{from: k.number, to: k.number, tag: int(e.In("tag").Int())}
	if p.sending {
		key.to = m.worldRank(k, int(e.In("dest").Int()))
	} else {
		key.from = m.worldRank(k, int(e.In("source").Int()))
	}
	if key.from < 0 || key.to < 0 {
		return
	}
	if m.channels == nil {
		m.channels = map[channelKey]*channelQueue{}
	}
	q := m.channels[key]
	if q == nil {
		q = &channelQueue{}
		m.channels[key] = q
	}
	if len(q.channels) > 0 && q.sending != p.sending {
		p.channel, q.channels = q.channels[0], q.channels[1:]
	} else {
		p.channel = &channel{from: key.from, rounds: map[int]*readyPartitions{}}
		q.channels, q.sending = append(q.channels, p.channel), p.sending
	}
	if len(q.channels) == 0 {
		delete(m.channels, key)
	}
	size := k.dataOf(e.In("count").Int(), e.In("datatype").Uint()).bytes
	if p.sending {
		p.channel.sendBytes = size
	} else {
		p.channel.recvBytes = size
	}
}

// startPartitions starts a round of a partitioned request. From then on the buffer of a receive is in use. The buffer
// of a send is used from MPI_Pready on.
func (c *Checker) startPartitions(k *rank, r *request, e *event) {
	p := r.persistent
	p.round++
	p.accesses = make([]*access, min(e.In("partitions").Int(), maxPartitions))
	for i := range p.accesses {
		if !p.sending {
			c.usePartition(k, r, e, i)
		}
	}
}

// usePartition records that a partition of the buffer is in use.
func (c *Checker) usePartition(k *rank, r *request, e *event, partition int) {
	p := r.persistent
	t := k.typeOf(p.event.In("datatype").Uint())
	if c.follow != nil || t == nil || partition < 0 || partition >= len(p.accesses) ||
		p.accesses[partition] != nil {
		return
	}
	count, what := p.event.In("count").Int(), writes
	if p.sending {
		what = reads
	}
	at := p.event.In("buf").Uint() + uint64(int64(partition)*count*t.extent())
	if a := k.buffer(k.newSite(e), what, at, uint64(count), p.event.In("datatype").Uint()); a != nil {
		c.add(k.number, a, k.clock)
		c.noteStore(k, a)
		p.accesses[partition] = a
	}
}

// enterPartitions records the partitions that a call marks ready.
func (c *Checker) enterPartitions(k *rank, e *event) {
	r := k.activePartitioned(e)
	if r == nil || !r.persistent.sending {
		return
	}
	first, last := int64(0), int64(-1)
	var some []uint64
	switch e.name {
	case "MPI_Pready":
		some = []uint64{e.In("partition").Uint()}
	case "MPI_Pready_range":
		first, last = e.In("partition_low").Int(), e.In("partition_high").Int()
	case "MPI_Pready_list":
		some = e.In("array_of_partitions").Words
	}
	p := r.persistent
	last = min(last, p.event.In("partitions").Int()-1)
	for i := max(first, 0); i <= last; i++ {
		some = append(some, uint64(i))
	}
	round := p.channel.rounds[p.round]
	if round == nil {
		round = &readyPartitions{clocks: map[int]vector{}}
		p.channel.rounds[p.round] = round
	}
	now := k.clock.clone()
	for _, i := range some {
		round.clocks[int(i)] = now
		c.usePartition(k, r, e, int(i))
	}
	round.at = e.Start
}

// activePartitioned returns the partitioned request of a call; nil if the request is not partitioned or not active.
func (k *rank) activePartitioned(e *event) *request {
	r := k.requests[e.In("request").Uint()]
	if r == nil || r.persistent == nil || r.persistent.channel == nil || !r.isActive {
		return nil
	}
	return r
}

// partitionArrived records that MPI_Parrived has reported a partition as arrived.
func (c *Checker) partitionArrived(k *rank, e *event) {
	r := k.activePartitioned(e)
	if r == nil || r.persistent.sending || e.Out("flag").Int() == 0 {
		return
	}
	p, i := r.persistent, e.In("partition").Int()
	round := p.channel.rounds[p.round]
	if i >= 0 && i < int64(len(p.accesses)) && p.accesses[i] != nil {
		c.endAccess(p.accesses[i], k.now())
	}
	if round == nil {
		return
	}
	first, last := int64(0), int64(1<<31)
	if of := p.channel; of.sendBytes > 0 && of.recvBytes > 0 {
		first, last = i*of.recvBytes/of.sendBytes, ((i+1)*of.recvBytes-1)/of.sendBytes
	}
	for n, v := range round.clocks {
		if int64(n) >= first && int64(n) <= last {
			k.clock.join(v)
		}
	}
}

// finishPartitions records that a round of a partitioned request is complete.
func (c *Checker) finishPartitions(k *rank, p *persistent) {
	for _, a := range p.accesses {
		if a != nil {
			c.endAccess(a, k.now())
		}
	}
	round := p.channel.rounds[p.round]
	if p.sending || round == nil {
		return
	}
	for _, v := range round.clocks {
		k.clock.join(v)
	}
	k.current.waitedFor(p.channel.from, round.at)
	delete(p.channel.rounds, p.round)
}
