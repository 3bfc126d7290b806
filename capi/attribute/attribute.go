// Package attribute is keyvals and what an application attaches to communicators, windows and datatypes alike, in C:
// attributes and names.
//
// It must not know those objects: each has a table of its own.
package attribute

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
