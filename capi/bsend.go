package main

import "C"

import (
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
)

// Attached buffers (MPI-5.0 3.6).

// bufferOf returns where the buffer of a communicator belongs, of none the process'.
func bufferOf(h *uintptr) (p2p.BufferOf, error) {
	if err := needRunning(); err != nil || h == nil {
		return p2p.BufferOf{}, err
	}
	c, err := commOf(*h)
	return p2p.BufferOf{Comm: c}, err
}

func raiseOn(function string, h *uintptr, err error) int32 {
	if h != nil {
		return raise(function, *h, err)
	}
	return finish(function, 0, 0, err)
}

func attachBuffer(function string, h *uintptr, buffer uintptr, size int64) (rc int32) {
	defer guard(function, 0, 0, &rc)
	of, err := bufferOf(h)
	if err == nil && buffer == 0 && size > 0 {
		err = mpierr.New(abi.MPI_ERR_ARG, "a buffer of %d bytes at a null address", size)
	}
	if err == nil {
		err = core.Self().Messages.Attach(of, buffer, size)
	}
	return raiseOn(function, h, err)
}

// detachBuffer stores address and size of the buffer; the size as an int, or with large as an MPI_Count.
func detachBuffer(function string, h *uintptr, bufferAddr, size uintptr, large bool) (rc int32) {
	defer guard(function, 0, 0, &rc)
	of, err := bufferOf(h)
	if err == nil {
		err = null(bufferAddr, size)
	}
	if err == nil {
		var addr uintptr
		var n int64
		if addr, n, err = core.Self().Messages.Detach(of); err == nil {
			*out[uintptr](bufferAddr) = addr
			switch {
			case large:
				*out[int64](size) = n
			case n > 1<<31-1:
				*out[int32](size) = abi.MPI_UNDEFINED
			default:
				*out[int32](size) = int32(n)
			}
		}
	}
	return raiseOn(function, h, err)
}

func flushBuffer(function string, h *uintptr) (rc int32) {
	defer guard(function, 0, 0, &rc)
	of, err := bufferOf(h)
	if err == nil {
		err = core.Self().Messages.Flush(of)
	}
	return raiseOn(function, h, err)
}

func iflushBuffer(function string, h *uintptr, at uintptr) (rc int32) {
	defer guard(function, 0, 0, &rc)
	of, err := bufferOf(h)
	if err == nil {
		err = null(at)
	}
	if err == nil {
		err = storeRequest(core.Self().Messages.Iflush(of), at)
	}
	return raiseOn(function, h, err)
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
