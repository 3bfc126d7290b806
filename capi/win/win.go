// Package win implements the window in C: the window descriptor that the calls of MPI-5.0 12 use, the data about each
// target, the memory attached to dynamic windows, and the epoch check.
//
// It must not know how data reaches a target.
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
	_ "gompirma/capi/session"
)

// The headers are embedded so that packages which import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
