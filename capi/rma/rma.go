// Package rma is the calls of MPI-5.0 12: put, get and the accumulates with their checks, and the synchronization.
package rma

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/group"
	_ "gompirma/capi/transport"
	_ "gompirma/capi/update"
	_ "gompirma/capi/win"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
