// Package environment implements, in C, the calls on the environment of a process. They concern the state of MPI,
// versions and timers (MPI-5.0 9 and 11), and conversions of handles for other languages (19 and 20).
//
// It must not know communicators, windows or datatypes.
package environment

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
)

// The headers are embedded so that packages which import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
