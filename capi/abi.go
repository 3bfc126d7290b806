package main

import "C"

import (
	"strconv"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// Properties of the ABI and of Fortran (MPI-5.0 20). The sizes of Fortran's types and the values of its LOGICALs are
// those of gfortran's default kinds, which the datatypes also use. These sizes and values are fixed. So a call that
// sets them returns MPI_ERR_ABI, as the second such call does in other implementations. All calls may be used before
// MPI_Init.

//export gompi_abi_get_info
func gompi_abi_get_info(at uintptr) (rc int32) {
	defer guard("MPI_Abi_get_info", 0, 0, &rc)
	return finish("MPI_Abi_get_info", 0, 0,
		storeInfo(at, []pair{{key: "mpi_aint_size", value: "8"}, {key: "mpi_count_size", value: "8"},
			{key: "mpi_offset_size", value: "8"}}))
}

//export gompi_abi_get_fortran_info
func gompi_abi_get_fortran_info(at uintptr) (rc int32) {
	defer guard("MPI_Abi_get_fortran_info", 0, 0, &rc)
	var pairs []pair
	for _, t := range []struct {
		key string
		h   uintptr
	}{
		{"mpi_logical_size", abi.MPI_LOGICAL}, {"mpi_integer_size", abi.MPI_INTEGER},
		{"mpi_real_size", abi.MPI_REAL},
		{"mpi_double_precision_size", abi.MPI_DOUBLE_PRECISION},
	} {
		pairs = append(pairs, pair{key: t.key, value: strconv.FormatInt(int64(datatype.BasicOf(t.h).Size),
			10)})
	}
	for _, t := range []struct {
		key string
		h   uintptr
	}{
		{"logical1", abi.MPI_LOGICAL1}, {"logical2", abi.MPI_LOGICAL2}, {"logical4", abi.MPI_LOGICAL4},
		{"logical8", abi.MPI_LOGICAL8}, {"logical16", abi.MPI_LOGICAL16},
		{"integer1", abi.MPI_INTEGER1}, {"integer2", abi.MPI_INTEGER2}, {"integer4", abi.MPI_INTEGER4},
		{"integer8", abi.MPI_INTEGER8}, {"integer16", abi.MPI_INTEGER16},
		{"real2", abi.MPI_REAL2}, {"real4", abi.MPI_REAL4}, {"real8", abi.MPI_REAL8},
		{"real16", abi.MPI_REAL16},
		{"complex4", abi.MPI_COMPLEX4}, {"complex8", abi.MPI_COMPLEX8}, {"complex16", abi.MPI_COMPLEX16},
		{"complex32", abi.MPI_COMPLEX32},
		{"double_complex", abi.MPI_DOUBLE_COMPLEX},
	} {
		pairs = append(pairs, pair{key: "mpi_" + t.key + "_supported",
			value: strconv.FormatBool(datatype.BasicOf(t.h) != nil)})
	}
	return finish("MPI_Abi_get_fortran_info", 0, 0, storeInfo(at, pairs))
}

//export gompi_abi_set_fortran_info
func gompi_abi_set_fortran_info(h uintptr) int32 {
	return runNoObject("MPI_Abi_set_fortran_info", func() error {
		err := checkInfo(h)
		if err == nil && h == abi.MPI_INFO_NULL {
			err = mpierr.New(abi.MPI_ERR_INFO, "the info object is MPI_INFO_NULL")
		}
		if err != nil {
			return err
		}
		return mpierr.New(abi.MPI_ERR_ABI,
			"the sizes of Fortran types cannot be changed; MPI_Abi_get_fortran_info returns them")
	})
}

// logicalSize returns MPI_ERR_ARG if no LOGICAL type of Fortran has the given size in bytes.
func logicalSize(size int32) error {
	switch size {
	case 1, 2, 4, 8, 16:
		return nil
	}
	return mpierr.New(abi.MPI_ERR_ARG, "logical_size is %d; it must be 1, 2, 4, 8 or 16", size)
}

//export gompi_abi_get_fortran_booleans
func gompi_abi_get_fortran_booleans(size int32, isTrue, isFalse, isSet uintptr) (rc int32) {
	defer guard("MPI_Abi_get_fortran_booleans", 0, 0, &rc)
	err := logicalSize(size)
	if err == nil {
		err = checkNotNull("logical_true, logical_false or is_set", isTrue, isFalse, isSet)
	}
	if err == nil {
		t, f := slice[byte](isTrue, int(size)), slice[byte](isFalse, int(size))
		clear(t)
		clear(f)
		t[0] = 1 // gompirma supports little-endian machines only
		putFlag(isSet, true)
	}
	return finish("MPI_Abi_get_fortran_booleans", 0, 0, err)
}

//export gompi_abi_set_fortran_booleans
func gompi_abi_set_fortran_booleans(size int32, isTrue, isFalse uintptr) (rc int32) {
	defer guard("MPI_Abi_set_fortran_booleans", 0, 0, &rc)
	err := logicalSize(size)
	if err == nil {
		err = checkNotNull("logical_true or logical_false", isTrue, isFalse)
	}
	if err == nil {
		err = mpierr.New(abi.MPI_ERR_ABI,
			"the values of Fortran logicals cannot be changed; MPI_Abi_get_fortran_booleans returns them")
	}
	return finish("MPI_Abi_set_fortran_booleans", 0, 0, err)
}
