package main

import "C"

import (
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
)

// Attached buffers (MPI-5.0 3.6).

// onBuffer does what all calls on an attached buffer do around their own work f: of is a communicator's, or with h nil
// the process'.
func onBuffer(function string, h *uintptr, f func(e *p2p.Engine, of p2p.BufferOf) error) int32 {
	if h != nil {
		return onComm(function, *h,
			func(c *comm.Comm) error { return f(core.Self().Messages, p2p.BufferOf{Comm: c}) })
	}
	return alone(function, func() error {
		if err := needRunning(); err != nil {
			return err
		}
		return f(core.Self().Messages, p2p.BufferOf{})
	})
}

func attachBuffer(function string, h *uintptr, buffer uintptr, size int64) int32 {
	return onBuffer(function, h, func(e *p2p.Engine, of p2p.BufferOf) error {
		if buffer == 0 && size > 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "a buffer of %d bytes at a null address", size)
		}
		return e.Attach(of, buffer, size)
	})
}

// detachBuffer stores address and size of the buffer; the size as an int, or with large as an MPI_Count.
func detachBuffer(function string, h *uintptr, bufferAddr, size uintptr, large bool) int32 {
	return onBuffer(function, h, func(e *p2p.Engine, of p2p.BufferOf) error {
		if err := null(bufferAddr, size); err != nil {
			return err
		}
		addr, n, err := e.Detach(of)
		if err != nil {
			return err
		}
		*out[uintptr](bufferAddr) = addr
		switch {
		case large:
			*out[int64](size) = n
		case n > 1<<31-1:
			*out[int32](size) = abi.MPI_UNDEFINED
		default:
			*out[int32](size) = int32(n)
		}
		return nil
	})
}

func flushBuffer(function string, h *uintptr) int32 {
	return onBuffer(function, h, func(e *p2p.Engine, of p2p.BufferOf) error { return e.Flush(of) })
}

func iflushBuffer(function string, h *uintptr, at uintptr) int32 {
	return onBuffer(function, h, func(e *p2p.Engine, of p2p.BufferOf) error {
		if err := null(at); err != nil {
			return err
		}
		return storeRequest(e.Iflush(of), at)
	})
}

//export gompi_buffer_attach_c
func gompi_buffer_attach_c(buffer uintptr, size int64) int32 {
	return attachBuffer("MPI_Buffer_attach", nil, buffer, size)
}

//export gompi_buffer_detach
func gompi_buffer_detach(bufferAddr, size uintptr) int32 {
	return detachBuffer("MPI_Buffer_detach", nil, bufferAddr, size, false)
}

//export gompi_buffer_detach_c
func gompi_buffer_detach_c(bufferAddr, size uintptr) int32 {
	return detachBuffer("MPI_Buffer_detach", nil, bufferAddr, size, true)
}

//export gompi_buffer_flush
func gompi_buffer_flush() int32 { return flushBuffer("MPI_Buffer_flush", nil) }

//export gompi_buffer_iflush
func gompi_buffer_iflush(request uintptr) int32 {
	return iflushBuffer("MPI_Buffer_iflush", nil, request)
}

//export gompi_comm_attach_buffer_c
func gompi_comm_attach_buffer_c(comm, buffer uintptr, size int64) int32 {
	return attachBuffer("MPI_Comm_attach_buffer", &comm, buffer, size)
}

//export gompi_comm_detach_buffer
func gompi_comm_detach_buffer(comm, bufferAddr, size uintptr) int32 {
	return detachBuffer("MPI_Comm_detach_buffer", &comm, bufferAddr, size, false)
}

//export gompi_comm_detach_buffer_c
func gompi_comm_detach_buffer_c(comm, bufferAddr, size uintptr) int32 {
	return detachBuffer("MPI_Comm_detach_buffer", &comm, bufferAddr, size, true)
}

//export gompi_comm_flush_buffer
func gompi_comm_flush_buffer(comm uintptr) int32 { return flushBuffer("MPI_Comm_flush_buffer", &comm) }

//export gompi_comm_iflush_buffer
func gompi_comm_iflush_buffer(comm, request uintptr) int32 {
	return iflushBuffer("MPI_Comm_iflush_buffer", &comm, request)
}
