package main

import "C"

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/request"
)

// How much of a datatype a status tells of (MPI-5.0 3.2.5, 5.1.11, 13.3).

// countIn stores what f makes of the bytes in a status: MPI_UNDEFINED if that is no whole number, or does not fit in an
// int where wide is false.
func countIn(function string, status, h, count uintptr, wide bool,
	f func(t *datatype.Type, bytes int64) (int64, bool)) int32 {
	return onType(function, h, func(t *datatype.Type) error {
		if err := null(count); err != nil {
			return err
		}
		if status == 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "status is a null pointer or MPI_STATUS_IGNORE")
		}
		n, ok := int64(0), false
		if bytes := request.LoadStatus(status).Bytes; bytes >= 0 {
			n, ok = f(t, bytes)
		}
		if !ok {
			n = abi.MPI_UNDEFINED
		}
		if wide {
			*out[int64](count) = n
		} else {
			storeInt(count, n)
		}
		return nil
	})
}

//export gompi_get_count
func gompi_get_count(status, h, count uintptr) int32 {
	return countIn("MPI_Get_count", status, h, count, false, (*datatype.Type).Count)
}

//export gompi_get_count_c
func gompi_get_count_c(status, h, count uintptr) int32 {
	return countIn("MPI_Get_count_c", status, h, count, true, (*datatype.Type).Count)
}

//export gompi_get_elements
func gompi_get_elements(status, h, count uintptr) int32 {
	return countIn("MPI_Get_elements", status, h, count, false, (*datatype.Type).ElementsIn)
}

//export gompi_get_elements_c
func gompi_get_elements_c(status, h, count uintptr) int32 {
	return countIn("MPI_Get_elements_c", status, h, count, true, (*datatype.Type).ElementsIn)
}

//export gompi_get_elements_x
func gompi_get_elements_x(status, h, count uintptr) int32 {
	return countIn("MPI_Get_elements_x", status, h, count, true, (*datatype.Type).ElementsIn)
}

func statusSetElements(function string, status, h uintptr, count int64) int32 {
	return onType(function, h, func(t *datatype.Type) error {
		if status == 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "status is a null pointer or MPI_STATUS_IGNORE")
		}
		bytes, ok := t.BytesOf(count)
		if !ok {
			return mpierr.New(abi.MPI_ERR_COUNT, "%d elements of datatype %s cannot be in a status", count,
				t)
		}
		s := request.LoadStatus(status)
		s.Bytes = bytes
		s.Store(status)
		return nil
	})
}

//export gompi_status_set_elements_c
func gompi_status_set_elements_c(status, h uintptr, count int64) int32 {
	return statusSetElements("MPI_Status_set_elements", status, h, count)
}

//export gompi_status_set_elements_x
func gompi_status_set_elements_x(status, h uintptr, count int64) int32 {
	return statusSetElements("MPI_Status_set_elements_x", status, h, count)
}
