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

// Matched probes and receives (MPI-5.0 3.8.2, 3.8.3); the others are C's (capi/message/probe_calls.c).

// envelope checks the arguments of a probe, or of a receive.
func envelope(c *comm.Comm, source, tag int32) error {
	if err := rankError(c, "source", source, true); err != nil {
		return err
	}
	return tagError(tag, true)
}

// storeMessage stores a handle of a message that a probe has taken out.
func storeMessage(m *p2p.Message, at uintptr) error {
	if m == p2p.NoProc {
		*out[uintptr](at) = abi.MPI_MESSAGE_NO_PROC
		return nil
	}
	h, ok := p2p.Messages.Add(m)
	if !ok {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "%d messages exist already", p2p.Messages.Most())
	}
	*out[uintptr](at) = h
	return nil
}

//export gompi_mprobe
func gompi_mprobe(source, tag int32, h, message, status uintptr) int32 {
	return onComm("MPI_Mprobe", h, func(c *comm.Comm) error {
		err := envelope(c, source, tag)
		if err == nil {
			err = null(message)
		}
		if err != nil {
			return err
		}
		var st request.Status
		m, err := core.Self().Messages.Mprobe(c, comm.PointToPoint, int(source), tag, &st)
		if err == nil {
			err = storeMessage(m, message)
		}
		if err == nil {
			st.Store(status)
		}
		return err
	})
}

//export gompi_improbe
func gompi_improbe(source, tag int32, h, flag, message, status uintptr) int32 {
	return onComm("MPI_Improbe", h, func(c *comm.Comm) error {
		err := envelope(c, source, tag)
		if err == nil {
			err = null(flag, message)
		}
		if err != nil {
			return err
		}
		var st request.Status
		m := core.Self().Messages.Improbe(c, comm.PointToPoint, int(source), tag, &st)
		if m == nil {
			polled()
		} else if err = storeMessage(m, message); err == nil {
			st.Store(status)
		}
		putFlag(flag, m != nil && err == nil)
		return err
	})
}

// matched checks the arguments of a matched receive and takes the message's handle away.
func matched(buf uintptr, count int64, typ, message uintptr) (p2p.Buffer, *p2p.Message, error) {
	err := needRunning()
	if err == nil {
		err = null(message)
	}
	if err != nil {
		return p2p.Buffer{}, nil, err
	}
	h := out[uintptr](message)
	m := p2p.NoProc
	partner := int32(abi.MPI_PROC_NULL)
	if *h != abi.MPI_MESSAGE_NO_PROC {
		partner = 0
		if m = p2p.Messages.Get(*h); m == nil {
			return p2p.Buffer{}, nil, mpierr.New(abi.MPI_ERR_REQUEST,
				"%#x is no message, or one that was received", *h)
		}
	}
	b, err := bufferAt(buf, count, typ, partner)
	if err != nil {
		return p2p.Buffer{}, m, err
	}
	if m != p2p.NoProc && p2p.Messages.Remove(*h) == nil {
		return p2p.Buffer{}, nil, mpierr.New(abi.MPI_ERR_REQUEST, "%#x is no message, or one that was received",
			*h)
	}
	*h = abi.MPI_MESSAGE_NULL
	return b, m, nil
}

// raiseOnMessage reports the error of a call on a message, on the communicator that it came on.
func raiseOnMessage(function string, m *p2p.Message, err error) int32 {
	if m != nil && m.Comm() != nil {
		return finish(function, handle.Comm, m.Comm().Handle, err)
	}
	return finish(function, 0, 0, err)
}

//export gompi_mrecv_c
func gompi_mrecv_c(buf uintptr, count int64, datatype, message, status uintptr) (rc int32) {
	defer guard("MPI_Mrecv", 0, 0, &rc)
	b, m, err := matched(buf, count, datatype, message)
	if err != nil {
		return raiseOnMessage("MPI_Mrecv", m, err)
	}
	c := m.Comm()
	var st request.Status
	if err = core.Self().Messages.Mrecv(b, m, &st); err == nil || mpierr.ClassOf(err) == abi.MPI_ERR_TRUNCATE {
		st.Store(status)
	}
	if c == nil {
		return finish("MPI_Mrecv", 0, 0, err)
	}
	return finish("MPI_Mrecv", handle.Comm, c.Handle, err)
}

//export gompi_imrecv_c
func gompi_imrecv_c(buf uintptr, count int64, datatype, message, at uintptr) (rc int32) {
	defer guard("MPI_Imrecv", 0, 0, &rc)
	if err := null(at); err != nil {
		return finish("MPI_Imrecv", 0, 0, err)
	}
	b, m, err := matched(buf, count, datatype, message)
	if err == nil {
		var r *request.Request
		if r, err = core.Self().Messages.Imrecv(b, m); err == nil {
			err = storeRequest(r, at)
			m = nil
		}
	}
	return raiseOnMessage("MPI_Imrecv", m, err)
}
