// Package comm is communicators in C: what the data path knows of them, and the calls that only ask.
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
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
