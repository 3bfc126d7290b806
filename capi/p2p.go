package main

import "C"

import (
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/request"
)

// Point-to-point messages (MPI-5.0 chapter 3). The small-count functions are the entry points' calls of these with
// their counts widened.

// tagError returns an error if tag is not one that a message can have; any allows MPI_ANY_TAG.
func tagError(tag int32, any bool) error {
	if tag >= 0 || any && tag == abi.MPI_ANY_TAG {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_TAG, "tag is %d: it must be from 0 to %d", tag, p2p.TagUB)
}

// rankError returns an error if rank is not one that a message on c can go to or, with any, come from.
func rankError(c *comm.Comm, what string, rank int32, any bool) error {
	if rank >= 0 && int(rank) < c.RemoteSize() || rank == abi.MPI_PROC_NULL || any && rank == abi.MPI_ANY_SOURCE {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_RANK, "%s is %d: the communicator has %d processes to exchange messages with",
		what, rank, c.RemoteSize())
}

// envelope checks the arguments of a probe, or of a receive.
func envelope(c *comm.Comm, source, tag int32) error {
	if err := rankError(c, "source", source, true); err != nil {
		return err
	}
	return tagError(tag, true)
}

// bufferAt checks the triple of address, count and datatype. Nothing is at the address if the partner is MPI_PROC_NULL.
func bufferAt(buf uintptr, count int64, typ uintptr, partner int32) (p2p.Buffer, error) {
	t, err := datatype.GetFor(typ, count)
	if err != nil {
		return p2p.Buffer{}, err
	}
	if partner == abi.MPI_PROC_NULL && count >= 0 {
		return p2p.Buffer{}, nil
	}
	return p2p.Typed(buf, count, t)
}

// outgoing checks the arguments of a send.
func outgoing(c *comm.Comm, buf uintptr, count int64, typ uintptr, dest, tag int32) (b p2p.Buffer, err error) {
	if err = rankError(c, "dest", dest, false); err == nil {
		err = tagError(tag, false)
	}
	if err == nil {
		b, err = bufferAt(buf, count, typ, dest)
	}
	return b, err
}

// incoming checks the arguments of a receive.
func incoming(c *comm.Comm, buf uintptr, count int64, typ uintptr, source, tag int32) (b p2p.Buffer, err error) {
	if err = envelope(c, source, tag); err == nil {
		b, err = bufferAt(buf, count, typ, source)
	}
	return b, err
}

// Buffered sends: the others are C's (capi/message/send_calls.c).

//export gompi_bsend_c
func gompi_bsend_c(buf uintptr, count int64, datatype uintptr, dest, tag int32, h uintptr) int32 {
	return onComm("MPI_Bsend", h, func(c *comm.Comm) error {
		b, err := outgoing(c, buf, count, datatype, dest, tag)
		if err == nil {
			err = core.Self().Messages.Send(c, comm.PointToPoint, b, int(dest), tag, p2p.Buffered)
		}
		return err
	})
}

// makeBuffered makes the request of a buffered send and stores a handle of it.
func makeBuffered(function string, buf uintptr, count int64, typ uintptr, dest, tag int32, h, at uintptr,
	make func(e *p2p.Engine, c *comm.Comm, b p2p.Buffer) (*request.Request, error)) int32 {
	return onComm(function, h, func(c *comm.Comm) error {
		b, err := outgoing(c, buf, count, typ, dest, tag)
		if err == nil {
			err = null(at)
		}
		if err != nil {
			return err
		}
		r, err := make(core.Self().Messages, c, b)
		if err != nil {
			return err
		}
		return storeRequest(r, at)
	})
}

//export gompi_ibsend_c
func gompi_ibsend_c(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm_, request_ uintptr) int32 {
	return makeBuffered("MPI_Ibsend", buf, count, datatype, dest, tag, comm_, request_,
		func(e *p2p.Engine, c *comm.Comm, b p2p.Buffer) (*request.Request, error) {
			return e.Isend(c, comm.PointToPoint, b, int(dest), tag, p2p.Buffered)
		})
}

//export gompi_bsend_init_c
func gompi_bsend_init_c(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm_, request_ uintptr) int32 {
	return makeBuffered("MPI_Bsend_init", buf, count, datatype, dest, tag, comm_, request_,
		func(e *p2p.Engine, c *comm.Comm, b p2p.Buffer) (*request.Request, error) {
			return e.Persist(request.Send, c, comm.PointToPoint, b, int(dest), tag, p2p.Buffered)
		})
}

//export gompi_isendrecv_c
func gompi_isendrecv_c(sendbuf uintptr, sendcount int64, sendtype uintptr, dest, sendtag int32, recvbuf uintptr,
	recvcount int64, recvtype uintptr, source, recvtag int32, h, at uintptr) int32 {
	return onComm("MPI_Isendrecv", h, func(c *comm.Comm) error {
		from, err := outgoing(c, sendbuf, sendcount, sendtype, dest, sendtag)
		if err == nil {
			err = null(at) // before data are copied
		}
		if err != nil {
			return err
		}
		to, err := incoming(c, recvbuf, recvcount, recvtype, source, recvtag)
		if err == nil {
			from, err = from.Apart(&to)
		}
		if err != nil {
			return err
		}
		return isendrecv(c, from, dest, sendtag, to, source, recvtag, at)
	})
}

//export gompi_isendrecv_replace_c
func gompi_isendrecv_replace_c(buf uintptr, count int64, datatype uintptr, dest, sendtag, source, recvtag int32,
	h, at uintptr) int32 {
	return onComm("MPI_Isendrecv_replace", h, func(c *comm.Comm) error {
		if err := null(at); err != nil { // before data are copied
			return err
		}
		from, err := outgoing(c, buf, count, datatype, dest, sendtag)
		if err != nil {
			return err
		}
		to, err := incoming(c, buf, count, datatype, source, recvtag)
		if err == nil {
			from, err = from.Copy()
		}
		if err != nil {
			return err
		}
		return isendrecv(c, from, dest, sendtag, to, source, recvtag, at)
	})
}

func isendrecv(c *comm.Comm, from p2p.Buffer, dest, sendtag int32, to p2p.Buffer, source, recvtag int32,
	at uintptr) error {
	r, err := core.Self().Messages.Isendrecv(c, comm.PointToPoint, from, int(dest), sendtag, to, int(source),
		recvtag)
	if err != nil {
		return err
	}
	return storeRequest(r, at)
}
