package main

/*
#include "base/go_callbacks.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// The calls on datatypes that Go implements. Types belong to no communicator, so errors are raised on MPI_COMM_SELF. No
// function communicates or blocks.

// onType executes an MPI call on a datatype: it looks up the type, runs f, and raises the error of f.
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
	return storeNoObject(function, "newtype", newtype, func() (uintptr, error) {
		t, err := f()
		if err != nil {
			return 0, err
		}
		return t.Handle(), nil
	})
}

// gompi_type_freed releases Go's copy of a type that has been freed. The argument `number` is the copy's number in Go.
//
//gompi:callback void (uintptr_t number)
//export gompi_type_freed
func gompi_type_freed(number uintptr) {
	if t := datatype.ByNumber(number); t != nil {
		datatype.RemoveNumber(number)
		t.Release()
	}
}

// gompi_create_f90 creates the type of MPI_Type_create_f90_integer, MPI_Type_create_f90_real or
// MPI_Type_create_f90_complex, selected by `combiner`, with precision p and range r. It stores the type's handle, and
// returns the result of the MPI function. datatype/named.c calls gompi_create_f90 when a type is first requested.
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

// smallForm returns an error for a type that only the MPI_Count forms of the calls can describe.
func smallForm(t *datatype.Type) error {
	if t.Large() {
		return mpierr.New(abi.MPI_ERR_TYPE,
			"datatype %s was created with large counts: call the _c form of this function", t)
	}
	return nil
}

// storeContents fills the arrays of MPI_Type_get_contents, whose sizes the caller has checked. It returns MPI_ERR_ARG
// if an array that receives elements is null.
func storeContents(t *datatype.Type, integers, addresses, counts, types uintptr) error {
	c := t.Contents()
	for _, a := range []struct {
		name string
		at   uintptr
		n    int
	}{{"integers", integers, len(c.Integers)}, {"addresses", addresses, len(c.Addresses)},
		{"large_counts", counts, len(c.Counts)}, {"datatypes", types, len(c.Types)}} {
		if a.at == 0 && a.n > 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "array_of_%s is NULL, but must have at least %d entries",
				a.name, a.n)
		}
	}
	handles := make([]uintptr, len(c.Types))
	for i, inner := range c.Types {
		again, err := inner.Recreate()
		if err != nil {
			for _, h := range handles[:i] {
				if old, _ := datatype.Get(h); old != nil && !old.Predefined() {
					old.Free()
				}
			}
			return err
		}
		handles[i] = again.Handle()
	}
	copy(slice[uintptr](types, len(handles)), handles)
	copy(slice[int32](integers, len(c.Integers)), c.Integers)
	copy(slice[int64](addresses, len(c.Addresses)), c.Addresses)
	copy(slice[int64](counts, len(c.Counts)), c.Counts)
	return nil
}

// gompi_get_contents executes MPI_Type_get_contents and its large-count form for the types that datatype/contents.c
// leaves to Go. It returns the result of the call.
//
//gompi:callback int (const struct gompi_contents *contents, uintptr_t datatype) as "MPI_Type_get_contents"
//export gompi_get_contents
func gompi_get_contents(contents, h uintptr) int32 {
	c := out[C.struct_gompi_contents](contents)
	return onType("MPI_Type_get_contents", h, func(t *datatype.Type) error {
		if !c.is_large {
			if err := smallForm(t); err != nil {
				return err
			}
		}
		err := t.CheckContents(int64(c.max_integers), int64(c.max_addresses), int64(c.max_counts),
			int64(c.max_types))
		if err != nil {
			return err
		}
		return storeContents(t, uintptr(unsafe.Pointer(c.integers)), uintptr(unsafe.Pointer(c.addresses)),
			uintptr(unsafe.Pointer(c.counts)), uintptr(unsafe.Pointer(c.types)))
	})
}

// gompi_count_elements stores how many basic elements are in consecutive copies of a datatype with the given number of
// bytes in total. It returns false if the data ends inside an element, or if the result exceeds 64 bits.
//
//gompi:callback bool (uintptr_t datatype, int64_t bytes, int64_t *elements)
//export gompi_count_elements
func gompi_count_elements(h uintptr, bytes int64, elements uintptr) int32 {
	return storeCount(h, elements, func(t *datatype.Type) (int64, bool) { return t.ElementsIn(bytes) })
}

// gompi_element_bytes stores the total size in bytes of the given number of basic elements at the beginning of
// consecutive copies of a datatype. It returns false if there are not enough elements, or if the result exceeds 64
// bits.
//
//gompi:callback bool (uintptr_t datatype, int64_t elements, int64_t *bytes)
//export gompi_element_bytes
func gompi_element_bytes(h uintptr, elements int64, bytes uintptr) int32 {
	return storeCount(h, bytes, func(t *datatype.Type) (int64, bool) { return t.BytesOf(elements) })
}

// storeCount calls f with a type and stores the result of f. It returns 1, or 0 if f has no result or no type has the
// handle.
func storeCount(h, at uintptr, f func(*datatype.Type) (int64, bool)) int32 {
	t, err := datatype.Get(h)
	if err != nil {
		return 0
	}
	n, ok := f(t)
	if !ok {
		return 0
	}
	*out[int64](at) = n
	return 1
}
