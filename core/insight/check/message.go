package check

import (
	"fmt"
	"strings"

	"gompirma/core/abi"
)

// send is a message, from the beginning of its send until it has been received.
type send struct {
	comm  *comm
	site  *callSite
	data  dataInfo
	to    int
	clock vector
	queued[*send]
	receive     *receive  // the matched receive; nil before the match
	receivedAt  timestamp // timestamp of the receive; zero before
	buffers     []*access // buffers of a send whose request has been freed; in use until the message is received
	replay      *replay   // replay of the thread that started the send
	isReplayed  bool      // the start of the send has been replayed
	isUnblocked bool      // the replay does not wait for the receive at the end of this send
}

// receive is a receive that waits for a message or has been matched with one.
type receive struct {
	comm             *comm
	site             *callSite
	data             dataInfo
	clock            vector
	queued[*receive] // from is a rank, or abi.MPI_ANY_SOURCE
	send             *send
	replay           *replay // replay of the thread that started the receive
	isReplayed       bool
}

// completeReceive completes a receive at rank k with a message of the given source and tag. The argument `from` is -1
// if the source is unknown.
func (c *Checker) completeReceive(m *comm, k *rank, r *receive, from, tag int) {
	if r.send != nil && from >= 0 && (r.send.from != from || r.send.tag != tag) {
		// The message that was matched with this receive belongs to another receive, so the match is undone.
		s := r.send
		r.send, s.receive = nil, nil
		queueAt(&m.unmatchedSends, k.number).restore(&s.queued, s)
	}
	if r.send == nil {
		got := envelope{from, tag}
		if from < 0 {
			got = r.envelope
		}
		if s := m.messageFor(k.number, got); s != nil {
			r.send, s.receive = s, r
			m.unmatchedSends[k.number].remove(&s.queued)
		}
	}
	m.postedReceives[k.number].remove(&r.queued)
	if r.send == nil {
		k.hasUnknownReceive = true
	}
	if r.send != nil {
		k.current.received = append(k.current.received, r.send)
		k.current.waitedFor(r.send.site.rank, r.send.site.start)
		k.clock.join(r.send.clock)
		c.noteReceived(k, r.send)
		c.compareMessage(m, r.send, r)
	}
}

// noteReceived records that rank k has received a message.
func (c *Checker) noteReceived(k *rank, s *send) {
	s.receivedAt = k.now()
	for _, a := range s.buffers {
		c.endAccess(a, s.receivedAt)
	}
	s.buffers = nil
}

// reportAtEnd reports messages that no rank has received, once all ranks have ended. Each rank must receive the
// messages that are sent to it (MPI-5.0 11.2.2).
func (c *Checker) reportAtEnd() {
	for _, k := range c.ranks {
		if !k.ended {
			return
		}
	}
	for m := range c.liveComms {
		c.reportUnreceived(m)
	}
	for _, k := range c.ranks {
		if _, rank := c.jobs.Of(k.number); rank == 0 {
			c.reportUnreceived(k.comms[abi.MPI_COMM_WORLD])
		}
		c.reportUnreceived(k.comms[abi.MPI_COMM_SELF])
	}
}

// reportUnreceived reports messages of a communicator that can no longer be received. It skips messages to a rank that
// has completed a receive with an unknown message, which may be one of them.
func (c *Checker) reportUnreceived(m *comm) {
	for to, all := range m.unmatchedSends {
		all.each(func(s *send) bool {
			if c.follow == nil && !c.ranks[to].hasUnknownReceive {
				c.report(&Finding{Kind: "leak", Target: to, Object: "message",
					Advice: fmt.Sprintf("%s must receive the message before MPI_Finalize.",
						capitalized(c.jobs.Name(to)))},
					callRole{s.site, "sends the message"})
			}
			return false
		})
	}
}

// capitalized returns a text with an upper-case first letter.
func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// compareMessage compares the data of a send with those of its receive.
func (c *Checker) compareMessage(m *comm, s *send, r *receive) {
	if c.follow != nil || s.site == nil || r.site == nil {
		return
	}
	how := s.data.mismatch(r.data, true, "at the sender", "at the receiver")
	if how != "" && s.data.bytes <= r.data.bytes {
		c.report(&Finding{Kind: "signature", Target: r.site.rank, Object: m.name, Advice: how},
			callRole{s.site, "sends"}, callRole{r.site, "receives"})
	}
	if m.hints["mpi_assert_exact_length"] == "true" && s.data.bytes != r.data.bytes {
		c.reportHint("mpi_assert_exact_length", r.site, nil,
			fmt.Sprintf("The info key mpi_assert_exact_length promises receive buffers of exactly the "+
				"message's size. This buffer has %d bytes, the message has %d. Remove the key, or "+
				"pass a buffer of this size.",
				r.data.bytes, s.data.bytes))
	}
}

// sendsMessage reports whether a function sends a message; receivesMessage reports whether it receives one.
func sendsMessage(name string) bool {
	switch strings.TrimPrefix(name, "MPI_") {
	case "Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend", "Sendrecv", "Sendrecv_replace",
		"Isendrecv", "Isendrecv_replace":
		return true
	}
	return false
}

