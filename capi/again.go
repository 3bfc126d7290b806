//go:build gompi_again

package main

import "C"

import (
	"os"

	"gompirma/core"
)

// gompi_again ends the process' instance, makes another one, and returns 0, or 1 and says why. Only in the library that
// tests/go/again_test.go builds: MPI has no call for it but sessions.
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
