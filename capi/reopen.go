//go:build gompi_reopen

package main

import "C"

import (
	"os"

	"gompirma/core"
)

// gompi_reopen ends the process' instance and creates another one. It returns 0, or prints the error and returns 1.
// Only the library that tests/go/again_test.go builds contains it.
//
//export gompi_reopen
func gompi_reopen() int32 {
	if err := core.Again(dataPath{}); err != nil {
		os.Stderr.WriteString("gompi_reopen: " + err.Error() + "\n")
		return 1
	}
	copyStateToC()
	return 0
}
