// Package rma implements the calls of MPI-5.0 12: put, get and the accumulates with their checks, and the
// synchronization.
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
	_ "gompirma/capi/message"
	_ "gompirma/capi/transport"
	_ "gompirma/capi/update"
	_ "gompirma/capi/win"
)

// The headers are embedded so that packages which import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
