package main

import "C"

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// The calls on datatypes that Go implements. Types belong to no communicator, so errors are raised on MPI_COMM_SELF. No
// function communicates or blocks.

// onType wraps the calls on a datatype: it looks up the type, runs f, and raises the error of f.
func onType(function string, h uintptr, f func(t *datatype.Type) error) (rc int32) {
	defer guard(function, 0, 0, &rc)
	t, err := datatype.Get(h)
	if err == nil {
		err = f(t)
	}
	return finish(function, 0, 0, err)
}

// newType stores the handle of the type that f creates. It does not call f if newtype is null.
func newType(function string, newtype uintptr, f func() (*datatype.Type, error)) int32 {
	return storeNoObject(function, newtype, func() (uintptr, error) {
		t, err := f()
		if err != nil {
			return 0, err
		}
		return t.Handle(), nil
	})
}

// gompi_type_freed releases Go's copy of a type that has been freed. number is the copy's number in Go.
//
//gompi:callback void (uintptr_t number)
//export gompi_type_freed
func gompi_type_freed(number uintptr) {
	if t := datatype.ByNumber(number); t != nil {
		datatype.RemoveNumber(number)
		t.Release()
	}
}

// gompi_create_f90 stores the unnamed type of a Fortran combiner with the requested precision and range, for the first
// request of a type (datatype/named.c). It returns the result of the call.
//
//gompi:callback int (const char *call, int combiner, int p, int r, MPI_Datatype *newtype) as call
//export gompi_create_f90
func gompi_create_f90(function uintptr, combiner, p, r int32, newtype uintptr) int32 {
	return newType(cString(function), newtype, func() (*datatype.Type, error) {
		switch combiner {
		case abi.MPI_COMBINER_F90_INTEGER:
			return datatype.F90Integer(r)
		case abi.MPI_COMBINER_F90_REAL:
			return datatype.F90Real(p, r)
		}
		return datatype.F90Complex(p, r)
	})
}
