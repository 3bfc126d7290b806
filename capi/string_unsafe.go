package main

import "unsafe"

// cString copies the C string at address. It returns "" for a null pointer.
func cString(address uintptr) string {
	if address == 0 {
		return ""
	}
	first := *(**byte)(unsafe.Pointer(&address))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(first), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(first, n))
}
