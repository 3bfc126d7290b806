package request

import "gompirma/core/abi"

// Status is the result of a completed operation. In C it is an MPI_Status, 32 bytes without padding:
//
//	 0  int MPI_SOURCE
//	 4  int MPI_TAG
//	 8  int MPI_ERROR
//	12  int MPI_internal[0]  flags: 1 cancelled
//	16  int MPI_internal[1]  low, and
//	20  int MPI_internal[2]  high half of the number of bytes received (64 bit); MPI_UNDEFINED bytes: -1
//	24  int MPI_internal[3]  0
//	28  int MPI_internal[4]  0
//
// This is the only description of it; capi/base/status.h and core/request/status_unsafe.go follow it.
type Status struct {
	Source, Tag, Error int32
	Cancelled          bool
	Bytes              int64
}

// StatusSize is the size of an MPI_Status in bytes.
const StatusSize = 32

// Empty is the status of a null or inactive request.
var Empty = Status{Source: abi.MPI_ANY_SOURCE, Tag: abi.MPI_ANY_TAG}

// ProcNull is the status of a receive from MPI_PROC_NULL.
var ProcNull = Status{Source: abi.MPI_PROC_NULL, Tag: abi.MPI_ANY_TAG}
