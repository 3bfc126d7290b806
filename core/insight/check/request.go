package check

import (
	"strings"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// request is an MPI request for a message, a collective, an operation on a window or an access to a file. It also
// represents a split collective on a file.
type request struct {
	site          *callSite // the call that made the request
	meeting       *collectiveCall
	send          *send
	isSynchronous bool // the request completes only after the matching receive has started
	isStandard    bool
	receive       *receive
	operation     *operation // operation on a window
	buffers       []*access  // buffers in use until the request is complete
	fileAccess    *access    // access to bytes of a file
	persistent    *persistent
	isActive      bool
}

// persistent describes the operation that each start of a persistent request performs.
type persistent struct {
	event *event // the call that made the request
	base  string // name of the collective; else ""
	// For a collective, the call that made the request. Its rounds match between the members, independently of
	// other calls.
	meeting *collectiveCall
	partitioned
}

// addRequest records the request that a call has made. Its handle identifies the request, since handles repeat only
// after a long time. Exception: several requests that were complete at once may have the same handle. If
// capi/insight/requests.c does not distinguish them, the handle stands for the latest of them.
func (c *Checker) addRequest(k *rank, e *event, r *request) {
	h := e.Out("request")
	if !h.HasValue() {
		return
	}
	k.activate(r, e)
	k.requests[h.Uint()] = r
}

// activate records that a call has started the operation of a request, which keeps using the buffers of the call.
func (k *rank) activate(r *request, e *event) {
	r.isActive, r.site = true, k.newSite(e)
	r.buffers, e.call.buffers = e.call.buffers, nil
	r.fileAccess = e.call.fileAccess
}

// addUnknownRequest records the request of a nonblocking call if the checker knows nothing of it except its buffers.
func (c *Checker) addUnknownRequest(k *rank, e *event) {
	if h := e.Out("request"); startsRequest(e) && k.requests[h.Uint()] == nil {
		c.addRequest(k, e, &request{})
	}
}

// startsRequest reports whether a call has started a nonblocking operation.
func startsRequest(e *event) bool {
	h := e.Out("request")
	return (strings.HasPrefix(e.name, "MPI_I") || strings.HasPrefix(e.name, "MPI_File_i")) && h.HasValue() &&
		h.Item.Form == insight.List
}

func (c *Checker) addPersistent(k *rank, e *event) {
	made := *e
	made.Record = e.Clone()
	p := &persistent{event: &made, meeting: e.call.collective}
	if base, _, is := splitCollective(e.name); is {
		p.base = base
	}
	c.openChannel(k, p, e)
	k.requests[e.Out("request").Uint()] = &request{persistent: p, site: k.newSite(e)}
}

// start starts the operation of a persistent request.
func (c *Checker) start(k *rank, r *request, caller *event) {
	e := *r.persistent.event
	record := *e.Record
	record.Function, record.Caller = caller.Function, caller.Caller
	record.Thread, record.Start = caller.Thread, caller.Start
	e.Record = &record
	e.call = newCall(k)
	e.name = strings.TrimSuffix(e.name, "_init")
	m := k.commOf(e.In("comm").Uint())
	if m == nil {
		return
	}
	c.endBuffers(k, r)
	r.isActive = true
	r.send, r.receive, r.meeting = nil, nil, nil
	switch {
	case r.persistent.base != "":
		if made := r.persistent.meeting; made != nil && !c.recordsLost {
			if r.meeting = made.rounds.next(k.number, m); r.meeting != nil {
				c.enter(k, &e, r.meeting, r.persistent.base, nonblocking)
			}
		}
	case r.persistent.channel != nil:
		c.startPartitions(k, r, &e)
	case sendsMessage(e.name):
		r.send = c.startSend(k, &e, m, int(e.In("dest").Int()), int(e.In("tag").Int()))
		r.isSynchronous, r.isStandard = e.name == "MPI_Ssend", e.name == "MPI_Send"
	case receivesMessage(e.name):
		r.receive = c.postReceive(k, &e, m, int(e.In("source").Int()), int(e.In("tag").Int()))
	}
	if r.send != nil {
		caller.call.sent = append(caller.call.sent, r.send)
	}
	if c.follow == nil {
		c.enterBuffers(k, &e, true)
	}
	r.buffers = e.call.buffers
}

func (c *Checker) endBuffers(k *rank, r *request) {
	for _, a := range r.buffers {
		c.endAccess(a, k.now())
	}
	r.buffers = nil
}

// finish records that a request is complete, and that the call has freed it unless it is persistent.
func (c *Checker) finish(k *rank, e *event, h uint64, status *insight.Status) {
	r := k.requests[h]
	if r == nil {
		return
	}
	if waited := e.name == "MPI_Wait" || e.name == "MPI_Waitall"; waited && !e.Truncated && r.isActive {
		c.finishStrictly(k, e.Thread, r)
	}
	c.finishOperation(k, r, status)
	if r.persistent == nil {
		delete(k.requests, h)
		k.freed.add(object{"REQUEST", h}, k.newSite(e))
	}
}

// finishStrictly records the steps of a thread that has waited for a request, for --check=strict.
func (c *Checker) finishStrictly(k *rank, thread int, r *request) {
	if r.isStandard && r.send != nil {
		c.addStep(k, thread, step{endSend: r.send})
	}
	if r.receive != nil {
		c.addStep(k, thread, step{received: r.receive})
	}
	if r.meeting != nil {
		c.addStep(k, thread, step{leave: r.meeting})
	}
}

// finishOperation records that the operation of a request is complete, but not that the request has been freed.
func (c *Checker) finishOperation(k *rank, r *request, status *insight.Status) {
	if r == nil || !r.isActive {
		return
	}
	r.isActive = false
	if status != nil && status.Cancelled {
		c.cancelRequest(k, r)
	} else if r.receive != nil {
		from, tag := -1, 0
		if status != nil {
			from, tag = r.receive.comm.worldRank(k, status.Source), status.Tag
		}
		c.completeReceive(r.receive.comm, k, r.receive, from, tag)
	}
	if r.isSynchronous && r.send != nil && r.send.receive != nil {
		k.current.waitedFor(r.send.receive.site.rank, r.send.receive.site.start)
		k.clock.join(r.send.receive.clock)
	}
	if r.meeting != nil {
		r.meeting.leaveMember(k)
	}
	if r.persistent != nil && r.persistent.channel != nil {
		c.finishPartitions(k, r.persistent)
	}
	if r.operation != nil {
		c.completeRequestOp(k, r.operation)
	}
	c.completeFileAccess(k, r.fileAccess)
	c.endBuffers(k, r)
}

// freeRequest records that MPI_Request_free has freed a request. The buffer of a send stays in use until the message is
// received. Before the sender uses the buffer again, the sender must be ordered after the receive.
func (c *Checker) freeRequest(k *rank, e *event, h uint64) {
	r := k.requests[h]
	if r == nil {
		return
	}
	delete(k.requests, h)
	k.freed.add(object{"REQUEST", h}, k.newSite(e))
	c.dropFileAccess(r.fileAccess)
	switch s := r.send; {
	case s == nil || !r.isActive:
		c.endBuffers(k, r)
	case s.receivedAt != timestamp{}:
		for _, a := range r.buffers {
			c.endAccess(a, s.receivedAt)
		}
	default:
		s.buffers = r.buffers
	}
}

// cancelRequest removes a cancelled message or receive. If the message or receive had been matched, its partner is
// matched again.
func (c *Checker) cancelRequest(k *rank, r *request) {
	if v := r.receive; v != nil && !c.recordsLost {
		m := v.comm
		if s := v.send; !m.postedReceives[k.number].remove(&v.queued) && s != nil {
			v.send, s.receive = nil, nil
			m.matchSend(k.number, s)
		}
	}
	if s := r.send; s != nil && !c.recordsLost {
		m := s.comm
		if v := s.receive; !m.unmatchedSends[s.to].remove(&s.queued) && v != nil {
			v.send, s.receive = nil, nil
			m.matchReceive(s.to, v)
		}
		s.isUnblocked = true
		r.send = nil
	}
}

// finishAll treats all active requests as complete. It is for calls with more requests than a record holds: such a call
// may have completed requests that the record does not show.
func (c *Checker) finishAll(k *rank, e *event) {
	for h, r := range k.requests {
		if r.isActive {
			c.finish(k, e, h, nil)
		}
	}
}

// statusOf returns status i of the statuses that a call has returned; nil if the call has not returned it.
func statusOf(v *insight.Value, i int) *insight.Status {
	if v.HasValue() && i < v.Statuses() {
		s := v.Status(i)
		return &s
	}
	return nil
}

// completeFailed records the requests that a failed call has completed. For example, a call completes a receive whose
// message is too long, and returns an error. The handle of a completed request is MPI_REQUEST_NULL afterwards, except
// that a persistent request keeps its handle. MPI_Wait and MPI_Test have completed a persistent request. MPI_Waitall
// has completed it unless its status is MPI_ERR_PENDING. It is not known whether MPI_Waitany and MPI_Testany have
// completed it.
func (c *Checker) completeFailed(k *rank, e *event) {
	h, after := e.In("array_of_requests").Words, e.Out("array_of_requests").Words
	if len(h) == 0 {
		h, after = e.In("request").Words, e.Out("request").Words
	}
	for i := range min(len(h), len(after)) {
		r := k.requests[h[i]]
		if r == nil || after[i] != abi.MPI_REQUEST_NULL && r.persistent == nil {
			continue
		}
		over := after[i] == abi.MPI_REQUEST_NULL
		var status *insight.Status
		switch e.name {
		case "MPI_Wait", "MPI_Test":
			over = over || e.Result != abi.MPI_ERR_REQUEST
		case "MPI_Waitall", "MPI_Testall":
			if e.Result != abi.MPI_ERR_IN_STATUS {
				break
			}
			if status = statusOf(e.Out("array_of_statuses"), i); status == nil ||
				status.Error != abi.MPI_ERR_PENDING {
				over = true
			}
		}
		if over {
			c.finish(k, e, h[i], status)
		} else {
			// The request may still be active, but its buffers are released to avoid false findings.
			c.endBuffers(k, r)
			c.dropFileAccess(r.fileAccess)
		}
	}
}

// completeRequests records the requests that a call has completed.
func (c *Checker) completeRequests(k *rank, e *event) {
	all := e.In("array_of_requests").Words
	if e.Truncated && len(all) > 0 {
		c.finishAll(k, e)
		return
	}
	switch e.name {
	case "MPI_Wait":
		c.finish(k, e, e.In("request").Uint(), statusOf(e.Out("status"), 0))
	case "MPI_Test":
		if e.Out("flag").Int() != 0 || e.Result != abi.MPI_SUCCESS {
			c.finish(k, e, e.In("request").Uint(), statusOf(e.Out("status"), 0))
		}
	case "MPI_Request_free":
		c.freeRequest(k, e, e.In("request").Uint())
	case "MPI_Request_get_status":
		if e.Out("flag").Int() != 0 {
			c.finishOperation(k, k.requests[e.In("request").Uint()], statusOf(e.Out("status"), 0))
		}
	case "MPI_Request_get_status_all":
		for i, h := range all {
			if e.Out("flag").Int() != 0 {
				c.finishOperation(k, k.requests[h], statusOf(e.Out("array_of_statuses"), i))
			}
		}
	case "MPI_Request_get_status_any":
		if i := e.Out("index"); e.Out("flag").Int() != 0 && i.Int() >= 0 && i.Int() < int64(len(all)) {
			c.finishOperation(k, k.requests[all[i.Int()]], statusOf(e.Out("status"), 0))
		}
	case "MPI_Request_get_status_some":
		for n, i := range e.Out("array_of_indices").Words {
			if i < uint64(len(all)) {
				c.finishOperation(k, k.requests[all[i]], statusOf(e.Out("array_of_statuses"), n))
			}
		}
	case "MPI_Waitall", "MPI_Testall":
		if e.name == "MPI_Testall" && e.Out("flag").Int() == 0 {
			return
		}
		for i, h := range all {
			c.finish(k, e, h, statusOf(e.Out("array_of_statuses"), i))
		}
	case "MPI_Waitany", "MPI_Testany":
		if i := e.Out("index"); i.HasValue() && i.Int() >= 0 && i.Int() < int64(len(all)) {
			c.finish(k, e, all[i.Int()], statusOf(e.Out("status"), 0))
		}
	case "MPI_Waitsome", "MPI_Testsome":
		for n, i := range e.Out("array_of_indices").Words {
			if i < uint64(len(all)) {
				c.finish(k, e, all[i], statusOf(e.Out("array_of_statuses"), n))
			}
		}
	}
}