func receivesMessage(name string) bool {
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

// startSend starts the send of a call, or of a persistent request.
func (c *Checker) startSend(k *rank, e *event, m *comm, dest, tag int) *send {
	to := m.worldRank(k, dest)
	if to < 0 {
		return nil
	}
	s := &send{comm: m, site: k.newSite(e), to: to, data: k.messageContents(e, "send"),
		clock: k.clock.clone()}
	s.envelope = envelope{k.number, tag}
	if !c.recordsLost {
		m.matchSend(to, s)
	}
	c.addStep(k, e.Thread, step{beginSend: s})
	return s
}

func (c *Checker) postReceive(k *rank, e *event, m *comm, source, tag int) *receive {
	from := abi.MPI_ANY_SOURCE
	if source != abi.MPI_ANY_SOURCE {
		if from = m.worldRank(k, source); from < 0 {
			return nil
		}
	}
	if from == abi.MPI_ANY_SOURCE && m.hints["mpi_assert_no_any_source"] == "true" {
		c.reportHint("mpi_assert_no_any_source", k.newSite(e), nil, "The info key mpi_assert_no_any_source "+
			"promises no receive with MPI_ANY_SOURCE. Remove the key, or pass a rank.")
	}
	if tag == abi.MPI_ANY_TAG && m.hints["mpi_assert_no_any_tag"] == "true" {
		c.reportHint("mpi_assert_no_any_tag", k.newSite(e), nil, "The info key mpi_assert_no_any_tag promises "+
			"no receive with MPI_ANY_TAG. Remove the key, or pass a tag.")
	}
	r := &receive{comm: m, site: k.newSite(e), data: k.messageContents(e, "recv"), clock: k.clock.clone()}
	r.envelope = envelope{from, tag}
	if !c.recordsLost {
		m.matchReceive(k.number, r)
	}
	c.addStep(k, e.Thread, step{post: r})
	return r
}

// messageContents returns the data that a call sends (side "send") or is ready to receive (side "recv").
func (k *rank) messageContents(e *event, side string) dataInfo {
	if v := e.In(side + "type"); len(v.Words) > 0 {
		return k.dataOf(e.In(side+"count").Int(), v.Uint())
	}
	return k.dataOf(e.In("count").Int(), e.In("datatype").Uint())
}

// enterMessages records the messages that a call sends, and the receives that it posts.
func (c *Checker) enterMessages(k *rank, e *event) {
	m := k.commOf(e.In("comm").Uint())
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
	if sendsMessage(e.name) {
		tag := e.In("tag")
		if e.In("sendtag").HasValue() && len(e.In("sendtag").Words) > 0 {
			tag = e.In("sendtag")
		}
		e.call.send = c.startSend(k, e, m, int(e.In("dest").Int()), int(tag.Int()))
		e.call.sent = append(e.call.sent, e.call.send)
	}
	if receivesMessage(e.name) {
		tag := e.In("tag")
		if e.In("recvtag").HasValue() && len(e.In("recvtag").Words) > 0 {
			tag = e.In("recvtag")
		}
		e.call.receive = c.postReceive(k, e, m, int(e.In("source").Int()), int(tag.Int()))
	}
}

// leaveMessages records the messages that a call has received.
func (c *Checker) leaveMessages(k *rank, e *event) {
	m := k.commOf(e.In("comm").Uint())
	name := strings.TrimPrefix(e.name, "MPI_")
	switch {
	case strings.HasPrefix(name, "I") && (sendsMessage(e.name) || receivesMessage(e.name)):
		c.addRequest(k, e, &request{send: e.call.send, isSynchronous: name == "Issend",
			isStandard: isStandard(e.name), receive: e.call.receive})
		return
	case strings.HasSuffix(name, "_init") && e.Out("request").HasValue():
		c.addPersistent(k, e)
		return
	case name == "Parrived":
		c.partitionArrived(k, e)
		return
	case m == nil:
		return
	case name == "Ssend" && e.call.send != nil && e.call.send.receive != nil:
		e.call.waitedFor(e.call.send.receive.site.rank, e.call.send.receive.site.start)
		k.clock.join(e.call.send.receive.clock)
	case name == "Probe" || name == "Iprobe" && e.Out("flag").Int() != 0:
		c.probeMessage(k, e, m, false)
	case name == "Mprobe" || name == "Improbe" && e.Out("flag").Int() != 0:
		c.probeMessage(k, e, m, true)
	}
	if s := e.call.send; s != nil && isStandard(e.name) {
		c.addStep(k, e.Thread, step{endSend: s})
	}
	if r := e.call.receive; r != nil {
		c.addStep(k, e.Thread, step{received: r})
		from, tag := -1, 0
		if s := e.Out("status"); s.HasValue() && s.Statuses() == 1 {
			from, tag = m.worldRank(k, s.Status(0).Source), s.Status(0).Tag
		}
		c.completeReceive(m, k, r, from, tag)
	}
}

// probeMessage records that a rank has seen a message. If isMatched is true, the probe has matched the message, and no
// other receive can match it.
func (c *Checker) probeMessage(k *rank, e *event, m *comm, isMatched bool) {
	r := &receive{comm: m, site: k.newSite(e), clock: k.clock.clone()}
	r.envelope = envelope{abi.MPI_ANY_SOURCE, int(e.In("tag").Int())}
	if source := int(e.In("source").Int()); source != abi.MPI_ANY_SOURCE {
		r.from = m.worldRank(k, source)
	} else if c.strict {
		m.noteAnySource(k.number)
	}
	if s := e.Out("status"); s.HasValue() && s.Statuses() == 1 {
		r.from, r.tag = m.worldRank(k, s.Status(0).Source), s.Status(0).Tag
	}
	if s := m.messageFor(k.number, r.envelope); s != nil {
		k.clock.join(s.clock)
		e.call.waitedFor(s.site.rank, s.site.start)
		if isMatched {
			s.receive = r
			c.noteReceived(k, s)
			m.unmatchedSends[k.number].remove(&s.queued)
		}
	}
}
