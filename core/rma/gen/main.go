// Command gen writes capi/win/z_epoch.h from the epoch tables of core/rma: `go run ./core/rma/gen` at the repository's
// top.
package main

import (
	"fmt"
	"os"

	"gompirma/core/rma"
)

func main() {
	if err := os.WriteFile("capi/win/z_epoch.h", rma.EpochHeader(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
