// Package tcp carries messages and memory between nodes by TCP, in C: a provider with libfabric's interface that
// connects any two processes of a job, over whichever of their hosts' networks it can.
//
// It must not know the meaning of what it carries.
package tcp

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
)

// The headers are embedded so that importing packages are compiled again when a header changes.
//
//go:embed *.h
var _ embed.FS
