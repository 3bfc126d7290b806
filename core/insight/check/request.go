package check

import (
	"slices"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// request is something that has begun and is to be completed.
type request struct {
	site        *site // of the call that has made it
	meeting     *meeting
	send        *send
	synchronous bool // it is complete when the receive has begun
	receive     *receive
	operation   *operation // on a window
	buffers     []*access  // in use until it is complete
	persistent  *persistent
	active      bool
}

// persistent is what a request does each time that it is started.
type persistent struct {
	event   *event   // of the call that made it
	base    string   // of a collective
	meeting *meeting // of the call that made a collective one: its rounds are matched by that, not by their starts
	partitioned
}

// begin notes the request that a call has made.
func (c *Checker) begin(k *rank, e *event, r *request) {
	h := e.Out("request")
	if !h.Given() {
		return
	}
	r.active, r.site = true, k.site(e)
	delete(k.freed, object{"REQUEST", h.Uint()})
	r.buffers, e.call.buffers = e.call.buffers, nil
	if c.broken { // what the handle stood for may be long over
		k.requests[h.Uint()] = nil
	}
	k.requests[h.Uint()] = append(k.requests[h.Uint()], r)
}

// keep notes a persistent request.
func (c *Checker) keep(k *rank, e *event) {
	made := *e
	made.Record = e.Clone()
	p := &persistent{event: &made, meeting: e.call.meeting}
	if base, _, is := collective(e.name); is {
		p.base = base
	}
	c.opens(k, p, e)
	k.requests[e.Out("request").Uint()] = []*request{{persistent: p, site: k.site(e)}}
}

// start begins what a persistent request does.
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
		r.synchronous = e.name == "MPI_Ssend"
	case receives(e.name):
		r.receive = c.expects(k, &e, m, int(e.In("source").Int()), int(e.In("tag").Int()))
	}
	if r.send != nil {
		caller.call.sent = append(caller.call.sent, r.send)
	}
	if c.follow == nil {
		c.enterBuffers(k, &e)
	}
	r.buffers = e.call.buffers
}

// finish notes that a request is complete.
func (c *Checker) finish(k *rank, e *event, h uint64, status *insight.Status) {
	all := k.requests[h]
	// Of several with one handle another thread's may have begun before this one's: it got the handle later.
	i := max(0, slices.IndexFunc(all, func(r *request) bool { return r.site != nil && r.site.thread == e.Thread }))
	if len(all) == 0 || !all[i].active {
		return
	}
	r := all[i]
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
	for _, a := range r.buffers {
		c.endAccess(a, k.now())
	}
	r.buffers = nil
	if r.persistent == nil {
		k.freed[object{"REQUEST", h}] = k.site(e)
		if k.requests[h] = slices.Delete(all, i, i+1); len(all) == 1 {
			delete(k.requests, h)
		}
	}
}

// cancelled takes back a message, or a receive, which has not been: what was given to it is there for others.
func (c *Checker) cancelled(k *rank, r *request) {
	if v := r.receive; v != nil && !c.broken {
		m := v.comm
		if i := slices.Index(m.receives[k.number], v); i >= 0 {
			m.receives[k.number] = slices.Delete(m.receives[k.number], i, i+1)
		} else if s := v.send; s != nil {
			v.send, s.receive = nil, nil
			m.post(k.number, s)
		}
	}
	if s := r.send; s != nil && !c.broken {
		m := s.comm
		if i := slices.Index(m.sends[s.to], s); i >= 0 {
			m.sends[s.to] = slices.Delete(m.sends[s.to], i, i+1)
		} else if v := s.receive; v != nil {
			v.send, s.receive = nil, nil
			m.expect(s.to, v)
		}
		r.send = nil
	}
}

// finishAll takes all requests for complete: a call with more of them than are recorded has completed some.
func (c *Checker) finishAll(k *rank, e *event) {
	for h, some := range k.requests {
		for _, r := range slices.Clone(some) {
			if r.active {
				c.finish(k, e, h, nil)
			}
		}
	}
}

// statusOf returns one of the statuses that a call has given; nil: it has not.
func statusOf(v *insight.Value, i int) *insight.Status {
	if v.Given() && i < v.Statuses() {
		s := v.Status(i)
		return &s
	}
	return nil
}

// completeFailed notes the requests that a call has completed although it returns an error, such as a receive of a
// message that is too long. Such a request is MPI_REQUEST_NULL afterwards. A persistent one keeps its handle: MPI_Wait and
// MPI_Test have completed it, MPI_Waitall has unless its status says that it is pending. Of the calls for any of several
// it is not known.
func (c *Checker) completeFailed(k *rank, e *event) {
	h, after := e.In("array_of_requests").Words, e.Out("array_of_requests").Words
	if len(h) == 0 {
		h, after = e.In("request").Words, e.Out("request").Words
	}
	for i := range min(len(h), len(after)) {
		all := k.requests[h[i]]
		if len(all) == 0 || after[i] != abi.MPI_REQUEST_NULL && all[0].persistent == nil {
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
		}
	}
}

// complete looks which requests a call has completed.
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
		delete(k.requests, e.In("request").Uint())
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
