// Package session implements, in C, the object of a session and the calls on it that need no other process (MPI-5.0
// 11.3). Go opens and closes sessions (capi/session.go).
//
// It must not know communicators or messages.
package session

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/errors"
	_ "gompirma/capi/group"
	_ "gompirma/capi/info"
)

// The embedded headers are part of the package's contents, so that go build recompiles the importers when a header
// changes.
//
//go:embed *.h
var _ embed.FS
