package main

/*
#include "datatype/user_op.h"
#include "op_user.h"
*/
import "C"

import (
	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// Operations of reductions (MPI-5.0 6.9.5 to 6.9.7). They belong to no communicator, so their errors are raised on
// MPI_COMM_SELF.

func init() { op.Kernel, op.CallUser = kernels.Apply, callUser }

// callUser is op.CallUser.
func callUser(function uintptr, large bool, in, inout uintptr, count int64, typ uintptr) {
	C.gompi_op_call_user(C.uintptr_t(function), C.bool(large), C.uintptr_t(in), C.uintptr_t(inout),
		C.int64_t(count), C.uintptr_t(typ))
}

func createOp(function string, userFn uintptr, large bool, commute int32, at uintptr) int32 {
	return making(function, at, func() (uintptr, error) {
		o, err := op.Create(userFn, large, commute != 0)
		if err != nil {
			return 0, err
		}
		C.gompi_user_op_open(C.uintptr_t(o.Handle()), C.uintptr_t(userFn), C.bool(large))
		return o.Handle(), nil
	})
}

//export gompi_op_create
func gompi_op_create(userFn uintptr, commute int32, at uintptr) int32 {
	return createOp("MPI_Op_create", userFn, false, commute, at)
}

//export gompi_op_create_c
func gompi_op_create_c(userFn uintptr, commute int32, at uintptr) int32 {
	return createOp("MPI_Op_create_c", userFn, true, commute, at)
}

//export gompi_op_free
func gompi_op_free(at uintptr) int32 {
	return freeing("MPI_Op_free", at, abi.MPI_OP_NULL, func(h uintptr) error {
		o, err := op.Get(h)
		if err == nil {
			err = o.Free()
		}
		if err == nil {
			C.gompi_known_forget(&C.gompi_user_ops, C.uintptr_t(h))
		}
		return err
	})
}

// gompi_op_user_commutative is MPI_Op_commutative for what is not predefined (op_ask.c).
//
//export gompi_op_user_commutative
func gompi_op_user_commutative(h, commute uintptr) (rc int32) {
	defer guard("MPI_Op_commutative", 0, 0, &rc)
	o, err := op.Get(h)
	if err == nil {
		err = null(commute)
	}
	if err == nil {
		putFlag(commute, o.Commutative())
	}
	return finish("MPI_Op_commutative", 0, 0, err)
}

//export gompi_reduce_local_c
func gompi_reduce_local_c(inbuf, inoutbuf uintptr, count int64, h, opHandle uintptr) int32 {
	return alone("MPI_Reduce_local", func() error {
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
			return mpierr.New(abi.MPI_ERR_COUNT, "count is %d, it must not be negative", count)
		case inbuf == abi.MPI_IN_PLACE || inoutbuf == abi.MPI_IN_PLACE:
			return mpierr.New(abi.MPI_ERR_BUFFER, "MPI_IN_PLACE is no buffer of MPI_Reduce_local")
		case count == 0:
			return nil
		case inbuf == inoutbuf && inbuf != abi.MPI_BOTTOM:
			return mpierr.New(abi.MPI_ERR_BUFFER, "both buffers are %#x", inbuf)
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
