// Package comm implements communicators in C: their descriptors for the data path, and the query calls.
package comm

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
	_ "gompirma/capi/group"
	_ "gompirma/capi/info"
	_ "gompirma/capi/session"
)

// The embedded headers are part of the package's contents, so that go build recompiles the importers when a header
// changes.
//
//go:embed *.h
var _ embed.FS
