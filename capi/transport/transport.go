// Package transport is how an operation reaches a target whose memory is not mapped here: messages through a ring to
// the progress thread of its process, which applies them, or process_vm_writev and readv; to other nodes, messages
// through the network and reads and writes of registered memory.
//
// It must not know the calls of MPI: what it gets has been checked.
package transport

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/fabric"
	_ "gompirma/capi/message"
	_ "gompirma/capi/update"
	_ "gompirma/capi/win"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
