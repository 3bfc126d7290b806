package main

import "C"

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// Datatypes: life and names (MPI-5.0 5.1 and 7.8); sizes are in datatype/extent.c. Types belong to no communicator, so
// their errors are raised on MPI_COMM_SELF. Nothing here communicates or blocks.

// onType does what all calls on a datatype do around their own work f: it finds the type and reports the error of f.
func onType(function string, h uintptr, f func(t *datatype.Type) error) (rc int32) {
	defer guard(function, 0, 0, &rc)
	t, err := datatype.Get(h)
	if err == nil {
		err = f(t)
	}
	return finish(function, 0, 0, err)
}

// newType stores the handle of the type that f makes. f is not called if there is no place for it.
func newType(function string, newtype uintptr, f func() (*datatype.Type, error)) int32 {
	return making(function, newtype, func() (uintptr, error) {
		t, err := f()
		if err != nil {
			return 0, err
		}
		return t.Handle(), nil
	})
}

// fromType is newType for a type that is made from one other.
func fromType(function string, oldtype, newtype uintptr, f func(old *datatype.Type) (*datatype.Type, error)) int32 {
	return newType(function, newtype, func() (*datatype.Type, error) {
		old, err := datatype.Get(oldtype)
		if err != nil {
			return nil, err
		}
		return f(old)
	})
}

//export gompi_free_type
func gompi_free_type(at uintptr) int32 {
	return freeing("MPI_Type_free", at, abi.MPI_DATATYPE_NULL, freeType)
}

// freeType ends the life of a type's handle.
func freeType(h uintptr) error {
	t, err := datatype.Get(h)
	if err != nil {
		return err
	}
	if !t.Predefined() {
		if err := deleteTypeAttributes(t); err != nil {
			return err
		}
	}
	return t.Free()
}

// dupType is MPI_Type_dup, with the attributes.
func dupType(oldtype, newtype uintptr) (*datatype.Type, error) {
	old, err := datatype.Get(oldtype)
	if err != nil {
		return nil, err
	}
	t, err := datatype.Dup(datatype.Small, old)
	if err != nil {
		return nil, err
	}
	if err = copyTypeAttributes(old, t); err != nil {
		*out[uintptr](newtype) = abi.MPI_DATATYPE_NULL // as in dupComm
		t.Free()
		return nil, err
	}
	return t, nil
}

// predefinedType stores a type that the library owns, which is told to C the first time.
func predefinedType(function string, newtype uintptr, f func() (*datatype.Type, bool, error)) int32 {
	return newType(function, newtype, func() (*datatype.Type, error) {
		t, created, err := f()
		if err == nil && created {
			err = installType(t)
		}
		return datatype.F90Complex(p, r)
	})
}
