// Package message implements messages between processes, in C: matching, the eager and rendezvous protocols, requests,
// and the MPI calls that use only messages. core/p2p uses it through capi/engine, to start operations and query them.
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
	_ "gompirma/capi/session"
	_ "gompirma/capi/win"
)

// The headers are embedded so that the packages that import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
