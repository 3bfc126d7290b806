package main

import "C"

import (
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/request"
)

// Requests of all kinds (MPI-5.0 3.7): completion, enquiry, persistent starts, cancellation. Errors are raised on what
// the request was made on. The calls are C's (capi/message/wait_calls.c), which does those for requests of messages and
// hands on the others: gompi_other_wait and its relatives.

// requestOf returns the request behind a handle, nil for MPI_REQUEST_NULL. MPI_ERR_REQUEST: there is none.
func requestOf(h uintptr) (*request.Request, error) {
	switch h {
	case abi.MPI_REQUEST_NULL:
		return nil, nil
	case request.Done:
		return request.Completed, nil
	}
	if r := request.Handles.Get(h); r != nil {
		return r, nil
	}
	if p := core.Self(); p != nil {
		if r, on := p.Messages.RequestOf(h); r != nil {
			if c := lookupComm(on); c != nil {
				r.Owner = c
			}
			return r, nil
		}
	}
	return nil, mpierr.New(abi.MPI_ERR_REQUEST, "%#x is no request, or one that was completed or freed", h)
}

// storeRequest stores a handle of r at an address. MPI_ERR_NO_MEM: too many are live.
func storeRequest(r *request.Request, at uintptr) error {
	if r == request.Completed {
		*out[uintptr](at) = request.Done
		return nil
	}
	h, ok := p2p.HandleOf(r)
	if !ok {
		h, ok = request.Handles.Add(r)
	}
	if !ok || h == 0 {
		r.Free()
		return mpierr.New(abi.MPI_ERR_NO_MEM, "%d requests exist already", request.Handles.Most())
	}
	*out[uintptr](at) = h
	return nil
}

// ownerOf returns the object that errors of r are raised on.
func ownerOf(r *request.Request) (handle.Kind, uintptr) {
	if r != nil {
		if c, ok := r.Owner.(*comm.Comm); ok {
			return handle.Comm, c.Handle
		}
	}
	return 0, 0
}

// finishRequest does what a call that completes a request does with it and its handle, and returns its status and its
// error.
func finishRequest(r *request.Request, h *uintptr) (st request.Status, err error) {
	if !r.Persistent {
		request.Handles.Remove(*h)
		*h = abi.MPI_REQUEST_NULL
	}
	_, err = r.Finish(&st)
	st.Error = mpierr.ClassOf(err)
	return st, err
}

// idle returns whether a request has nothing to complete: then its status is empty.
func idle(r *request.Request) bool { return r == nil || r.Inactive() }

// single returns the request at an address.
func single(at uintptr) (*request.Request, *uintptr, error) {
	if err := needRunning(); err != nil {
		return nil, nil, err
	}
	if err := null(at); err != nil {
		return nil, nil, err
	}
	h := out[uintptr](at)
	r, err := requestOf(*h)
	return r, h, err
}

//export gompi_other_wait
func gompi_other_wait(at, status uintptr) (rc int32) {
	defer guard("MPI_Wait", 0, 0, &rc)
	r, h, err := single(at)
	if err != nil {
		return finish("MPI_Wait", 0, 0, err)
	}
	if idle(r) {
		request.StoreEmpty(status)
		return abi.MPI_SUCCESS
	}
	kind, on := ownerOf(r)
	if err = core.Self().Messages.Await(r); err == nil {
		var st request.Status
		st, err = finishRequest(r, h)
		st.Store(status)
	}
	return finish("MPI_Wait", kind, on, err)
}

//export gompi_other_test
func gompi_other_test(at, flag, status uintptr) (rc int32) {
	defer guard("MPI_Test", 0, 0, &rc)
	r, h, err := single(at)
	if err == nil {
		err = null(flag)
	}
	if err != nil {
		return finish("MPI_Test", 0, 0, err)
	}
	if idle(r) {
		*out[int32](flag) = 1
		request.StoreEmpty(status)
		return abi.MPI_SUCCESS
	}
	if !r.IsComplete() {
		core.Self().Messages.Progress()
	}
	if !r.IsComplete() {
		*out[int32](flag) = 0
		polled()
		return abi.MPI_SUCCESS
	}
	kind, on := ownerOf(r)
	st, err := finishRequest(r, h)
	*out[int32](flag) = 1
	st.Store(status)
	return finish("MPI_Test", kind, on, err)
}

