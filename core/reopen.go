//go:build gompi_reopen

package core

import (
	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Again closes the process' instance and opens another one with the same processes, for tests/go/again_test.go.
// Collective over the job. Errors: MPI_ERR_OTHER.
func Again(data DataPath) error {
	stateMu.Lock()
	defer stateMu.Unlock()
	p := self.Load()
	if p == nil {
		return mpierr.New(abi.MPI_ERR_OTHER, "MPI is not initialized")
	}
	if err := p.Close(func() {}); err != nil {
		return err
	}
	// Open frees the closed instance, but slower processes may still need it to leave the barrier of Close. So wait
	// for them first.
	b := *launcher.Load()
	if err := b.Fence(); err != nil {
		return err
	}
	_, err := Open(data, b)
	return err
}
