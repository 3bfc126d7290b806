package main

import "C"

import (
	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
	"gompirma/core/request"
)

// Partitioned messages (MPI-5.0 chapter 4).

// initPartitioned makes a request of partitions times count elements.
func initPartitioned(function string, buf uintptr, partitions int32, count int64, typ uintptr, peer, tag int32,
	h, info, at uintptr,
	make func(e *p2p.Engine, c *comm.Comm, b p2p.Buffer, parts, peer int, tag int32) (*request.Request,
		error)) int32 {
	return onComm(function, h, func(c *comm.Comm) error {
		if err := null(at); err != nil {
			return err
		}
		if _, err := infoLookup(info); err != nil {
			return err
		}
		if err := rankError(c, "the rank", peer, false); err != nil {
			return err
		}
		if err := tagError(tag, false); err != nil {
			return err
		}
		if partitions < 0 || count < 0 || partitions > 0 && count > 1<<62/int64(partitions) {
			return mpierr.New(abi.MPI_ERR_COUNT, "%d partitions of %d elements", partitions, count)
		}
		b, err := bufferAt(buf, count*int64(partitions), typ, peer)
		if err != nil {
			return err
		}
		r, err := make(core.Self().Messages, c, b, int(partitions), int(peer), tag)
		if err != nil {
			return err
		}
		return storeRequest(r, at)
	})
}

//export gompi_psend_init_c
func gompi_psend_init_c(buf uintptr, partitions int32, count int64, datatype uintptr, dest, tag int32,
	comm, info, request uintptr) int32 {
	return initPartitioned("MPI_Psend_init", buf, partitions, count, datatype, dest, tag, comm, info, request,
		(*p2p.Engine).PsendInit)
}

//export gompi_precv_init_c
func gompi_precv_init_c(buf uintptr, partitions int32, count int64, datatype uintptr, source, tag int32,
	comm, info, request uintptr) int32 {
	return initPartitioned("MPI_Precv_init", buf, partitions, count, datatype, source, tag, comm, info, request,
		(*p2p.Engine).PrecvInit)
}

// onPartitioned calls f with the partitioned request behind a handle.
func onPartitioned(function string, h uintptr, f func(p *p2p.Partitioned) error) (rc int32) {
	defer guard(function, 0, 0, &rc)
	if err := needRunning(); err != nil {
		return finish(function, 0, 0, err)
	}
	kind, on := ownerOf(h)
	r := requestOf(h)
	if r == nil || r.Kind != request.Partitioned {
		return finish(function, kind, on, mpierr.New(abi.MPI_ERR_REQUEST, "%#x is no partitioned request", h))
	}
	return finish(function, kind, on, f(r.Op.(*p2p.Partitioned)))
}

//export gompi_pready
func gompi_pready(partition int32, request uintptr) int32 {
	return onPartitioned("MPI_Pready", request,
		func(p *p2p.Partitioned) error { return p.Ready(int(partition), int(partition)) })
}

//export gompi_pready_range
func gompi_pready_range(low, high int32, request uintptr) int32 {
	return onPartitioned("MPI_Pready_range", request, func(p *p2p.Partitioned) error {
		if low > high {
			return mpierr.New(abi.MPI_ERR_ARG, "partitions %d to %d", low, high)
		}
		return p.Ready(int(low), int(high))
	})
}

//export gompi_pready_list
func gompi_pready_list(length int32, partitions, request uintptr) int32 {
	return onPartitioned("MPI_Pready_list", request, func(p *p2p.Partitioned) error {
		list, err := intsAt("partitions", length, partitions)
		if err != nil {
			return err
		}
		for _, i := range list {
			if err := p.Ready(int(i), int(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

//export gompi_parrived
func gompi_parrived(h uintptr, partition int32, flag uintptr) int32 {
	if h == abi.MPI_REQUEST_NULL {
		if err := null(flag); err != nil {
			return finish("MPI_Parrived", 0, 0, err)
		}
		putFlag(flag, true)
		return abi.MPI_SUCCESS
	}
	return onPartitioned("MPI_Parrived", h, func(p *p2p.Partitioned) error {
		if err := null(flag); err != nil {
			return err
		}
		arrived, err := p.Arrived(int(partition))
		if err == nil {
			putFlag(flag, arrived)
		}
		return err
	})
}