// several is the arguments of a call on an array of requests.
type several struct {
	function string
	handles  []uintptr
	requests []*request.Request
	statuses uintptr // MPI_STATUSES_IGNORE: 0
	few      [16]*request.Request
	messages *p2p.Engine
}

// open looks the requests up. MPI_ERR_COUNT, MPI_ERR_ARG, MPI_ERR_REQUEST: nothing has been changed.
func (s *several) open(count int32, at uintptr) error {
	if err := needRunning(); err != nil {
		return err
	}
	if count < 0 {
		return mpierr.New(abi.MPI_ERR_COUNT, "%d requests", count)
	}
	if count > 0 && at == 0 {
		return mpierr.New(abi.MPI_ERR_ARG, "the address of %d requests is NULL", count)
	}
	s.messages = core.Self().Messages
	handles, err := array[uintptr](at, int64(count))
	if err != nil {
		return err
	}
	s.handles = handles
	s.requests = s.few[:0]
	if int(count) > len(s.few) {
		s.requests = make([]*request.Request, 0, count)
	}
	for i, h := range s.handles {
		r, err := requestOf(h)
		if err != nil {
			return mpierr.Wrap(err, "request %d of %d", i, count)
		}
		s.requests = append(s.requests, r)
	}
	return nil
}

// status returns the address of status i, 0 if statuses are ignored.
func (s *several) status(i int) uintptr {
	if s.statuses == 0 {
		return 0
	}
	return s.statuses + uintptr(i)*request.StatusSize
}

// active returns the number of requests that can complete.
func (s *several) active() int {
	n := 0
	for _, r := range s.requests {
		if !idle(r) {
			n++
		}
	}
	return n
}

// complete returns whether all requests are complete or idle.
func (s *several) complete() bool {
	for _, r := range s.requests {
		if !idle(r) && !r.IsComplete() {
			return false
		}
	}
	return true
}

// first returns the first request that is complete, -1 if there is none.
func (s *several) first() int {
	for i, r := range s.requests {
		if r != nil && r.IsComplete() {
			return i
		}
	}
	return -1
}

// finishAll completes all requests that are and stores the status of each, at a place in the array that place returns.
// If one failed, every status has its error, MPI_ERR_PENDING for those that are not complete, and the call's is
// MPI_ERR_IN_STATUS (MPI-5.0 3.7.5).
func (s *several) finishAll(pending error) int32 {
	var failed error
	var kind handle.Kind
	var on uintptr
	var which int
	fail := func(i int, err error, k handle.Kind, o uintptr) {
		if failed == nil {
			failed, which, kind, on = err, i, k, o
		}
	}
	// Whether MPI_ERROR is to be stored is known only when all errors are.
	var few [16]request.Status
	sts := few[:0]
	if len(s.requests) > len(few) {
		sts = make([]request.Status, 0, len(s.requests))
	}
	for i, r := range s.requests {
		switch {
		case idle(r):
			request.StoreEmpty(s.status(i))
			sts = append(sts, request.Empty)
		case !r.IsComplete():
			k, o := ownerOf(r)
			st := request.Empty
			st.Error = abi.MPI_ERR_PENDING
			if failed == nil {
				st.Error = mpierr.ClassOf(pending)
			}
			sts = append(sts, st)
			fail(i, pending, k, o)
		default:
			k, o := ownerOf(r)
			st, err := finishRequest(r, &s.handles[i])
			sts = append(sts, st)
			if err != nil {
				fail(i, err, k, o)
			}
		}
	}
	for i := range sts {
		if failed != nil {
			sts[i].StoreAll(s.status(i))
		} else {
			sts[i].Store(s.status(i))
		}
	}
	if failed == nil {
		return abi.MPI_SUCCESS
	}
	return finish(s.function, kind, on, inStatus(failed, which, len(sts)))
}

func inStatus(err error, which, n int) error {
	return mpierr.New(abi.MPI_ERR_IN_STATUS, "request %d of %d: %v", which, n, err)
}

