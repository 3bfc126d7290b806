package main

/*
#include "datatype/user_op.h"
*/
import "C"

import (
	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// Access to reduction operations (MPI-5.0 6.9.5 to 6.9.7), which C implements (capi/datatype/user_op.c).

func init() { op.Kernel, op.CallUser, op.UserOp = kernels.Apply, callUser, userOp }

// callUser implements op.CallUser.
func callUser(function uintptr, large bool, in, inout uintptr, count int64, typ uintptr) {
	C.gompi_op_call_user(C.uintptr_t(function), C.bool(large), C.uintptr_t(in), C.uintptr_t(inout),
		C.int64_t(count), C.uintptr_t(typ))
}

// userOp implements op.UserOp.
func userOp(h uintptr) *op.Op {
	u := C.gompi_user_op_get(C.MPI_Op(pointer(h)))
	if u == nil {
		return nil
	}
	return op.New(h, uintptr(u.function), bool(u.is_large), bool(u.is_commutative))
}

// gompi_reduce_local_checked executes MPI_Reduce_local, including all checks, for the cases that
// datatype/reduce_local.c leaves to Go. It returns the result of the call.
//
//gompi:callback int (uintptr_t in, uintptr_t inout, int64_t n, uintptr_t datatype, uintptr_t op) as "MPI_Reduce_local"
//export gompi_reduce_local_checked
func gompi_reduce_local_checked(inbuf, inoutbuf uintptr, count int64, h, opHandle uintptr) int32 {
	return runNoObject("MPI_Reduce_local", func() error {
		o, err := op.Get(opHandle)
		if err != nil {
			return err
		}
		t, err := datatype.GetCommitted(h)
		if err != nil {
			return err
		}
		if err := o.ForReduce(t); err != nil {
			return err
		}
		switch {
		case count < 0:
			return mpierr.New(abi.MPI_ERR_COUNT, "count is %d; it must not be negative", count)
		case inbuf == abi.MPI_IN_PLACE || inoutbuf == abi.MPI_IN_PLACE:
			return mpierr.New(abi.MPI_ERR_BUFFER, "MPI_Reduce_local does not support MPI_IN_PLACE")
		case count == 0:
			return nil
		case inbuf == inoutbuf && inbuf != abi.MPI_BOTTOM:
			return mpierr.New(abi.MPI_ERR_BUFFER, "inbuf and inoutbuf must not be the same buffer "+
				"(%#x)", inbuf)
		}
		if err := t.InMemory("input", inbuf, count); err != nil {
			return err
		}
		if err := t.InMemory("result", inoutbuf, count); err != nil {
			return err
		}
		if o.User() {
			return o.Call(t, inbuf, inoutbuf, count)
		}
		b := t.Elem()
		n := int(count)
		return o.Combine(b, slice[byte](inbuf, n*int(b.Extent)), slice[byte](inoutbuf, n*int(b.Extent)), n)
	})
}
