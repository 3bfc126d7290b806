// Package plan is collectives as lists of steps, run in C.
package plan

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/coll"
	_ "gompirma/capi/message"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