//export gompi_other_waitall
func gompi_other_waitall(count int32, requests, statuses uintptr) (rc int32) {
	defer guard("MPI_Waitall", 0, 0, &rc)
	s := several{function: "MPI_Waitall", statuses: statuses}
	if err := s.open(count, requests); err != nil {
		return finish("MPI_Waitall", 0, 0, err)
	}
	var pending error
	for _, r := range s.requests {
		if r != nil && pending == nil {
			pending = s.messages.Await(r)
		}
	}
	return s.finishAll(pending)
}

//export gompi_other_testall
func gompi_other_testall(count int32, requests, flag, statuses uintptr) (rc int32) {
	defer guard("MPI_Testall", 0, 0, &rc)
	s := several{function: "MPI_Testall", statuses: statuses}
	err := s.open(count, requests)
	if err == nil {
		err = null(flag)
	}
	if err != nil {
		return finish("MPI_Testall", 0, 0, err)
	}
	if !s.complete() {
		s.messages.Progress()
	}
	*out[int32](flag) = 0
	if !s.complete() {
		polled()
		return abi.MPI_SUCCESS
	}
	*out[int32](flag) = 1
	return s.finishAll(nil)
}

// finishOne completes request i and stores its index and status.
func (s *several) finishOne(i int, index, status uintptr) int32 {
	kind, on := ownerOf(s.requests[i])
	st, err := finishRequest(s.requests[i], &s.handles[i])
	*out[int32](index) = int32(i)
	st.Store(status)
	return finish(s.function, kind, on, err)
}

//export gompi_other_waitany
func gompi_other_waitany(count int32, requests, index, status uintptr) (rc int32) {
	defer guard("MPI_Waitany", 0, 0, &rc)
	s := several{function: "MPI_Waitany"}
	err := s.open(count, requests)
	if err == nil {
		err = null(index)
	}
	if err != nil {
		return finish("MPI_Waitany", 0, 0, err)
	}
	if s.active() == 0 {
		*out[int32](index) = abi.MPI_UNDEFINED
		request.StoreEmpty(status)
		return abi.MPI_SUCCESS
	}
	if err := s.messages.AwaitAny(func() bool { return s.first() >= 0 }); err != nil {
		return finish("MPI_Waitany", 0, 0, err)
	}
	return s.finishOne(s.first(), index, status)
}

//export gompi_other_testany
func gompi_other_testany(count int32, requests, index, flag, status uintptr) (rc int32) {
	defer guard("MPI_Testany", 0, 0, &rc)
	s := several{function: "MPI_Testany"}
	err := s.open(count, requests)
	if err == nil {
		err = null(index, flag)
	}
	if err != nil {
		return finish("MPI_Testany", 0, 0, err)
	}
	*out[int32](index) = abi.MPI_UNDEFINED
	if s.active() == 0 {
		*out[int32](flag) = 1
		request.StoreEmpty(status)
		return abi.MPI_SUCCESS
	}
	if s.first() < 0 {
		s.messages.Progress()
	}
	i := s.first()
	if i < 0 {
		*out[int32](flag) = 0
		polled()
		return abi.MPI_SUCCESS
	}
	*out[int32](flag) = 1
	return s.finishOne(i, index, status)
}

// finishSome completes all requests that are complete and stores their number, indices and statuses.
func (s *several) finishSome(outcount, indices uintptr) int32 {
	index := slice[int32](indices, len(s.requests))
	var failed error
	var kind handle.Kind
	var on uintptr
	var which int
	var few [16]request.Status
	sts := few[:0]
	for i, r := range s.requests {
		if r == nil || !r.IsComplete() {
			continue
		}
		k, o := ownerOf(r)
		st, err := finishRequest(r, &s.handles[i])
		if err != nil && failed == nil {
			failed, which, kind, on = err, i, k, o
		}
		index[len(sts)] = int32(i)
		sts = append(sts, st)
	}
	*out[int32](outcount) = int32(len(sts))
	for i := range sts {
		if failed != nil {
			sts[i].StoreAll(s.status(i))
		} else {
			sts[i].Store(s.status(i))
		}
	}
	if failed == nil {
		return abi.MPI_SUCCESS
	}
	return finish(s.function, kind, on, inStatus(failed, which, len(s.requests)))
}

