package p2p

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/request"
)

// Send sends a message (MPI-5.0 3.2, 3.4). It returns when the buffer may be used again, in Synchronous mode when the
// receive has begun. dest is a rank of c.Peers() or MPI_PROC_NULL; the caller has validated it and the tag. A message
// of up to 16 KiB costs one record and does not wait for the receiver while its ring has space.
func (e *Engine) Send(c *comm.Comm, x comm.Context, b Buffer, dest int, tag int32, mode Mode) error {
	if dest == abi.MPI_PROC_NULL {
		return nil
	}
	m := e.sendOperation(c, x, &b, int32(dest), tag, mode)
	return e.runBlocking(&m, c, &b, nil)
}

// Isend starts a send. It returns request.Completed if the buffer may be used again already. The caller has validated
// the arguments, so the only possible error is MPI_ERR_NO_MEM.
func (e *Engine) Isend(c *comm.Comm, x comm.Context, b Buffer, dest int, tag int32,
	mode Mode) (*request.Request, error) {
	if dest == abi.MPI_PROC_NULL {
		return request.Completed, nil
	}
	o, err := e.begin(e.sendOperation(c, x, &b, int32(dest), tag, mode), &b)
	if o == nil {
		return request.Completed, err
	}
	o.Owner = c
	return &o.Request, nil
}

// Recv receives a message into b (MPI-5.0 3.2.4) and returns when it has arrived. source is a rank of c.Peers(),
// MPI_ANY_SOURCE or MPI_PROC_NULL; the caller has validated it and the tag. st may be nil. MPI_ERR_TRUNCATE if the
// message is longer than b; b then holds its beginning.
func (e *Engine) Recv(c *comm.Comm, x comm.Context, b Buffer, source int, tag int32, st *request.Status) error {
	if source == abi.MPI_PROC_NULL {
		if st != nil {
			*st = request.ProcNull
		}
		return nil
	}
	m := e.newOperation(c, x, &b, int32(source), tag)
	m.Receive = true
	return e.runBlocking(&m, c, &b, st)
}

// procNullRecv is a receive from MPI_PROC_NULL.
type procNullRecv struct {
	request.Request
	request.None
}

// Cancel implements request.Operation. It does nothing, since the receive is complete.
func (*procNullRecv) Cancel() error { return nil }

// Irecv starts a receive.
func (e *Engine) Irecv(c *comm.Comm, x comm.Context, b Buffer, source int, tag int32) (*request.Request, error) {
	if source == abi.MPI_PROC_NULL {
		r := &procNullRecv{}
		r.Kind, r.Op, r.Owner, r.Status = request.Receive, r, c, request.ProcNull
		r.Complete()
		return &r.Request, nil
	}
	m := e.newOperation(c, x, &b, int32(source), tag)
	m.Receive = true
	o, err := e.begin(m, &b)
	if err != nil {
		return nil, err
	}
	o.Owner = c
	return &o.Request, nil
}
