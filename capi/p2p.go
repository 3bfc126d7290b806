package main

import "C"

import (
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/handle"
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
func outgoing(buf uintptr, count int64, typ uintptr, dest, tag int32,
	h uintptr) (c *comm.Comm, b p2p.Buffer, err error) {
	if c, err = commOf(h); err != nil {
		return
	}
	if err = rankError(c, "dest", dest, false); err != nil {
		return
	}
	if err = tagError(tag, false); err != nil {
		return
	}
	b, err = bufferAt(buf, count, typ, dest)
	return
}

// incoming checks the arguments of a receive.
func incoming(buf uintptr, count int64, typ uintptr, source, tag int32,
	h uintptr) (c *comm.Comm, b p2p.Buffer, err error) {
	if c, err = commOf(h); err != nil {
		return
	}
	if err = rankError(c, "source", source, true); err != nil {
		return
	}
	if err = tagError(tag, true); err != nil {
		return
	}
	b, err = bufferAt(buf, count, typ, source)
	return
}

// raise reports the error of a call on a communicator, which may not exist.
func raise(function string, h uintptr, err error) int32 {
	if err == nil {
		return abi.MPI_SUCCESS
	}
	if !core.Running() || lookupComm(h) == nil {
		return finish(function, 0, 0, err)
	}
	return finish(function, handle.Comm, h, err)
}

// Buffered sends: the others are C's (capi/message/send_calls.c).

//export gompi_bsend_c
func gompi_bsend_c(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm_ uintptr) (rc int32) {
	defer guard("MPI_Bsend", handle.Comm, comm_, &rc)
	c, b, err := outgoing(buf, count, datatype, dest, tag, comm_)
	if err == nil {
		err = core.Self().Messages.Send(c, comm.PointToPoint, b, int(dest), tag, p2p.Buffered)
	}
	return raise("MPI_Bsend", comm_, err)
}

// makeBuffered makes the request of a buffered send and stores a handle of it.
func makeBuffered(function string, buf uintptr, count int64, typ uintptr, dest, tag int32, h, at uintptr,
	make func(e *p2p.Engine, c *comm.Comm, b p2p.Buffer) (*request.Request, error)) (rc int32) {
	defer guard(function, handle.Comm, h, &rc)
	c, b, err := outgoing(buf, count, typ, dest, tag, h)
	if err == nil {
		err = null(at)
	}
	if err == nil {
		var r *request.Request
		if r, err = make(core.Self().Messages, c, b); err == nil {
			err = storeRequest(r, at)
		}
	}
	return raise(function, h, err)
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

// replacing checks the arguments of an exchange within one buffer, and returns a copy of what is to be sent.
func replacing(buf uintptr, count int64, typ uintptr, dest, sendtag, source, recvtag int32,
	h uintptr) (c *comm.Comm, from, to p2p.Buffer, err error) {
	if c, from, err = outgoing(buf, count, typ, dest, sendtag, h); err == nil {
		if _, to, err = incoming(buf, count, typ, source, recvtag, h); err == nil {
			from, err = from.Copy()
		}
	}
	return
}

//export gompi_isendrecv_c
func gompi_isendrecv_c(sendbuf uintptr, sendcount int64, sendtype uintptr, dest, sendtag int32, recvbuf uintptr,
	recvcount int64, recvtype uintptr,
	source, recvtag int32, comm_, at uintptr) (rc int32) {
	defer guard("MPI_Isendrecv", handle.Comm, comm_, &rc)
	_, from, err := outgoing(sendbuf, sendcount, sendtype, dest, sendtag, comm_)
	if err == nil {
		err = null(at) // before data are copied
	}
	if err == nil {
		var c *comm.Comm
		var to p2p.Buffer
		if c, to, err = incoming(recvbuf, recvcount, recvtype, source, recvtag, comm_); err == nil {
			if from, err = from.Apart(&to); err == nil {
				err = isendrecv(c, from, dest, sendtag, to, source, recvtag, at)
			}
		}
	}
	return raise("MPI_Isendrecv", comm_, err)
}

//export gompi_isendrecv_replace_c
func gompi_isendrecv_replace_c(buf uintptr, count int64, datatype uintptr, dest, sendtag, source, recvtag int32,
	comm_, at uintptr) (rc int32) {
	defer guard("MPI_Isendrecv_replace", handle.Comm, comm_, &rc)
	err := null(at) // before data are copied
	if err == nil {
		var c *comm.Comm
		var from, to p2p.Buffer
		if c, from, to, err = replacing(buf, count, datatype, dest, sendtag, source, recvtag,
			comm_); err == nil {
			err = isendrecv(c, from, dest, sendtag, to, source, recvtag, at)
		}
	}
	return raise("MPI_Isendrecv_replace", comm_, err)
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