// some is MPI_Waitsome and, without wait, MPI_Testsome.
func some(function string, wait bool, count int32, requests, outcount, indices, statuses uintptr) (rc int32) {
	defer guard(function, 0, 0, &rc)
	s := several{function: function, statuses: statuses}
	err := s.open(count, requests)
	if err == nil {
		err = null(outcount)
	}
	if err == nil && count > 0 {
		err = null(indices)
	}
	if err != nil {
		return finish(function, 0, 0, err)
	}
	if s.active() == 0 {
		*out[int32](outcount) = abi.MPI_UNDEFINED
		return abi.MPI_SUCCESS
	}
	if !wait {
		s.messages.Progress()
		if s.first() < 0 {
			polled()
		}
	} else if err := s.messages.AwaitAny(func() bool { return s.first() >= 0 }); err != nil {
		return finish(function, 0, 0, err)
	}
	return s.finishSome(outcount, indices)
}

//export gompi_other_waitsome
func gompi_other_waitsome(incount int32, requests, outcount, indices, statuses uintptr) int32 {
	return some("MPI_Waitsome", true, incount, requests, outcount, indices, statuses)
}

//export gompi_other_testsome
func gompi_other_testsome(incount int32, requests, outcount, indices, statuses uintptr) int32 {
	return some("MPI_Testsome", false, incount, requests, outcount, indices, statuses)
}

// look stores the status of a complete or idle request without completing it.
func look(r *request.Request, status uintptr) error {
	if idle(r) {
		request.StoreEmpty(status)
		return nil
	}
	st, err := r.Look()
	st.Store(status)
	return err
}

//export gompi_other_request_get_status
func gompi_other_request_get_status(handle, flag, status uintptr) (rc int32) {
	const function = "MPI_Request_get_status"
	defer guard(function, 0, 0, &rc)
	err := needRunning()
	if err == nil {
		err = null(flag)
	}
	var r *request.Request
	if err == nil {
		r, err = requestOf(handle)
	}
	if err != nil {
		return finish(function, 0, 0, err)
	}
	if !idle(r) && !r.IsComplete() {
		core.Self().Messages.Progress()
		if !r.IsComplete() {
			*out[int32](flag) = 0
			polled()
			return abi.MPI_SUCCESS
		}
	}
	*out[int32](flag) = 1
	kind, on := ownerOf(r)
	return finish(function, kind, on, look(r, status))
}

//export gompi_request_get_status_all
func gompi_request_get_status_all(count int32, requests, flag, statuses uintptr) (rc int32) {
	const function = "MPI_Request_get_status_all"
	defer guard(function, 0, 0, &rc)
	s := several{function: function, statuses: statuses}
	err := s.open(count, requests)
	if err == nil {
		err = null(flag)
	}
	if err != nil {
		return finish(function, 0, 0, err)
	}
	if !s.complete() {
		s.messages.Progress()
	}
	*out[int32](flag) = 0
	if !s.complete() {
		polled()
		return abi.MPI_SUCCESS
	}
	*out[int32](flag) = 1
	for i, r := range s.requests {
		if e := look(r, s.status(i)); e != nil && err == nil {
			err = e
		}
	}
	return finish(function, 0, 0, err)
}

//export gompi_request_get_status_any
func gompi_request_get_status_any(count int32, requests, index, flag, status uintptr) (rc int32) {
	const function = "MPI_Request_get_status_any"
	defer guard(function, 0, 0, &rc)
	s := several{function: function}
	err := s.open(count, requests)
	if err == nil {
		err = null(index, flag)
	}
	if err != nil {
		return finish(function, 0, 0, err)
	}
	*out[int32](index) = abi.MPI_UNDEFINED
	*out[int32](flag) = 1
	if s.active() == 0 {
		request.StoreEmpty(status)
		return abi.MPI_SUCCESS
	}
	if s.first() < 0 {
		s.messages.Progress()
	}
	i := s.first()
	if i < 0 {
		*out[int32](flag) = 0
		polled()
		return abi.MPI_SUCCESS
	}
	*out[int32](index) = int32(i)
	kind, on := ownerOf(s.requests[i])
	return finish(function, kind, on, look(s.requests[i], status))
}

