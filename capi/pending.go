package main

import "C"

import (
	"gompirma/core"
	"gompirma/core/comm"
	"gompirma/core/rma"
)

// Stand-ins until the exports of info and attributes are there; whoever writes those deletes what they replace.

func infoLookup(h uintptr) (func(key string) (string, bool), error) { return nil, nil }
func hintsOf(c *comm.Comm, info *uintptr) (any, error)              { return nil, nil }
func infoValue(info uintptr, key string) (string, error)            { return "", nil }
func copyCommAttributes(from, to *comm.Comm) error                  { return nil }
func deleteCommAttributes(c *comm.Comm) error                       { return nil }
func releaseErrhandler(w *rma.Window)                               {}

//export gompi_comm_rank
func gompi_comm_rank(comm, rank uintptr) int32 {
	*out[int32](rank) = int32(lookupComm(comm).Rank())
	return 0
}

//export gompi_comm_size
func gompi_comm_size(comm, size uintptr) int32 {
	*out[int32](size) = int32(lookupComm(comm).Size())
	return 0
}

//export gompi_barrier
func gompi_barrier(comm uintptr) int32 {
	core.Self().Coll.Barrier(lookupComm(comm))
	return 0
}
