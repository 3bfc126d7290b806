//go:build gompi_reopen

package main

/*
__attribute__((visibility("default"))) int MPIX_Again(void);
*/
import "C"

import (
	"os"

	"gompirma/core"
)

// MPIX_Again ends the process' instance and creates another one. It returns 0, or prints the error and returns 1. Only
// the library that tests/go/again_test.go builds contains it.
//
//export MPIX_Again
func MPIX_Again() int32 {
	if err := core.Again(dataPath{}); err != nil {
		os.Stderr.WriteString("MPIX_Again: " + err.Error() + "\n")
		return 1
	}
	copyStateToC()
	return 0
}
