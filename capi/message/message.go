// Package message is messages between processes in C: matching, the eager and the rendezvous protocol, requests, and
// the calls of MPI that need nothing else. By capi/engine core/p2p starts operations and looks at them.
package message

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/comm"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/fabric"
	_ "gompirma/capi/info"
	_ "gompirma/capi/win"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
