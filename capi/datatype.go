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

//export gompi_type_set_name
func gompi_type_set_name(h, name uintptr) int32 {
	return onType("MPI_Type_set_name", h, func(t *datatype.Type) error { return setName(t, name) })
}

//export gompi_type_get_name
func gompi_type_get_name(h, name, resultlen uintptr) int32 {
	if h == abi.MPI_DATATYPE_NULL && name != 0 && resultlen != 0 {
		*out[int32](resultlen) = int32(putString(name, "MPI_DATATYPE_NULL", abi.MPI_MAX_OBJECT_NAME))
		return abi.MPI_SUCCESS
	}
	return onType("MPI_Type_get_name", h, func(t *datatype.Type) error {
		return storeString(t.Name(), abi.MPI_MAX_OBJECT_NAME, name, resultlen)
	})
}

//export gompi_type_create_f90_integer
func gompi_type_create_f90_integer(r int32, newtype uintptr) int32 {
	return newType("MPI_Type_create_f90_integer", newtype,
		func() (*datatype.Type, error) { return datatype.F90Integer(r) })
}

//export gompi_type_create_f90_real
func gompi_type_create_f90_real(p, r int32, newtype uintptr) int32 {
	return newType("MPI_Type_create_f90_real", newtype,
		func() (*datatype.Type, error) { return datatype.F90Real(p, r) })
}

//export gompi_type_create_f90_complex
func gompi_type_create_f90_complex(p, r int32, newtype uintptr) int32 {
	return newType("MPI_Type_create_f90_complex", newtype,
		func() (*datatype.Type, error) { return datatype.F90Complex(p, r) })
}

//export gompi_type_match_size
func gompi_type_match_size(typeclass, size int32, datatypeAt uintptr) int32 {
	return newType("MPI_Type_match_size", datatypeAt,
		func() (*datatype.Type, error) { return datatype.MatchSize(typeclass, size) })
}

//export gompi_type_get_value_index
func gompi_type_get_value_index(valueType, indexType, pairType uintptr) int32 {
	return onType("MPI_Type_get_value_index", valueType, func(value *datatype.Type) error {
		index, err := datatype.Get(indexType)
		if err == nil {
			err = null(pairType)
		}
		if err == nil {
			*out[uintptr](pairType) = datatype.ValueIndex(value, index)
		}
		return err
	})
}
