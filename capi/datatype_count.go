package main

import "C"

import "gompirma/core/datatype"

// Counts of types whose elements differ in size, for datatype/count.c.

// gompi_count_elements stores the number of basic elements in the first n bytes of copies of a datatype. It returns
// false if the bytes end inside an element, or if the result exceeds 64 bits.
//
//gompi:callback bool (uintptr_t datatype, int64_t bytes, int64_t *elements)
//export gompi_count_elements
func gompi_count_elements(h uintptr, bytes int64, elements uintptr) int32 {
	return storeCount(h, elements, func(t *datatype.Type) (int64, bool) { return t.ElementsIn(bytes) })
}

// gompi_element_bytes stores the size in bytes of the first n basic elements of copies of a datatype. It returns false
// if there are not enough elements, or if the result exceeds 64 bits.
//
//gompi:callback bool (uintptr_t datatype, int64_t elements, int64_t *bytes)
//export gompi_element_bytes
func gompi_element_bytes(h uintptr, elements int64, bytes uintptr) int32 {
	return storeCount(h, bytes, func(t *datatype.Type) (int64, bool) { return t.BytesOf(elements) })
}

// storeCount stores the result of f for a type. It returns 0 if there is no result.
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
