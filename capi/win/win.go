// Package win is the window in C: the slot that the calls of MPI-5.0 12 work from, what is known of each target, memory
// attached to dynamic windows, and the gate for epochs.
//
// It must not know how data gets to a target.
package win

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/attribute"
	_ "gompirma/capi/base"
	_ "gompirma/capi/errors"
	_ "gompirma/capi/fabric"
	_ "gompirma/capi/group"
	_ "gompirma/capi/info"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
