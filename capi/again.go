//go:build gompi_again

package main

import "C"

import (
	"os"

	"gompirma/core"
)

// gompi_again ends the process' instance and creates another one. It returns 0, or prints the error and returns 1. Only
// the library that tests/go/again_test.go builds contains it: of MPI's calls only sessions would need it.
//
//export gompi_again
func gompi_again() int32 {
	if err := core.Again(dataPath{}); err != nil {
		os.Stderr.WriteString("gompi_again: " + err.Error() + "\n")
		return 1
	}
	tellState()
	return 0
}
