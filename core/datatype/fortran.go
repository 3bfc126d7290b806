package datatype

import (
	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// The kinds of numbers that Fortran has, smallest first. Each entry has the number of decimal digits, the decimal
// exponent range (except for integers) and the handles of the predefined types. The kind between DOUBLE PRECISION and
// REAL16 is gfortran's REAL(10), the format of C's long double.
var (
	integerKinds = []struct {
		digits int32
		h      uintptr
	}{{2, abi.MPI_INTEGER1}, {4, abi.MPI_INTEGER2}, {9, abi.MPI_INTEGER4}, {18, abi.MPI_INTEGER8},
		{38, abi.MPI_INTEGER16}}
	realKinds = []struct {
		digits, exponent int32
		real, complex    uintptr
	}{
		{6, 37, abi.MPI_REAL4, abi.MPI_COMPLEX8}, {15, 307, abi.MPI_REAL8, abi.MPI_COMPLEX16},
		{18, 4931, abi.MPI_LONG_DOUBLE, abi.MPI_C_LONG_DOUBLE_COMPLEX},
		{33, 4931, abi.MPI_REAL16, abi.MPI_COMPLEX32},
	}
)

// F90Kind returns the predefined type with the representation of the type of MPI_Type_create_f90_integer,
// MPI_Type_create_f90_real or MPI_Type_create_f90_complex, selected by `combiner` (MPI-5.0 19.1.5). An integer type is
// that of Fortran's SELECTED_INT_KIND(r). A real type, or the type of the parts of a complex number, is that of
// SELECTED_REAL_KIND(p, r), where one of p and r may be MPI_UNDEFINED. Errors: MPI_ERR_ARG if there is no such kind.
func F90Kind(combiner, p, r int32) (*Basic, error) {
	if combiner == abi.MPI_COMBINER_F90_INTEGER {
		for _, k := range integerKinds {
			if r <= k.digits {
				return BasicOf(k.h), nil
			}
		}
		return nil, mpierr.New(abi.MPI_ERR_ARG, "no integer kind has %d decimal digits", r)
	}
	if p == abi.MPI_UNDEFINED && r == abi.MPI_UNDEFINED {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "both p and r are MPI_UNDEFINED")
	}
	for _, k := range realKinds {
		if (p == abi.MPI_UNDEFINED || p <= k.digits) && (r == abi.MPI_UNDEFINED || r <= k.exponent) {
			if combiner == abi.MPI_COMBINER_F90_COMPLEX {
				return BasicOf(k.complex), nil
			}
			return BasicOf(k.real), nil
		}
	}
	return nil, mpierr.New(abi.MPI_ERR_ARG, "no real kind has precision p = %d and range r = %d", p, r)
}
