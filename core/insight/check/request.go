package check

import (
	"strings"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// request is a pending operation with a handle.
type request struct {
	site        *site // the call that made it
	meeting     *meeting
	send        *send
	synchronous bool // it is complete only after the receive has started
	standard    bool
	receive     *receive
	operation   *operation // operation on a window
	buffers     []*access  // in use until it is complete
	persistent  *persistent
	active      bool
}

// persistent describes the operation that each start of a request performs.
type persistent struct {
	event *event // the call that made it
	base  string // name of the collective; else ""
	// of the call that made a collective request; it matches the rounds, independently of the starts
	meeting *meeting
	partitioned
}

// begin records the request that a call has made. A handle is reused only after a long time, except that of requests
// that were complete at once. If those are not distinguished (capi/insight/requests.c), the latest one counts.
func (c *Checker) begin(k *rank, e *event, r *request) {
	h := e.Out("request")
	if !h.Given() {
		return
	}
	r.active, r.site = true, k.site(e)
	r.buffers, e.call.buffers = e.call.buffers, nil
	k.requests[h.Uint()] = r
}

// beginUnknown records the request of a nonblocking call of which only the buffers are known.
func (c *Checker) beginUnknown(k *rank, e *event) {
	if h := e.Out("request"); startsRequest(e) && k.requests[h.Uint()] == nil {
		c.begin(k, e, &request{})
	}
}

// startsRequest reports whether a call has started a nonblocking operation.
func startsRequest(e *event) bool {
	h := e.Out("request")
	return strings.HasPrefix(e.name, "MPI_I") && h.Given() && h.Item.Form == insight.List
}

// keep records a persistent request.
func (c *Checker) keep(k *rank, e *event) {
	made := *e
	made.Record = e.Clone()
	p := &persistent{event: &made, meeting: e.call.meeting}
	if base, _, is := collective(e.name); is {
		p.base = base
	}
	c.opens(k, p, e)
	k.requests[e.Out("request").Uint()] = &request{persistent: p, site: k.site(e)}
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
	m := k.comm(e.In("comm").Uint())
	if m == nil {
		return
	}
	c.endBuffers(k, r)
	r.active = true
	r.send, r.receive, r.meeting = nil, nil, nil
	switch {
	case r.persistent.base != "":
		if made := r.persistent.meeting; made != nil && !c.broken {
			if r.meeting = made.rounds.next(k.number, m); r.meeting != nil {
				c.enter(k, &e, r.meeting, r.persistent.base, nonblocking)
			}
		}
	case r.persistent.channel != nil:
		c.startPartitions(k, r, &e)
	case sends(e.name):
		r.send = c.message(k, &e, m, int(e.In("dest").Int()), int(e.In("tag").Int()))
		r.synchronous, r.standard = e.name == "MPI_Ssend", e.name == "MPI_Send"
	case receives(e.name):
		r.receive = c.expects(k, &e, m, int(e.In("source").Int()), int(e.In("tag").Int()))
	}
	if r.send != nil {
		caller.call.sent = append(caller.call.sent, r.send)
	}
	if c.follow == nil {
		c.enterBuffers(k, &e, true)
	}
	r.buffers = e.call.buffers
}

// endBuffers ends the use of a request's buffers.
func (c *Checker) endBuffers(k *rank, r *request) {
	for _, a := range r.buffers {
		c.endAccess(a, k.now())
	}
	r.buffers = nil
}

// finish records that a request is complete and that the call has freed it.
func (c *Checker) finish(k *rank, e *event, h uint64, status *insight.Status) {
	r := k.requests[h]
	if r == nil {
		return
	}
	if waited := e.name == "MPI_Wait" || e.name == "MPI_Waitall"; waited && !e.Truncated && r.active {
		c.finishStrictly(k, e.Thread, r)
	}
	c.finishOperation(k, r, status)
	if r.persistent == nil {
		delete(k.requests, h)
		k.freed.add(object{"REQUEST", h}, k.site(e))
	}
}

// finishStrictly records the steps of a thread that has waited for a request.
func (c *Checker) finishStrictly(k *rank, thread int, r *request) {
	if r.standard && r.send != nil {
		c.strictly(k, thread, step{end: r.send})
	}
	if r.receive != nil {
		c.strictly(k, thread, step{received: r.receive})
	}
	if r.meeting != nil {
		c.strictly(k, thread, step{leave: r.meeting})
	}
}

// finishOperation records that the operation of a request is complete. A later call may still free the request.
func (c *Checker) finishOperation(k *rank, r *request, status *insight.Status) {
	if r == nil || !r.active {
		return
	}
	r.active = false
	if status != nil && status.Cancelled {
		c.cancelled(k, r)
	} else if r.receive != nil {
		from, tag := -1, 0
		if status != nil {
			from, tag = r.receive.comm.world(k, status.Source), status.Tag
		}
		c.received(r.receive.comm, k, r.receive, from, tag)
	}
	if r.synchronous && r.send != nil && r.send.receive != nil {
		k.current.await(r.send.receive.site.rank, r.send.receive.site.start)
		k.clock.join(r.send.receive.clock)
	}
	if r.meeting != nil {
		r.meeting.leave(k)
	}
	if r.persistent != nil && r.persistent.channel != nil {
		c.finishPartitions(k, r.persistent)
	}
	if r.operation != nil {
		c.requestDone(k, r.operation)
	}
	c.endBuffers(k, r)
}

// free records that MPI_Request_free has freed a request. The buffer of a send stays in use until the message is
// received. The sender must be ordered after the reception before it uses the buffer again.
func (c *Checker) free(k *rank, e *event, h uint64) {
	r := k.requests[h]
	if r == nil {
		return
	}
	delete(k.requests, h)
	k.freed.add(object{"REQUEST", h}, k.site(e))
	switch s := r.send; {
	case s == nil || !r.active:
		c.endBuffers(k, r)
	case s.arrived != moment{}:
		for _, a := range r.buffers {
			c.endAccess(a, s.arrived)
		}
	default:
		s.buffers = r.buffers
	}
}

// cancelled removes a cancelled message or receive. Its counterpart becomes available for other matches.
func (c *Checker) cancelled(k *rank, r *request) {
	if v := r.receive; v != nil && !c.broken {
		m := v.comm
		if s := v.send; !m.receives[k.number].remove(&v.waiter) && s != nil {
			v.send, s.receive = nil, nil
			m.post(k.number, s)
		}
	}
	if s := r.send; s != nil && !c.broken {
		m := s.comm
		if v := s.receive; !m.sends[s.to].remove(&s.waiter) && v != nil {
			v.send, s.receive = nil, nil
			m.expect(s.to, v)
		}
		s.free = true
		r.send = nil
	}
}

// finishAll treats all requests as complete. It serves calls with more requests than a record holds, of which an
// unknown subset is complete.
func (c *Checker) finishAll(k *rank, e *event) {
	for h, r := range k.requests {
		if r.active {
			c.finish(k, e, h, nil)
		}
	}
}

// statusOf returns one of the statuses that a call has returned; nil if there is none.
func statusOf(v *insight.Value, i int) *insight.Status {
	if v.Given() && i < v.Statuses() {
		s := v.Status(i)
		return &s
	}
	return nil
}

// completeFailed records the requests that a call has completed although it returns an error, for example a receive of
// a message that is too long. Such a request is MPI_REQUEST_NULL afterwards. A persistent request keeps its handle:
// MPI_Wait and MPI_Test have completed it, and MPI_Waitall has unless its status is MPI_ERR_PENDING. It is unknown
// which persistent requests MPI_Waitany and MPI_Testany have completed.
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
			c.endBuffers(k, r) // avoids false findings
		}
	}
}

// complete records the requests that a call has completed.
func (c *Checker) complete(k *rank, e *event) {
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
		c.free(k, e, e.In("request").Uint())
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
		if i := e.Out("index"); i.Given() && i.Int() >= 0 && i.Int() < int64(len(all)) {
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
