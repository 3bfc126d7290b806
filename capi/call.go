package main

import (
	"fmt"
	"os"

	"gompirma/core/abi"
)

// refused reports a call that was refused on an object (kind is one of handle.Kind, 0 for none) and returns what the entry point hands on: the
// error class, or a negative token for gompi_raise.
func refused(class int32, function, text string, kind int32, object uintptr) int32 {
	fmt.Fprintf(os.Stderr, "gompirma: %s: %s: %s\n", function, abi.ErrorClassName(class), text)
	return class
}
