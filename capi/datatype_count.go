package main

import "C"

import "gompirma/core/datatype"

// Counts that datatype/count.c needs for types whose elements differ in size.

//export gompi_elements_in
func gompi_elements_in(h uintptr, bytes int64, elements uintptr) int32 {
	return counted(h, elements, func(t *datatype.Type) (int64, bool) { return t.ElementsIn(bytes) })
}

//export gompi_bytes_of
func gompi_bytes_of(h uintptr, elements int64, bytes uintptr) int32 {
	return counted(h, bytes, func(t *datatype.Type) (int64, bool) { return t.BytesOf(elements) })
}

// counted stores the result of f for a type. It returns 0 if there is no result.
func counted(h, at uintptr, f func(*datatype.Type) (int64, bool)) int32 {
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
