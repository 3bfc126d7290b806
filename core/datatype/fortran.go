package datatype

import (
	"sync"

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

// f90 caches the types that F90Integer, F90Real and F90Complex return, because the same arguments must always return
// the same type.
var f90 struct {
	mu    sync.Mutex
	types map[f90Key]*Type
}

type f90Key struct{ combiner, p, r int32 }

// F90Integer returns the predefined unnamed type of Fortran's SELECTED_INT_KIND(r) (MPI-5.0 19.1.5). It is committed
// and never freed. Errors: MPI_ERR_ARG if there is no such kind.
func F90Integer(r int32) (*Type, error) {
	for _, k := range integerKinds {
		if r <= k.digits {
			return unnamed(f90Key{abi.MPI_COMBINER_F90_INTEGER, 0, r}, []int32{r}, k.h)
		}
	}
	return nil, mpierr.New(abi.MPI_ERR_ARG, "no integer kind has %d decimal digits", r)
}

// F90Real returns the predefined unnamed type of SELECTED_REAL_KIND(p, r). One of p and r may be MPI_UNDEFINED. The
// type is committed and never freed. Errors: MPI_ERR_ARG if there is no such kind.
func F90Real(p, r int32) (*Type, error) {
	return f90Number(abi.MPI_COMBINER_F90_REAL, p, r)
}

// F90Complex returns the predefined unnamed type of a complex number whose parts have the kind SELECTED_REAL_KIND(p,
// r), under the rules of F90Real.
func F90Complex(p, r int32) (*Type, error) {
	return f90Number(abi.MPI_COMBINER_F90_COMPLEX, p, r)
}

func f90Number(combiner, p, r int32) (*Type, error) {
	if p == abi.MPI_UNDEFINED && r == abi.MPI_UNDEFINED {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "both p and r are MPI_UNDEFINED")
	}
	for _, k := range realKinds {
		if (p == abi.MPI_UNDEFINED || p <= k.digits) && (r == abi.MPI_UNDEFINED || r <= k.exponent) {
			h := k.real
			if combiner == abi.MPI_COMBINER_F90_COMPLEX {
				h = k.complex
			}
			return unnamed(f90Key{combiner, p, r}, []int32{p, r}, h)
		}
	}
	return nil, mpierr.New(abi.MPI_ERR_ARG, "no real kind has precision p = %d and range r = %d", p, r)
}

// unnamed returns the unnamed type with the given key. The type has the layout of the named type with handle h.
func unnamed(key f90Key, ints []int32, h uintptr) (*Type, error) {
	f90.mu.Lock()
	defer f90.mu.Unlock()
	if t := f90.types[key]; t != nil {
		return t, nil
	}
	t := like(predefined[h-firstBasic], args{combiner: key.combiner, ints: ints})
	t.basic = t.elem
	t.Commit()
	if _, err := t.register(&builder{}); err != nil {
		return nil, err
	}
	if f90.types == nil {
		f90.types = map[f90Key]*Type{}
	}
	f90.types[key] = t
	return t, nil
}
