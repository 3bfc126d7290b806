package check

import (
	"fmt"
	"strings"

	"gompirma/core/abi"
)

// send is a message, from the begin of its send to its reception.
type send struct {
	comm  *comm
	site  *site
	data  contents
	to    int
	clock vector
	waiter[*send]
	receive *receive  // the receive that gets it
	arrived moment    // when it has been received; zero before
	buffers []*access // in use until arrived, because their request has been freed
	replay  *replay   // the replay that repeats it
	begun   bool      // its begin has been replayed
	free    bool      // its end does not wait for the receive
}

// receive is a receive that waits for a message or has one.
type receive struct {
	comm             *comm
	site             *site
	data             contents
	clock            vector
	waiter[*receive] // from is a rank in MPI_COMM_WORLD, or abi.MPI_ANY_SOURCE
	send             *send
	replay           *replay // the replay that repeats it
	posted           bool    // it has been replayed
}

// received completes a receive at a rank with a message of the given source and tag; from is -1 if the source is
// unknown.
func (c *Checker) received(m *comm, k *rank, r *receive, from, tag int) {
	if r.send != nil && from >= 0 && (r.send.from != from || r.send.tag != tag) {
		// The message that was matched before belongs to another receive.
		s := r.send
		r.send, s.receive = nil, nil
		lineAt(&m.sends, k.number).restore(&s.waiter, s)
	}
	if r.send == nil {
		got := envelope{from, tag}
		if from < 0 {
			got = r.envelope
		}
		if s := m.messageFor(k.number, got); s != nil {
			r.send, s.receive = s, r
			m.sends[k.number].remove(&s.waiter)
		}
	}
	m.receives[k.number].remove(&r.waiter)
	if r.send == nil {
		k.missed = true
	}
	if r.send != nil {
		k.current.got = append(k.current.got, r.send)
		k.current.await(r.send.site.rank, r.send.site.start)
		k.clock.join(r.send.clock)
		c.arrives(k, r.send)
		c.matches(m, r.send, r)
	}
}

// arrives records that a rank has received a message.
func (c *Checker) arrives(k *rank, s *send) {
	s.arrived = k.now()
	for _, a := range s.buffers {
		c.endAccess(a, s.arrived)
	}
	s.buffers = nil
}

// finalized reports messages that no rank has received when all ranks have ended: each rank must receive what is sent
// to it (MPI-5.0 11.2.2).
func (c *Checker) finalized() {
	for _, k := range c.ranks {
		if !k.ended {
			return
		}
	}
	for m := range c.live {
		c.unreceived(m)
	}
	c.unreceived(c.ranks[0].comms[abi.MPI_COMM_WORLD])
	for _, k := range c.ranks {
		c.unreceived(k.comms[abi.MPI_COMM_SELF])
	}
}

// unreceived reports messages of a communicator that can no longer be received. It reports none for a rank that has
// received an unknown message, which may be one of those that seem to be left.
func (c *Checker) unreceived(m *comm) {
	for to, all := range m.sends {
		all.each(func(s *send) bool {
			if c.follow == nil && !c.ranks[to].missed {
				c.tell(&Finding{Kind: "leak", Target: to, Object: "message",
					Advice: fmt.Sprintf("Rank %d must receive the message before MPI_Finalize.",
						to)},
					spot{s.site, "sends the message"})
			}
			return false
		})
	}
}

// matches compares the data of a send with those of its receive.
func (c *Checker) matches(m *comm, s *send, r *receive) {
	if c.follow != nil || s.site == nil || r.site == nil {
		return
	}
	if how := s.data.differs(r.data, true); how != "" && s.data.bytes <= r.data.bytes {
		c.tell(&Finding{Kind: "signature", Target: r.site.rank, Object: m.name, Advice: how},
			spot{s.site, "sends"}, spot{r.site, "receives"})
	}
	if m.hints["mpi_assert_exact_length"] == "true" && s.data.bytes != r.data.bytes {
		c.hintFails("mpi_assert_exact_length", r.site, nil,
			fmt.Sprintf("The info key mpi_assert_exact_length promises receive buffers of exactly the "+
				"message's size, "+
				"but this one has %d bytes and the message %d.", r.data.bytes, s.data.bytes))
	}
}

// sends reports whether a function sends a message; receives reports whether it receives one.
func sends(name string) bool {
	switch strings.TrimPrefix(name, "MPI_") {
	case "Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend", "Sendrecv", "Sendrecv_replace",
		"Isendrecv", "Isendrecv_replace":
		return true
	}
	return false
}

func receives(name string) bool {
	switch strings.TrimPrefix(name, "MPI_") {
	case "Recv", "Irecv", "Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace":
		return true
	}
	return false
}

// isStandard reports whether a function sends in standard mode.
func isStandard(name string) bool {
	switch strings.TrimPrefix(name, "MPI_") {
	case "Send", "Isend", "Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace":
		return true
	}
	return false
}

// message starts the send of a call, or of a persistent request.
func (c *Checker) message(k *rank, e *event, m *comm, dest, tag int) *send {
	to := m.world(k, dest)
	if to < 0 {
		return nil
	}
	s := &send{comm: m, site: k.site(e), to: to, data: k.messageContents(e, "send"),
		clock: k.clock.clone()}
	s.envelope = envelope{k.number, tag}
	if !c.broken {
		m.post(to, s)
	}
	c.strictly(k, e.Thread, step{begin: s})
	return s
}

