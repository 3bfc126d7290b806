package main

import (
	"errors"
	"fmt"
	"os"

	"gompirma/cmd/internal/carriers"
	"gompirma/cmd/internal/preflight"
	"gompirma/core/boot"
)

// This file implements --preflight: gompirun itself is the program of the job, with one process on each host.

// preflightRank is the argument that makes a gompirun process a rank of --preflight.
const preflightRank = "--preflight-rank"

// setPreflight makes gompirun the part's program. The argument `rest` holds the command-line arguments after the
// options. It must be empty.
func (p *parser) setPreflight(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("--preflight takes no program, but %q is given", rest[0])
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if p.given || p.perHost > 0 {
		return errors.New("--preflight starts one process on each host: remove -n and -ppn")
	}
	p.part.argv = []string{self, preflightRank}
	p.perHost = 1
	return nil
}

// runPreflight runs a rank of --preflight. It returns the exit status.
func runPreflight() int {
	c, err := boot.Open()
	if err != nil {
		return refuse(fmt.Errorf("--preflight: %w", err))
	}
	found, err := carriers.Query()
	problem := ""
	if err != nil {
		problem = err.Error()
	} else if len(found.Addresses) == 0 {
		problem = found.Error
	}
	fine, err := preflight.Run(c, found.Addresses, problem, os.Stdout)
	if err == nil {
		err = c.Finalize()
	}
	switch {
	case err != nil:
		return refuse(fmt.Errorf("--preflight: %w", err))
	case !fine:
		return statusFailed
	}
	return 0
}
