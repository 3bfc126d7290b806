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

// The arguments with which a datatype was constructed (MPI-5.0 5.1.13). datatype/envelope.c returns their counts.

// smallForm returns an error for a type that only the MPI_Count forms of the calls can describe.
func smallForm(t *datatype.Type) error {
	if t.Large() {
		return mpierr.New(abi.MPI_ERR_TYPE,
			"datatype %s was created with large counts: call the function whose name ends in _c", t)
	}
	return nil
}

// storeContents fills the arrays, whose sizes the caller has checked. It returns MPI_ERR_ARG if an array that receives
// elements is null.
func storeContents(t *datatype.Type, integers, addresses, counts, types uintptr) error {
	c := t.Contents()
	for _, a := range []struct {
		at uintptr
		n  int
	}{{integers, len(c.Integers)}, {addresses, len(c.Addresses)}, {counts, len(c.Counts)}, {types, len(c.Types)}} {
		if a.at == 0 && a.n > 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "an array for %d elements is NULL", a.n)
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