func (c *Checker) expects(k *rank, e *event, m *comm, source, tag int) *receive {
	from := abi.MPI_ANY_SOURCE
	if source != abi.MPI_ANY_SOURCE {
		if from = m.world(k, source); from < 0 {
			return nil
		}
	}
	if from == abi.MPI_ANY_SOURCE && m.hints["mpi_assert_no_any_source"] == "true" {
		c.hintFails("mpi_assert_no_any_source", k.site(e), nil, "The info key mpi_assert_no_any_source "+
			"promises no receive with MPI_ANY_SOURCE. Remove the key, or pass a rank.")
	}
	if tag == abi.MPI_ANY_TAG && m.hints["mpi_assert_no_any_tag"] == "true" {
		c.hintFails("mpi_assert_no_any_tag", k.site(e), nil, "The info key mpi_assert_no_any_tag promises "+
			"no receive with MPI_ANY_TAG. Remove the key, or pass a tag.")
	}
	r := &receive{comm: m, site: k.site(e), data: k.messageContents(e, "recv"), clock: k.clock.clone()}
	r.envelope = envelope{from, tag}
	if !c.broken {
		m.expect(k.number, r)
	}
	c.strictly(k, e.Thread, step{post: r})
	return r
}

// messageContents returns the data that a call sends, or is ready to receive.
func (k *rank) messageContents(e *event, side string) contents {
	if v := e.In(side + "type"); len(v.Words) > 0 {
		return k.contents(e.In(side+"count").Int(), v.Uint())
	}
	return k.contents(e.In("count").Int(), e.In("datatype").Uint())
}

// enterMessages records the messages that a call sends, and the receives that it posts.
func (c *Checker) enterMessages(k *rank, e *event) {
	m := k.comm(e.In("comm").Uint())
	if strings.HasPrefix(e.name, "MPI_Start") {
		for _, h := range append(e.In("request").Words, e.In("array_of_requests").Words...) {
			if r := k.requests[h]; r != nil && r.persistent != nil {
				c.start(k, r, e)
			}
		}
		return
	}
	if strings.HasPrefix(e.name, "MPI_Pready") {
		c.enterPartitions(k, e)
		return
	}
	if m == nil {
		return
	}
	if sends(e.name) {
		tag := e.In("tag")
		if e.In("sendtag").Given() && len(e.In("sendtag").Words) > 0 {
			tag = e.In("sendtag")
		}
		e.call.send = c.message(k, e, m, int(e.In("dest").Int()), int(tag.Int()))
		e.call.sent = append(e.call.sent, e.call.send)
	}
	if receives(e.name) {
		tag := e.In("tag")
		if e.In("recvtag").Given() && len(e.In("recvtag").Words) > 0 {
			tag = e.In("recvtag")
		}
		e.call.receive = c.expects(k, e, m, int(e.In("source").Int()), int(tag.Int()))
	}
}

// leaveMessages records the messages that a call has received.
func (c *Checker) leaveMessages(k *rank, e *event) {
	m := k.comm(e.In("comm").Uint())
	name := strings.TrimPrefix(e.name, "MPI_")
	switch {
	case strings.HasPrefix(name, "I") && (sends(e.name) || receives(e.name)):
		c.begin(k, e, &request{send: e.call.send, synchronous: name == "Issend",
			standard: isStandard(e.name), receive: e.call.receive})
		return
	case strings.HasSuffix(name, "_init") && e.Out("request").Given():
		c.keep(k, e)
		return
	case name == "Parrived":
		c.arrived(k, e)
		return
	case m == nil:
		return
	case name == "Ssend" && e.call.send != nil && e.call.send.receive != nil:
		e.call.await(e.call.send.receive.site.rank, e.call.send.receive.site.start)
		k.clock.join(e.call.send.receive.clock)
	case name == "Probe" || name == "Iprobe" && e.Out("flag").Int() != 0:
		c.probed(k, e, m, false)
	case name == "Mprobe" || name == "Improbe" && e.Out("flag").Int() != 0:
		c.probed(k, e, m, true)
	}
	if s := e.call.send; s != nil && isStandard(e.name) {
		c.strictly(k, e.Thread, step{end: s})
	}
	if r := e.call.receive; r != nil {
		c.strictly(k, e.Thread, step{received: r})
		from, tag := -1, 0
		if s := e.Out("status"); s.Given() && s.Statuses() == 1 {
			from, tag = m.world(k, s.Status(0).Source), s.Status(0).Tag
		}
		c.received(m, k, r, from, tag)
	}
}

// probed records that a rank has seen a message. With takes the rank owns the message from then on.
func (c *Checker) probed(k *rank, e *event, m *comm, takes bool) {
	r := &receive{comm: m, site: k.site(e), clock: k.clock.clone()}
	r.envelope = envelope{abi.MPI_ANY_SOURCE, int(e.In("tag").Int())}
	if source := int(e.In("source").Int()); source != abi.MPI_ANY_SOURCE {
		r.from = m.world(k, source)
	} else if c.strict {
		m.takesAny(k.number)
	}
	if s := e.Out("status"); s.Given() && s.Statuses() == 1 {
		r.from, r.tag = m.world(k, s.Status(0).Source), s.Status(0).Tag
	}
	if s := m.messageFor(k.number, r.envelope); s != nil {
		k.clock.join(s.clock)
		e.call.await(s.site.rank, s.site.start)
		if takes {
			s.receive = r
			c.arrives(k, s)
			m.sends[k.number].remove(&s.waiter)
		}
	}
}