//export gompi_request_get_status_some
func gompi_request_get_status_some(count int32, requests, outcount, indices, statuses uintptr) (rc int32) {
	const function = "MPI_Request_get_status_some"
	defer guard(function, 0, 0, &rc)
	s := several{function: function, statuses: statuses}
	err := s.open(count, requests)
	if err == nil {
		err = null(outcount)
	}
	if err == nil && count > 0 {
		err = null(indices)
	}
	if err != nil {
		return finish(function, 0, 0, err)
	}
	if s.active() == 0 {
		*out[int32](outcount) = abi.MPI_UNDEFINED
		return abi.MPI_SUCCESS
	}
	s.messages.Progress()
	index := slice[int32](indices, int(count))
	n := 0
	for i, r := range s.requests {
		if r == nil || !r.IsComplete() {
			continue
		}
		if e := look(r, s.status(n)); e != nil && err == nil {
			err = e
		}
		index[n] = int32(i)
		n++
	}
	*out[int32](outcount) = int32(n)
	if n == 0 {
		polled()
	}
	return finish(function, 0, 0, err)
}

//export gompi_other_request_free
func gompi_other_request_free(at uintptr) (rc int32) {
	defer guard("MPI_Request_free", 0, 0, &rc)
	r, h, err := single(at)
	if err == nil && r == nil {
		err = mpierr.New(abi.MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL")
	}
	if err != nil {
		return finish("MPI_Request_free", 0, 0, err)
	}
	kind, on := ownerOf(r)
	if r.Kind != request.Generalized || r.IsComplete() {
		request.Handles.Remove(*h)
	}
	*h = abi.MPI_REQUEST_NULL
	return finish("MPI_Request_free", kind, on, r.Free())
}

//export gompi_other_cancel
func gompi_other_cancel(at uintptr) (rc int32) {
	defer guard("MPI_Cancel", 0, 0, &rc)
	r, _, err := single(at)
	if err == nil && r == nil {
		err = mpierr.New(abi.MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL")
	}
	if err != nil {
		return finish("MPI_Cancel", 0, 0, err)
	}
	kind, on := ownerOf(r)
	if r.Op != nil {
		err = r.Op.Cancel()
	}
	return finish("MPI_Cancel", kind, on, err)
}

// startable returns an error if r cannot be started.
func startable(r *request.Request) error {
	switch {
	case r == nil:
		return mpierr.New(abi.MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL")
	case !r.Persistent:
		return mpierr.New(abi.MPI_ERR_REQUEST, "the request is not persistent: it cannot be started")
	case !r.Inactive():
		return mpierr.New(abi.MPI_ERR_REQUEST,
			"the persistent request is active: it must be completed before it is started again")
	}
	return nil
}

//export gompi_other_start
func gompi_other_start(at uintptr) (rc int32) {
	defer guard("MPI_Start", 0, 0, &rc)
	r, _, err := single(at)
	if err == nil {
		err = startable(r)
	}
	if err != nil {
		kind, on := ownerOf(r)
		return finish("MPI_Start", kind, on, err)
	}
	kind, on := ownerOf(r)
	return finish("MPI_Start", kind, on, r.Op.Start())
}

//export gompi_other_startall
func gompi_other_startall(count int32, requests uintptr) (rc int32) {
	defer guard("MPI_Startall", 0, 0, &rc)
	s := several{function: "MPI_Startall"}
	if err := s.open(count, requests); err != nil {
		return finish("MPI_Startall", 0, 0, err)
	}
	for i, r := range s.requests {
		if err := startable(r); err != nil {
			kind, on := ownerOf(r)
			return finish("MPI_Startall", kind, on, mpierr.Wrap(err, "request %d of %d", i, count))
		}
	}
	for i, r := range s.requests {
		if err := r.Op.Start(); err != nil {
			kind, on := ownerOf(r)
			return finish("MPI_Startall", kind, on, mpierr.Wrap(err, "request %d of %d", i, count))
		}
	}
	return abi.MPI_SUCCESS
}
