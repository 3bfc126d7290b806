package main

import "C"
import (
	"gompirma/core/group"
	"gompirma/core"
)

func infoLookup(h uintptr) (func(string) (string, bool), error) { return nil, nil }
func groupHandle(g *group.Group) (uintptr, error)              { return 0x109, nil }
func releaseErrhandler(any)                                     {}

//export gompi_comm_rank
func gompi_comm_rank(c, r uintptr) int32 { *out[int32](r) = int32(lookupComm(c).Rank()); return 0 }

//export gompi_comm_size
func gompi_comm_size(c, r uintptr) int32 { *out[int32](r) = int32(lookupComm(c).Size()); return 0 }

//export gompi_barrier
func gompi_barrier(c uintptr) int32 { core.Self().Coll.Barrier(lookupComm(c)); return 0 }
