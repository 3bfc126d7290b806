package main

import "C"

import "gompirma/core/abi"

//export gompi_unsupported_go
func gompi_unsupported_go(function uintptr, kind int32, object uintptr) int32 {
	return refused(abi.MPI_ERR_UNSUPPORTED_OPERATION, cString(function), "not implemented", kind, object)
}

//export gompi_refused_go
func gompi_refused_go(class int32, function, text uintptr, kind int32, object uintptr) int32 {
	return refused(class, cString(function), cString(text), kind, object)
}
